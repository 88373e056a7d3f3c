"""Executes notebooks into a cache with jupyter-cache's own serial executor."""

from __future__ import annotations

import sys

from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor


def main(folder: str, notebooks: list[str]) -> int:
    """Execute all notebooks and return how many failed."""
    cache = get_cache(folder)
    for path in notebooks:
        cache.add_nb_to_project(path)
    result = load_executor("local-serial", cache).run_and_cache()
    return len(notebooks) - len(result.succeeded)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
