"""Where the files of a handbook are."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from capture.errors import CaptureError
from capture.host import host

CAPTURES = "docs/captures"


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return what a folder holds; nothing where it cannot be read."""
    with contextlib.suppress(OSError), os.scandir(folder) as scan:
        return list(scan)
    return []


def _is_no_folder(entry: os.DirEntry[str]) -> bool:
    """Tell whether an entry is a file, or a pipe or device in its place, which is told when it is read."""
    return entry.is_file() or (not entry.is_dir() and Path(entry.path).exists())


class Handbook:
    """Paths of one handbook; everything else is a function over it.

    `cached_for` is the root whose cache serves, where this one is a passing copy of it.
    """

    def __init__(self, root: Path, cached_for: Path | None = None) -> None:
        self.root = root
        self.cached_for = cached_for or root
        self.captures = root / CAPTURES  # holds one folder a host

    def snippet_paths(self) -> list[Path]:
        """Return every snippet file, sorted; helpers beside snippets have no header and are told by `imports`."""
        folder = self.root / "snippets"
        chapters = [item for item in _entries(folder) if not item.name.startswith(".") and item.is_dir()]
        names = [
            (chapter.name, item.name)
            for chapter in chapters
            for item in _entries(folder / chapter.name)
            if item.name.endswith(".py") and not item.name.startswith((".", "_")) and _is_no_folder(item)
        ]
        return [folder / chapter / name for chapter, name in sorted(names)]

    def record_path(self, label: str, snippet_id: str) -> Path:
        """Return where the record of a snippet on a host lies."""
        return self.captures.joinpath(label, f"{snippet_id}.yaml")

    def record_name(self, label: str, snippet_id: str) -> str:
        """Return that place as it is shown to people, without a Path, of which thousands take their time."""
        return f"{CAPTURES}/{label}/{snippet_id}.yaml"

    def host_path(self, label: str) -> Path:
        """Return where the facts of a host lie."""
        return self.captures / label / "host.yaml"

    def relative(self, path: Path) -> str:
        """Return a path as shown to people: relative to the root where it is inside."""
        with contextlib.suppress(ValueError):
            return path.relative_to(self.root).as_posix()
        return path.name

    def labels(self) -> list[str]:
        """Return the labels that have a folder, `local` last."""
        if not self.captures.is_dir():
            return []
        names = [path.name for path in self.captures.iterdir() if path.is_dir() and not path.name.startswith(".")]
        return sorted(names, key=lambda name: (name == host.LOCAL, name))


def find_root(start: Path) -> Handbook:
    """Return the nearest folder upward that holds `snippets/` and `mkdocs.yml`; raises CaptureError if none does."""
    for folder in (start, *start.parents):
        if (folder / "snippets").is_dir() and (folder / "mkdocs.yml").is_file():
            return Handbook(folder)
    raise CaptureError(
        f"no handbook here: neither {start.name or start}/ nor a folder above it holds snippets/ and mkdocs.yml; "
        "change into one or pass --root DIR"
    )


def record_ids(book: Handbook, label: str) -> list[str]:
    """Return the ids for which a host's folder holds a file."""
    folder = str(book.captures / label)
    return sorted(  # of thousands of files, hence without a Path for each
        f"{parent}{os.sep}{name}"[len(folder) + 1 : -len(".yaml")].replace(os.sep, "/")
        for parent, _, names in os.walk(folder)
        for name in names
        if name.endswith(".yaml") and name != "host.yaml" and not name.startswith(".")
    )
