"""The pipeline of the captured handbook: execute pinned snippets, keep what they print, show it with its host."""

__version__ = "0.1.0"
