"""The rule about merges: none is unfinished on a file of a host."""

from __future__ import annotations

from collections.abc import Collection

from capture import store
from capture.errors import Problem
from capture.host import host
from capture.store.catalogue import Catalogue


def check_merges(cat: Catalogue, marked: Collection[str]) -> list[Problem]:
    """Return a problem for each file of a host on which a merge is unfinished.

    `marked` are the paths of those that are left out, since the conflict markers in them are a problem already.
    """
    return [
        Problem(name, 0, _merge_advice(name), "conflict") for name in store.unmerged(cat.book) if name not in marked
    ]


def _merge_advice(name: str) -> str:
    """Say how the merge of a file that two branches changed is finished."""
    label, _, rest = name.removeprefix(f"{store.CAPTURES}/").partition("/")
    if rest == "host.yaml":
        again = f"write it again on that machine: capture host init {label}"
    else:
        again = f"capture it again: capture run {rest.removesuffix('.yaml')} --force{host.run_option(label)}"
    return (
        "two branches changed it and the merge is not finished; keep one side whole: "
        f"git checkout --ours {name} (or --theirs), then git add {name}; or {again}"
    )
