"""Whether a site is as the last build left it and all that it is made of is too: then there is nothing to build.

Files are told by size, times and inode, as git tells them; whatever else takes part is named here. Where something
takes part that this does not know, the site is built.
"""

from __future__ import annotations

import contextlib
import datetime
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capture import store
from capture.render import kept, pages, shown, site

# Of others nobody knows what they read.
PLUGINS = {"search", "material/search", "redirects"}
HOOKS = {"mkdocs_unchanged.py", "mkdocs_hooks.py", "mkdocs_speed.py"}
OBJECTS = ("theme", "plugins", "hooks", "exclude_docs", "draft_docs", "not_in_nav")  # told by the file alone
VARIABLES = ("CAPTURE_", "HANDBOOK_", "SOURCE_DATE_EPOCH")


@dataclass(frozen=True)
class Made:
    """What a site is made of: a key that stands for all of it, and whether any change to it must show in the key."""

    key: str
    settled: bool


def made(config: Any, folder: Path, now: datetime.datetime) -> Made | None:
    """Return what a site is made of at a moment (UTC), or None where that cannot be told.

    `config` is MkDocs' own; `folder` holds our hooks.
    """
    root = Path(config.config_file_path).resolve().parent
    names = {name.removeprefix("markdown.extensions.") for name in config.markdown_extensions}
    hooks = {(root / name).resolve() for name in config.hooks}
    strange = hooks - {folder.resolve() / name for name in HOOKS}
    if set(config.plugins) - set(config.hooks) - PLUGINS or names - pages.PURE or strange:
        return None
    with contextlib.suppress(TypeError, OSError):
        found = store.footprint_of(sources(root, config, folder))
        if found is None or "INHERIT" in Path(config.config_file_path).read_text("utf-8"):
            return None
        said = {name: value for name, value in os.environ.items() if name.startswith(VARIABLES)}
        said.pop(store.CACHE_VARIABLE, None)
        about = [settings(config), said, now.date(), store.revision_facts(store.Handbook(root))]
        theme = list(shown.templates(config.theme.dirs))
        parts = [store.tool(), *store.installed(), str(Path(config.site_dir).resolve()), found.digest]
        return Made(kept.digest(*parts, kept.canonical(about), kept.canonical(theme)), found.settled(now.timestamp()))
    return None


def settings(config: Any) -> list[Any]:
    """Return all settings as plain data, whether they come from the file, the environment or the command line."""
    values = {name: value for name, value in config.items() if name not in OBJECTS}
    plugins = {name: dict(getattr(plugin, "config", {})) for name, plugin in config.plugins.items()}
    return [values, plugins, {**dict(config.theme), "locale": str(config.theme.locale)}]


def sources(root: Path, config: Any, folder: Path) -> list[Path]:
    """Return the files and folders that a site is made of; of the root's own files all, since hooks read some."""
    own = [path for path in sorted(root.iterdir()) if path.is_file()]
    chosen = site.settings({"extra": config.extra}).verification
    verified = [root / chosen] if chosen else []
    custom = [Path(config.theme.custom_dir)] if config.theme.custom_dir else []
    return [*own, Path(config.docs_dir), root / "snippets", folder, *custom, *verified]


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
