"""Who else takes part in a build: plugins and hooks of which nobody knows what they read or do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PLUGINS = {"search", "material/search", "redirects"}
HOOKS = {"mkdocs_unchanged.py", "mkdocs_hooks.py", "mkdocs_speed.py"}


def is_known(config: Any, folder: Path) -> bool:
    """Tell whether all plugins and hooks are known ones; `config` is MkDocs' own, `folder` holds our hooks."""
    root = Path(config.config_file_path).resolve().parent
    hooks = {(root / name).resolve() for name in config.hooks}
    return set(config.plugins) - set(config.hooks) <= PLUGINS and hooks <= {folder.resolve() / name for name in HOOKS}
