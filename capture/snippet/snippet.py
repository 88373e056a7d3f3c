"""A snippet: a script that runs alone, and what its header says about capturing it."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.requirements import Requirement

from capture import version_numbers
from capture.snippet import claim_syntax
from capture.snippet.pattern import Pattern

GATES = ("cuda", "rocm", "mps", "xpu", "xla", "compile", "gloo", "two_cpus")
PRELOADS = ("dynamo", "inductor", "profiler")
MASKS = ("address", "id")
SNIPPET_ID = re.compile(r"[a-z0-9_]+/[a-z0-9_]+")
MODULE_GATE = re.compile(r"module:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class Claim:
    """One sentence about the values, where it is claimed, and the line of the header that makes it."""

    id: str
    says: str
    holds: claim_syntax.Expression
    where: claim_syntax.Expression | None


@dataclass(frozen=True)
class Compare:
    """How two captures of a snippet are compared; exact text where nothing is said.

    A value that stands under several of `ratio`, `relative` and `absolute` keeps to its policy if it keeps to one.
    """

    ratio: Mapping[str, float] = field(default_factory=dict)
    relative: Mapping[str, float] = field(default_factory=dict)
    absolute: Mapping[str, float] = field(default_factory=dict)
    spread: float = 1.25
    volatile: tuple[Pattern, ...] = ()

    @property
    def bounded(self) -> tuple[str, ...]:
        """The names of the values that may move within bounds."""
        return tuple({**self.relative, **self.ratio, **self.absolute})


@dataclass(frozen=True)
class Snippet:
    """A parsed snippet. `source` is the text above the header, with LF line ends."""

    id: str
    path: str
    source: str
    header_line: int
    digest: str
    title: str
    requires_python: str
    dependencies: tuple[str, ...]
    needs: tuple[str, ...]
    timing: bool
    timeout: float
    exit: int
    files: tuple[str, ...]
    imports: tuple[str, ...]
    env: Mapping[str, str]
    seed: int | None
    mask: tuple[str, ...]
    share_compiled: bool
    preload: tuple[str, ...]
    upstream: tuple[str, ...]
    values: Mapping[str, Pattern]
    compare: Compare
    claims: tuple[Claim, ...]
    lines: Mapping[str, int]

    @property
    def runs_with(self) -> dict[str, Any]:
        """The options that change what runs, or what is kept of it, as the digest covers them."""
        return run_options(self.dependencies, self.exit, self.env, self.seed, self.mask)

    @property
    def packages(self) -> tuple[str, ...]:
        """Distribution names of the declared dependencies."""
        return tuple(distribution(pin) for pin in self.dependencies)

    @property
    def modules(self) -> tuple[str, ...]:
        """Module names of its `module:` gates."""
        return tuple(gate.lstrip("!").removeprefix("module:") for gate in self.needs if "module:" in gate)

    def place(self, *keys: str) -> int:
        """Return the line of the nearest header key that was found, else the line of the block."""
        for end in range(len(keys), 0, -1):
            line = self.lines.get(".".join(keys[:end]))
            if line:
                return line
        return self.header_line


def run_options(
    dependencies: Iterable[str], exit_code: int, env: Mapping[str, str], seed: int | None, mask: Iterable[str]
) -> dict[str, Any]:
    """Return the options that a digest covers beside the source; one that is younger than records only where it is set.

    Title, claims, values and compare rules take no part.
    """
    younger = {"seed": seed, "mask": sorted(mask) or None}
    return {
        "dependencies": sorted(dependencies),
        "exit": exit_code,
        "env": dict(env),
        **{name: value for name, value in younger.items() if value is not None},
    }


def why_shadowing(name: str, dependencies: Iterable[str]) -> str:
    """Say that a script of this name would be imported in place of a standard module or a dependency, or nothing."""
    if name in sys.stdlib_module_names or name in {distribution(pin).replace("-", "_") for pin in dependencies}:
        return f'"{name}.py" is the name of a module, which Python would then import from here; rename it'
    return ""


@functools.lru_cache(maxsize=1024)  # most snippets declare the same few
def parse_pin(text: str) -> Requirement | None:
    """Return a dependency such as `torch>=2.2`; None for what is none, and for one with extras, marker or address."""
    try:
        pin = Requirement(text)
    except (ValueError, RecursionError):
        return None
    plain = not (pin.extras or pin.marker or pin.url)
    return pin if plain and (not pin.specifier or version_numbers.is_range(str(pin.specifier))) else None


def distribution(text: str) -> str:
    """Return the distribution name of a dependency such as `torch>=2.2`."""
    pin = parse_pin(text)
    return pin.name.lower() if pin else text


def unmet_dependencies(snippet: Snippet, installed: Mapping[str, str | None]) -> tuple[str, ...]:
    """Name the declared dependencies that the installed versions do not satisfy."""
    unmet = []
    for pin in snippet.dependencies:
        parsed = parse_pin(pin)
        assert parsed, "checked when the header was read"
        version = installed.get(parsed.name.lower())
        if version is None:
            unmet.append(f"{pin} is not installed")
        elif parsed.specifier and not version_numbers.satisfies(version, str(parsed.specifier)):
            unmet.append(f"{pin}, found {version}")
    return tuple(unmet)


def unmet_gates(snippet: Snippet, gates: Mapping[str, bool]) -> tuple[str, ...]:
    """Name the gates of the snippet that do not hold; `cuda` excludes ROCm, `!cuda` needs its absence."""
    return tuple(gate for gate in snippet.needs if gates.get(gate.lstrip("!"), False) == gate.startswith("!"))
