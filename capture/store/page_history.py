"""When each page was last changed, as far as the repository's history tells; what it cannot tell is left out."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from capture.errors import CaptureError
from capture.store.git_revision import git, git_paths, text
from capture.store.paths import Handbook

_MARK = "\x01"


def page_days(book: Handbook) -> Mapping[str, str]:
    """Return the day (UTC) of the last commit that changed each page, by its path from the handbook's root.

    Nothing without git or history. A shallow clone shows every older file as if its oldest commit had written it: what
    was last changed there, or before, is left out, and so is a page that differs from what is committed.
    """
    try:
        (cut,) = git_paths(book, "shallow")
        oldest = set(cut.read_text("ascii").split()) if cut.is_file() else set()
        form = f"--format={_MARK}%H %ct"
        log = git(book.root, "log", form, "--name-only", "--no-renames", "--relative", "HEAD", "--", "docs")
        edited = text(book.root, "diff", "--name-only", "--relative", "HEAD", "--", "docs").splitlines()
    except (CaptureError, OSError, ValueError):
        return {}
    days: dict[str, str] = {}
    known, date = False, ""
    for line in log.decode("utf-8", "replace").splitlines():
        if line.startswith(_MARK):
            commit, _, seconds = line[1:].partition(" ")
            known = commit not in oldest
            date = datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).date().isoformat()
        elif line.endswith(".md"):
            days[line] = max(days.get(line, ""), date) if known else days.get(line, "")
    return {path: date for path, date in days.items() if date and path not in edited}
