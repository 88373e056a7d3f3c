"""The command line; the one layer that prints and exits."""

from capture.cli.app import main

__all__ = ["main"]
