"""What a check found; apart from the rules, which take longer to import."""

from __future__ import annotations

from dataclasses import dataclass

from capture.errors import Problem
from capture.record.privacy import PRIVACY_RULES


@dataclass(frozen=True)
class Findings:
    """What the rules found: `problems`, which fail the check, and `notes`, which only inform."""

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]

    @property
    def private(self) -> bool:
        """Whether something personal or secret was found."""
        return any(problem.rule in PRIVACY_RULES for problem in self.problems)
