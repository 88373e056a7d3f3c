"""The handbook as a git revision holds it, written out so that it can be read like any other."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from capture.errors import CaptureError, Problem, suggestion
from capture.store.paths import CAPTURES, Handbook
from capture.store.records import SIZE_LIMIT

FILES = ("100644", "100755", "100664")  # modes of regular files, the last as early versions of git wrote it
_OTHERS = {"120000": "a link", "160000": "a submodule"}
# English, no lock taken only to look, and a path is a path, whatever characters it has.
_SETTINGS = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1"}
_WANTED = ("snippets", CAPTURES, "mkdocs.yml", "docs/schema")


@dataclass(frozen=True)
class _Listed:
    """A file in a revision: its mode, its object, its size, and its path in the handbook."""

    mode: str
    identity: str
    size: int
    path: str

    @property
    def problem(self) -> Problem | None:
        """Why it is not read, if it is not."""
        if self.mode not in FILES:
            what = _OTHERS.get(self.mode, "no regular file")
            return Problem(self.path, 0, f"is {what}; commit the file itself", "unreadable")
        if self.size > SIZE_LIMIT:
            return Problem(self.path, 0, f"larger than {SIZE_LIMIT // 2**20} MiB; no record is", "size")
        if any(part in ("", ".", "..") or "\\" in part or ":" in part for part in self.path.split("/")):
            return Problem(self.path, 0, "has a name that is no file's on every system; rename it", "path")
        return None


def git(root: Path, *arguments: str, data: bytes = b"") -> bytes:
    """Return what git prints; raises CaptureError with its first complaint where it fails."""
    command = ["git", "-c", "core.quotepath=off", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False, env=os.environ | _SETTINGS)
    except OSError as error:
        raise CaptureError("git is not installed; it is what knows the other revision") from error
    if done.returncode:
        raise CaptureError(f"git {arguments[0]}: {_complaint(done.stderr.decode('utf-8', 'replace'))}")
    return done.stdout


def _complaint(said: str) -> str:
    """Return why git failed, out of all it said, and what to do where that can be known."""
    lines = said.strip().splitlines() or ["no reason given"]
    first = next((line for line in lines if line.startswith(("fatal: ", "error: "))), lines[-1])
    words = first.partition(": ")[2] if first.startswith(("fatal: ", "error: ")) else first
    if "not a git repository" in words:
        return "not a git repository; what is compared comes from git: work in a clone of the handbook"
    if "dubious ownership" in words:
        return f"{words}; if it is yours: git config --global --add safe.directory FOLDER"
    if "index.lock" in words:
        return "another git command works here; let it end, then do the same again (if there is none: .git/index.lock)"
    return words


def text(root: Path, *arguments: str) -> str:
    """Return what git prints, as a line of text."""
    return os.fsdecode(git(root, *arguments)).removesuffix("\n")


def git_paths(book: Handbook, *names: str) -> list[Path]:
    """Return where git keeps files of its own, such as its index; raises CaptureError where there is no repository."""
    asked = [part for name in names for part in ("--git-path", name)]
    return [Path(book.root, line) for line in text(book.root, "rev-parse", *asked).splitlines()]


def prefix_of(book: Handbook) -> str:
    """Return the path of the handbook in its repository, with a slash at its end, or nothing where it is all of it."""
    return text(book.root, "rev-parse", "--show-prefix")


def resolve(book: Handbook, name: str) -> str:
    """Return the full commit of a revision; raises CaptureError naming the nearest branch or tag."""
    text(book.root, "rev-parse", "--git-dir")  # where this fails, git says why
    try:
        return text(book.root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    except CaptureError as error:
        if name == "HEAD":
            raise CaptureError("nothing is committed yet, so there is nothing to compare with; commit once") from error
        known = text(book.root, "for-each-ref", "--format=%(refname:short)").split()
        raise CaptureError(f'no revision "{name}"{suggestion(name, known)}{_shallow(book)}') from error


def _shallow(book: Handbook) -> str:
    """Say what to do where this clone has only a part of the history, or nothing."""
    is_shallow = text(book.root, "rev-parse", "--is-shallow-repository") == "true"
    return "; this clone is shallow, get the rest with: git fetch --unshallow" if is_shallow else ""


def merge_base(book: Handbook, one: str, other: str) -> str:
    """Return the commit from which two revisions parted; raises CaptureError where there is none."""
    both = resolve(book, one), resolve(book, other)
    try:
        return text(book.root, "merge-base", *both)
    except CaptureError as error:
        raise CaptureError(f'"{one}" and "{other}" have no commit in common{_shallow(book)}') from error


def write_out(book: Handbook, revision: str, folder: Path) -> tuple[Handbook, tuple[Problem, ...]]:
    """Write snippets, captures and mkdocs.yml of a revision into an empty folder and return it as a handbook.

    What is no regular file of a fair size is left out and named: what a link names lies outside, a submodule has no
    content here. Raises CaptureError where git or the revision is not there.
    """
    commit = resolve(book, revision)
    prefix = prefix_of(book)
    listed = git(
        book.root, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", *(prefix + name for name in _WANTED)
    )
    every = list(_entries(listed, prefix))
    readable = [entry for entry in every if entry.problem is None]
    batch = git(book.root, "cat-file", "--batch", data="".join(f"{entry.identity}\n" for entry in readable).encode())
    for entry, content in zip(readable, _blobs(batch), strict=True):
        path = folder / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "snippets").mkdir(exist_ok=True)
    return Handbook(folder, cached_for=book.root), tuple(entry.problem for entry in every if entry.problem)


def _entries(listed: bytes, prefix: str) -> Iterator[_Listed]:
    """Yield the files in what `git ls-tree -l -z` prints; `prefix` is the folder of the handbook."""
    for line in listed.split(b"\0"):
        if line:
            about, _, name = line.partition(b"\t")
            mode, _, identity, size = about.decode().split()
            yield _Listed(mode, identity, int(size) if size.isdigit() else 0, os.fsdecode(name).removeprefix(prefix))


def _blobs(printed: bytes) -> Iterator[bytes]:
    """Yield the contents in what `git cat-file --batch` prints; raises CaptureError for one that is not there."""
    start = 0
    while start < len(printed):
        end = printed.index(b"\n", start)
        identity, *about = printed[start:end].split()
        if len(about) != 2:
            raise CaptureError(f"git lacks the object {identity.decode()}; mend the repository: git fsck")
        size = int(about[1])
        yield printed[end + 1 : end + 1 + size]
        start = end + 1 + size + 1
