"""A result as a card."""
