"""Static rules over snippets, records and pages; executes no snippet."""

from capture.check.rules import Findings, check

__all__ = ["Findings", "check"]
