"""Measures and prints one table; times differ from machine to machine, the ratios are what counts."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import commands, engines, memory, peers, sites, table, unchanged

GROUPS: dict[str, Callable[[Path, int, Callable[[str], None]], list[table.Row]]] = {
    "engines": engines.compare,
    "peers": peers.compare,
    "unchanged": unchanged.compare,
    "memory": memory.compare,
    # The large ones, which run only where they are named.
    "commands": commands.compare,
    "sites": sites.compare,
}
LARGE = ("commands", "sites")
# They write tens of thousands of files; in memory no disk's own pace decides.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
DEFAULT = ("engines", "peers", "unchanged", "memory")


def tell(line: str) -> None:
    """Say on stderr what is going on."""
    print(f"  {line}", file=sys.stderr, flush=True)


def main() -> None:
    """Measure the groups that were named, the small ones by default."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--rounds", type=int, default=3, help="at least 3")
    asked = parser.parse_args()
    if unknown := [name for name in asked.groups if name not in GROUPS]:
        parser.error(f"no group {unknown[0]}; there are: {', '.join(GROUPS)}")
    rows: list[table.Row] = []
    for name in asked.groups or DEFAULT:
        tell(f"{name}:")
        with tempfile.TemporaryDirectory(prefix=f"benchmark-{name}-", dir=MEMORY if name in LARGE else None) as folder:
            rows += GROUPS[name](Path(folder).resolve(), max(3, asked.rounds), tell)
    print(table.text(rows))


if __name__ == "__main__":
    main()
