"""One result: its fields, its claims, its state, its agreement with another; what may be stored of text."""
