"""Lessons as notebooks."""
