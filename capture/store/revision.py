"""The handbook as a git revision holds it, written out so that it can be read like any other."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from capture.errors import CaptureError, suggestion
from capture.store.files import SIZE_LIMIT
from capture.store.handbook import CAPTURES, Handbook

FILES = ("100644", "100755")  # modes of regular files; a link or a submodule is none
# English, no lock taken only to look, and a path is a path, whatever characters it has.
SETTINGS = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1"}


def git(root: Path, *arguments: str, data: bytes = b"") -> bytes:
    """Return what git prints; raises CaptureError with its first complaint where it fails."""
    command = ["git", "-c", "core.quotepath=off", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False, env=os.environ | SETTINGS)
    except OSError as error:
        raise CaptureError("git is not installed; it is what knows the other revision") from error
    if done.returncode:
        raise CaptureError(f"git {arguments[0]}: {complaint(done.stderr.decode('utf-8', 'replace'))}")
    return done.stdout


def complaint(said: str) -> str:
    """Return why git failed, out of all it said, and what to do where that can be known."""
    lines = said.strip().splitlines() or ["no reason given"]
    first = next((line for line in lines if line.startswith(("fatal: ", "error: "))), lines[-1])
    words = first.partition(": ")[2] if first.startswith(("fatal: ", "error: ")) else first
    if "not a git repository" in words:
        return "not a git repository; what is compared comes from git: work in a clone of the handbook"
    if "index.lock" in words:
        return "another git command works here; let it end, then do the same again (if there is none: .git/index.lock)"
    return words


def prefix_of(book: Handbook) -> str:
    """Return the path of the handbook in its repository, with a slash at its end, or nothing where it is all of it."""
    return os.fsdecode(git(book.root, "rev-parse", "--show-prefix")).rstrip("\n")


def resolve(book: Handbook, name: str) -> str:
    """Return the full commit of a revision; raises CaptureError naming the nearest branch or tag."""
    try:
        return git(book.root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}").decode().strip()
    except CaptureError as error:
        if "rev-parse" not in str(error) or "not a git repository" in str(error):
            raise
        if name == "HEAD":
            raise CaptureError("nothing is committed yet, so there is nothing to compare with; commit once") from error
        known = git(book.root, "for-each-ref", "--format=%(refname:short)").decode("utf-8", "replace").split()
        raise CaptureError(f'no revision "{name}"{suggestion(name, known)}') from error


def merge_base(book: Handbook, one: str, other: str) -> str:
    """Return the commit from which two revisions parted."""
    return git(book.root, "merge-base", resolve(book, one), resolve(book, other)).decode().strip()


def write_out(book: Handbook, revision: str, folder: Path) -> Handbook:
    """Write snippets, captures and mkdocs.yml of a revision into an empty folder and return it as a handbook.

    Links are left out: what they name lies outside. Raises CaptureError where git or the revision is not there.
    """
    commit = resolve(book, revision)
    prefix = prefix_of(book)
    wanted = [f"{prefix}{name}" for name in ("snippets", CAPTURES, "mkdocs.yml", "docs/schema")]
    listed = git(book.root, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", *wanted)
    found = [
        (name.removeprefix(prefix), identity)
        for mode, identity, size, name in entries(listed)
        if mode in FILES and size <= SIZE_LIMIT and inside(name)
    ]
    texts = blobs(git(book.root, "cat-file", "--batch", data="".join(f"{item}\n" for _, item in found).encode()))
    for (name, _), text in zip(found, texts, strict=True):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    (folder / "snippets").mkdir(exist_ok=True)
    return Handbook(folder)


def entries(listed: bytes) -> Iterator[tuple[str, str, int, str]]:
    """Yield mode, object, size and path of each file in what `git ls-tree -l -z` prints."""
    for line in listed.split(b"\0"):
        if line:
            about, _, name = line.partition(b"\t")
            mode, _, identity, size = about.decode().split()
            yield mode, identity, int(size) if size.isdigit() else 0, os.fsdecode(name)


def inside(name: str) -> bool:
    """Tell whether a path stays in its folder, on every system."""
    return not any(part in ("", ".", "..") or "\\" in part or ":" in part for part in name.split("/"))


def blobs(printed: bytes) -> Iterator[bytes]:
    """Yield the contents in what `git cat-file --batch` prints."""
    start = 0
    while start < len(printed):
        end = printed.index(b"\n", start)
        size = int(printed[start:end].split()[2])
        yield printed[end + 1 : end + 1 + size]
        start = end + 1 + size + 1
