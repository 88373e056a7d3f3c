"""A script, and what its header says about capturing it; the language of claims included."""
