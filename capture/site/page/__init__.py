"""What a page has beside its text."""
