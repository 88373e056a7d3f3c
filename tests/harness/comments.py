"""A pull request from a fork whose run has ended, the commenting script, and a fake `gh` for it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from harness.workflows import GitHub, script

SCRIPT = script("captures-comment.yml", "Comment")
MARKER = "<!-- what capture found in this pull request -->\n"
SHA = "a1b2c3d4e5" * 4
FORK = {"full_name": "maria/book", "owner": {"login": "maria"}, "id": 7}
RUN: dict[str, Any] = {
    "id": 42, "event": "pull_request", "path": ".github/workflows/captures.yml", "conclusion": "success",
    "head_sha": SHA, "head_branch": "add-h200", "head_repository": FORK, "pull_requests": [],
}  # fmt: skip
DIFF = "**2 captures to read**\n\n| class | captures | what |\n| --- | ---: | --- |\n| text changed | 2 | torch |\n"
FORBIDDEN = "gh: Resource not accessible by integration (HTTP 403)"


def pull(
    number: int = 5, sha: str = SHA, ref: str = "add-h200", repo: str | None = "maria/book", base: str = "hub/book"
) -> dict[str, Any]:
    """Return a pull request as the API lists it."""
    return {
        "number": number, "base": {"repo": {"full_name": base}},
        "head": {"sha": sha, "ref": ref, "repo": {"full_name": repo} if repo else None},
    }  # fmt: skip


def zipped(**files: str | bytes) -> bytes:
    """Return an artifact as GitHub sends it; `diff_md` is the file `diff.md`."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return held.getvalue()


def fresh_hub(folder: Path) -> GitHub:
    """Return a repository with one pull request from a fork, without comments, whose run left two artifacts."""
    found = GitHub(folder)
    found.answer("GET repos/hub/book/pulls$", [pull()])
    found.answer("GET repos/hub/book/pulls/5/files", [["docs/captures/h200/host.yaml", ""]])
    found.answer("GET repos/hub/book/issues/5/comments", [])
    found.answer(
        "GET .*/runs/42/artifacts", {"artifacts": [artifact(1, "captures-judged"), artifact(2, "captures-verified")]}
    )
    found.answer("GET .*/artifacts/1/zip", file=zipped(diff_md=DIFF))
    found.answer("GET .*/artifacts/2/zip", file=zipped(verify_md="**Executed again by CI: 20 reproduced**\n"))
    found.answer("(POST|PATCH) ", {})
    return found


def artifact(number: int, name: str, size: int = 1000, expired: bool = False) -> dict[str, Any]:
    """Return an artifact as the API lists it."""
    return {"id": number, "name": name, "size_in_bytes": size, "expired": expired}


def commented(hub: GitHub, **changes: object) -> str:
    """Run the script, which must write one comment, and return it."""
    done = hub.run(SCRIPT, {"workflow_run": RUN | changes})
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout == "::notice::the comment on pull request 5 is up to date\n"
    ((_, _, body),) = hub.written
    assert body.startswith(MARKER)
    assert len(body.encode("utf-16-le")) // 2 < 65_000
    return body
