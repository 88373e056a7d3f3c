"""The script that comments on a pull request, taken out of its workflow and run against a fake `gh`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from harness.comments import DIFF, FORBIDDEN, MARKER, RUN, SCRIPT, artifact, commented, fresh_hub, pull, zipped
from harness.properties import rows
from harness.workflows import GitHub


@pytest.fixture
def hub(tmp_path: Path) -> GitHub:
    """A repository with one pull request, without comments, whose run left two artifacts."""
    return fresh_hub(tmp_path)


def test_the_first_comment(hub: GitHub) -> None:
    """The verdict and the commit from the event, then what the run left; the tables stay tables."""
    body = commented(hub)
    assert [(method, at) for method, at, _ in hub.written] == [("POST", "repos/hub/book/issues/5/comments")]
    assert "Of a1b2c3d4e5: nothing stands in the way ([run](https://github.com/hub/book/actions/runs/42))" in body
    assert DIFF in body and "20 reproduced" in body and "WARNING" not in body
    assert (hub.folder / "summary.md").read_text("utf-8") == body
    asked = next(arguments for method, at, arguments, _ in hub.calls if at.endswith("/pulls"))
    assert "head=maria:add-h200" in asked


def test_a_failed_run_says_so(hub: GitHub) -> None:
    """The verdict is that of the run, whatever the artifact claims."""
    hub.answer(
        "GET .*/artifacts/1/zip", file=zipped(diff_md="nothing stands in the way\n", check_txt="x.yaml: edited\n")
    )
    body = commented(hub, conclusion="failure")
    assert "Of a1b2c3d4e5: **failed**" in body
    assert "`capture check` says:\n\n```text\nx.yaml: edited\n```\n" in body


def test_the_comment_is_updated(hub: GitHub) -> None:
    """The one comment of this workflow; neither one of a person who wrote the same marker nor one of another tool."""
    hub.answer(
        "GET repos/hub/book/issues/5/comments",
        [[1, "maria", MARKER], [2, "github-actions[bot]", "coverage"], [3, "github-actions[bot]", f"{MARKER}### old"],
         [4, "github-actions[bot]", f"> {MARKER}"]],
    )  # fmt: skip
    commented(hub)
    assert [(method, at) for method, at, _ in hub.written] == [("PATCH", "repos/hub/book/issues/comments/3")]


@pytest.mark.parametrize("pattern", ["(POST|PATCH) ", "GET repos/hub/book/issues"])
def test_a_token_that_may_not_write(hub: GitHub, pattern: str) -> None:
    """Nothing fails; the report stays in the summary, and the log says where."""
    hub.answer(pattern, error=FORBIDDEN)
    done = hub.run(SCRIPT, {"workflow_run": RUN})
    assert done.returncode == 0
    assert done.stdout == (
        "::notice::this token may not comment here; the report is in the summary of this run and of the other\n"
    )
    assert DIFF in (hub.folder / "summary.md").read_text("utf-8")


@pytest.mark.parametrize("pattern", ["POST ", "GET repos/hub/book/pulls$", "GET repos/hub/book/pulls/5/files"])
def test_another_answer_of_the_api_is_an_error(hub: GitHub, pattern: str) -> None:
    """Told without a traceback, and without repeating what was answered."""
    hub.answer(pattern, error="gh: ::error::Server Error (HTTP 502)")
    done = hub.run(SCRIPT, {"workflow_run": RUN})
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == "::error::the API gave no answer to use (HTTP 502); run this job again\n"


OTHERS: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "a-newer-commit": ({}, [pull(sha="f" * 40)]),
    "another-branch": ({}, [pull(ref="main")]),
    "another-fork": ({}, [pull(repo="mario/book")]),
    "a-fork-that-is-gone": ({"head_repository": None}, [pull(repo=None)]),
    "into-another-repository": ({}, [pull(base="maria/book")]),
    "no-open-one": ({}, []),
    "two-of-one-branch": ({}, [pull(5), pull(6)]),
    "a-push": ({"event": "push"}, [pull()]),
    "another-workflow": ({"path": ".github/workflows/mine.yml"}, [pull()]),
    "cancelled": ({"conclusion": "cancelled"}, [pull()]),
    "waits-for-approval": ({"conclusion": "action_required"}, [pull()]),
}


@pytest.mark.parametrize(("changes", "pulls"), rows(OTHERS))
def test_no_comment_where_the_pull_request_is_not_certain(
    hub: GitHub, changes: dict[str, Any], pulls: list[dict[str, Any]]
) -> None:
    """Head repository, branch and commit must all be those of one open pull request; nothing is guessed."""
    hub.answer("GET repos/hub/book/pulls$", pulls)
    done = hub.run(SCRIPT, {"workflow_run": RUN | changes})
    assert (done.returncode, done.stderr, hub.written) == (0, "", [])
    assert done.stdout.startswith("::notice::")


def test_a_number_in_the_artifact_is_not_read(hub: GitHub) -> None:
    """Whatever the other run left beside its reports."""
    hub.answer("GET .*/artifacts/1/zip", file=zipped(diff_md=DIFF, number="6", **{"../pr": "6"}))
    commented(hub)
    assert [at for _, at, _ in hub.written] == ["repos/hub/book/issues/5/comments"]


def test_who_changes_the_judge_is_named_first(hub: GitHub) -> None:
    """Files of CI and of the tool, also where one was moved away; a name cannot break out of its place."""
    odd = "capture/`@maria`\n\n# done <img src=x>.py"
    names = [["snippets/a.py", ""], ["x/rules.py", "capture/check/rules.py"], [".github/workflows/captures.yml", ""]]
    names += [["mkdocs.yml", ""], ["overrides/main.html", ""]]
    hub.answer("GET repos/hub/book/pulls/5/files", [*names, [odd, ""]])
    body = commented(hub)
    assert body.index("This pull request changes what judges it") < body.index("captures to read")
    warned = next(line for line in body.split("\n") if "what judges it" in line)
    assert "`.github/workflows/captures.yml`" in warned and "`capture/check/rules.py`" in warned
    assert "`mkdocs.yml`" in warned and "`overrides/main.html`" in warned
    assert "a.py" not in warned.replace("x>.py", "")
    assert "@maria" not in body and "<img" not in body and "\n# done" not in body


BAD: dict[str, tuple[list[dict[str, Any]], bytes, str]] = {
    "missing": ([], b"", "is missing"),
    "expired": ([artifact(1, "captures-judged", expired=True)], b"", "is missing"),
    "oversized": ([artifact(1, "captures-judged", size=10**9)], b"", "is larger than 4096 KiB"),
    "larger-than-it-says": ([artifact(1, "captures-judged")], b"x" * 5 * 2**20, "is larger than 4096 KiB"),
    "a-bomb": ([artifact(1, "captures-judged")], zipped(diff_md="x" * 50_000_000), "is larger than 512 KiB"),
    "not-utf-8": ([artifact(1, "captures-judged")], zipped(diff_md=b"\xff\xfe*"), "is not UTF-8"),
    "no-archive": ([artifact(1, "captures-judged")], b"<html>", "is no archive that can be read"),
    "damaged": ([artifact(1, "captures-judged")], zipped(diff_md=DIFF * 99)[:-200], "is no archive that can be read"),
    "bits-flipped": ([artifact(1, "captures-judged")], zipped(diff_md=DIFF).replace(b"\x05", b"\x07"), "is no archive"),
    "empty": ([artifact(1, "captures-judged")], zipped(), "is missing"),
}


@pytest.mark.parametrize(("known", "data", "said"), rows(BAD))
def test_an_artifact_that_cannot_be_shown(hub: GitHub, known: list[dict[str, Any]], data: bytes, said: str) -> None:
    """The comment says why, and everything else stands in it."""
    hub.answer("GET .*/runs/42/artifacts", {"artifacts": [*known, artifact(2, "captures-verified")]})
    hub.answer("GET .*/artifacts/1/zip", file=data)
    body = commented(hub, conclusion="failure")
    assert f"The report of the comparison {said}" in body and "20 reproduced" in body


def test_a_long_report_is_cut(hub: GitHub) -> None:
    """Within what a comment holds, with a count; the shorter report behind it is still there."""
    hub.answer(
        "GET .*/artifacts/1/zip", file=zipped(diff_md="| row | @maria | 🙂 |\n" * 9_000, check_txt="x\n" * 90_000)
    )
    body = commented(hub)
    assert len(body.encode("utf-16-le")) // 2 > 45_000
    assert re.search(r"\(\d,\d{3} more lines in the run\)", body) and "20 reproduced" in body
