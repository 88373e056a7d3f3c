"""Whether a site is as the last build left it and all that it is made of is too: then there is nothing to build.

Files are told by size, times and inode, as git tells them; whatever else takes part is named here. Where something
takes part that this does not know, the site is built.
"""

from __future__ import annotations

import contextlib
import datetime
import os
from pathlib import Path
from typing import Any

from capture import store
from capture.site import company, kept, shown
from capture.site.markdown import page_check
from capture.site.model import site

OBJECTS = ("theme", "plugins", "hooks")
PATTERNS = ("exclude_docs", "draft_docs", "not_in_nav")
VARIABLES = ("CAPTURE_", "HANDBOOK_", "SOURCE_DATE_EPOCH")
NO_PART = (store.CACHE_VARIABLE, "CAPTURE_ONE_PROCESS")  # these decide how a site is built, and not what is in it


def made(config: Any, folder: Path, now: datetime.datetime) -> store.Inputs | None:
    """Return what a site is made of at a moment (UTC), or None where that cannot be told.

    `config` is MkDocs' own; `folder` holds our hooks.
    """
    root = Path(config.config_file_path).resolve().parent
    known = company.is_known(config, folder) and page_check.are_pure(config.markdown_extensions)
    if not known or shown.is_dated(config.theme.custom_dir):
        return None
    with contextlib.suppress(TypeError, OSError):
        said = {name: value for name, value in os.environ.items() if name.startswith(VARIABLES) and name not in NO_PART}
        days, theme = store.page_days(store.Handbook(root)), list(shown.templates(config.theme.dirs))
        about = [str(Path(config.site_dir).resolve()), settings(config), said, now.date(), days, theme]
        return store.inputs_of(root, sources(root, config, folder), kept.canonical(about), now.timestamp())
    return None


def settings(config: Any) -> list[Any]:
    """Return all settings as plain data, whether they come from a file, the environment or the command line."""
    values = {name: value for name, value in config.items() if name not in (*OBJECTS, *PATTERNS)}
    found = {name: getattr(config[name], "patterns", ()) for name in PATTERNS}
    patterns = {name: [[one.include, one.regex.pattern] for one in some if one.regex] for name, some in found.items()}
    return [values, patterns, *shown.surroundings(config), sorted(config.theme.static_templates)]


def sources(root: Path, config: Any, folder: Path) -> list[Path]:
    """Return the files and folders that a site is made of, beside the files in the root, of which hooks read some."""
    chosen = site.settings({"extra": config.extra}).verification
    verified = [root / chosen] if chosen else []
    custom = [Path(config.theme.custom_dir)] if config.theme.custom_dir else []
    docs = [Path(config.docs_dir), store.Handbook(root).captures, root / "snippets"]
    return [*docs, *sorted(folder.glob("*.py")), *custom, *verified]


def is_built(root: Path, key: str, site_dir: Path) -> bool:
    """Tell whether the last build from all this left the site that lies there."""
    with store.Cache(root, "built") as cache:
        there = store.footprint_of([site_dir])
        return there is not None and cache.get(key) == there.digest


def remember(root: Path, key: str, site_dir: Path) -> None:
    """Remember that the site which lies there was built from all this."""
    with store.Cache(root, "built", spare=1) as cache:
        if there := store.footprint_of([site_dir]):
            cache.put(key, there.digest)
