"""What a page shows, before it is HTML."""
