"""The rule about merges: none is open on a file of a host."""

from __future__ import annotations

from collections.abc import Collection

from capture import store
from capture.errors import Problem
from capture.host import host
from capture.store.catalogue import Catalogue


def check_merges(cat: Catalogue, marked: Collection[str]) -> list[Problem]:
    """No merge is open on a file of a host; `marked` are those in which conflict markers tell it already."""
    return [Problem(name, 0, message(name), "conflict") for name in store.unmerged(cat.book) if name not in marked]


def message(name: str) -> str:
    """Say how a file that two branches changed becomes whole again."""
    label, _, rest = name.removeprefix(f"{store.CAPTURES}/").partition("/")
    if rest == "host.yaml":
        again = f"write it again on that machine: capture host init {label}"
    else:
        again = f"capture it again: capture run {rest.removesuffix('.yaml')} --force{host.run_option(label)}"
    return (
        "two branches changed it and the merge is not finished; keep one side whole: "
        f"git checkout --ours {name} (or --theirs), then git add {name}; or {again}"
    )
