"""Captured values as pictures."""
