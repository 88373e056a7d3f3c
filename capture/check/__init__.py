"""Static rules over snippets, records and pages; executes no snippet."""

from capture.check.rules import PRIVACY_RULES, Findings, check

__all__ = ["PRIVACY_RULES", "Findings", "check"]
