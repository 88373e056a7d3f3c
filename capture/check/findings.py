"""What a check found, apart from the rules: who only shows it need not wait for them."""

from __future__ import annotations

from dataclasses import dataclass

from capture.errors import Problem
from capture.record.privacy import PRIVACY_RULES


@dataclass(frozen=True)
class Findings:
    """`problems` fail the check; `notes` are things that may be so."""

    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]

    @property
    def private(self) -> bool:
        """Tell whether something personal or secret was found."""
        return any(problem.rule in PRIVACY_RULES for problem in self.problems)
