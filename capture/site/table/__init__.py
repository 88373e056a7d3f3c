"""Tables over all records."""
