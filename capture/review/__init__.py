"""What differs between two states, and what is decided about it."""
