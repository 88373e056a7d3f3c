"""Records as HTML: the card of a result, captured values in prose, and the check of pages."""
