"""The workflows: what may write, what is executed where, and what decides that a pull request fails."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from harness.checks import RECORD, clean_handbook, edit
from harness.repositories import Repository, repository
from harness.workflows import NAMES, bash, executable, jobs, load, script, steps, text

WRITING = {
    ("publish.yml", "deploy"): {"pages", "id-token"},
    ("captures-comment.yml", "comment"): {"pull-requests"},
}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_may_write_that_need_not(name: str) -> None:
    """A workflow reads, unless a job says otherwise for the one thing that it writes; no secret is named anywhere."""
    assert set(load(name)["permissions"].values()) <= {"read"}
    for job, about in jobs(name).items():
        granted = about.get("permissions", {})
        assert {what for what, how in granted.items() if how != "read"} == WRITING.get((name, job), set())
        assert about["timeout-minutes"] <= 60
    assert "secrets." not in text(name) and "pull_request_target" not in text(name)


@pytest.mark.parametrize("name", NAMES)
def test_no_text_of_others_becomes_part_of_a_script(name: str) -> None:
    """Scripts take what they need from the environment or from files; an expression would be pasted into them."""
    assert [step["run"] for _, step in steps(name) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_pinned_and_keep_no_credentials(name: str) -> None:
    """A tag can be moved, a commit cannot; the comment says which version it is. No token stays in a checkout."""
    for _, step in steps(name):
        if "uses" in step:
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"])
            assert re.search(re.escape(step["uses"]) + r" # v\d+\.\d+\.\d+$", text(name), re.MULTILINE)
        if "actions/checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


def test_the_judging_workflow_has_nothing_to_steal() -> None:
    """It runs strangers' snippets: on `pull_request`, reading only, with no token in reach of a script."""
    workflow = load("captures.yml")
    assert list(workflow["on"]) == ["pull_request"]
    for about in jobs("captures.yml").values():
        assert about["permissions"] == {"contents": "read"}
    assert "github.token" not in text("captures.yml") and "GITHUB_TOKEN" not in text("captures.yml")


def test_the_judge_takes_nothing_from_what_snippets_may_have_written() -> None:
    """Snippets are executed by another job, and no cache leads from there into the judge."""
    for job, step in steps("captures.yml"):
        assert "cache" not in step.get("with", {})
        executing = re.search(r"capture\b.* (verify|run)\b", step.get("run", ""))
        assert not executing or job == "verify"


def test_the_commenting_workflow_touches_nothing_of_the_pull_request() -> None:
    """No checkout, no action at all: one script, which stands in the file, after the workflow that it names."""
    workflow = load("captures-comment.yml")
    assert workflow["on"] == {"workflow_run": {"workflows": [load("captures.yml")["name"]], "types": ["completed"]}}
    assert workflow["permissions"] == {}
    ((_, step),) = steps("captures-comment.yml")
    assert set(step) == {"name", "shell", "env", "run"} and list(step["env"]) == ["GH_TOKEN"]
    assert jobs("captures-comment.yml")["comment"]["if"] == "github.event.workflow_run.event == 'pull_request'"


# --- Which tool judges ---

VENV = """#!/bin/sh
mkdir -p "$3/bin"
cat > "$3/bin/pip" <<'PIP'
#!/bin/sh
for last; do :; done
folder=${last%%\\[*}
[ ! -e "$folder/broken" ] || exit 1
cp "$folder/tool" "$(dirname "$0")/capture"
PIP
chmod +x "$3/bin/pip"
"""
TOOL = '#!/bin/sh\n[ "$1" = diff ]\n'
OLD_TOOL = "#!/bin/sh\nexit 2\n"


@pytest.fixture
def change(tmp_path: Path) -> Repository:
    """A handbook with a tool of its own, as a workflow checks it out, and tools that install without a network."""
    executable(tmp_path / "bin" / "python3", VENV)
    made = repository(clean_handbook(tmp_path / "change"))
    executable(made.root / "tool", TOOL)
    made.write("capture/rules.py", "")
    made.commit("the base branch")
    made.git("branch", "request")
    return made


def merged(change: Repository, path: str) -> None:
    """Let the pull request change a file, and merge it into its base as GitHub does."""
    change.git("switch", "--quiet", "request")
    change.write(path, "changed\n")
    change.commit("a pull request")
    change.git("switch", "--quiet", "--detach", "main")
    change.git("merge", "--quiet", "--no-ff", "--no-edit", "request")


@pytest.mark.parametrize(
    ("damage", "path", "judge"),
    [
        ("", "docs/captures/h200/a/speed.yaml", "base"),
        ("", "snippets/a/speed.py", "base"),
        ("", ".github/workflows/captures.yml", "base"),
        ("", "capture/rules.py", "change"),
        ("", "constraints.txt", "change"),
        ("broken", "snippets/a/speed.py", "change"),
        ("tool", "snippets/a/speed.py", "change"),
    ],
)  # fmt: skip
def test_data_cannot_bring_its_own_judge(change: Repository, damage: str, path: str, judge: str) -> None:
    """The base branch's tool judges, unless the pull request changes the tool, or the base branch has none that can."""
    if damage:
        executable(change.root / damage, OLD_TOOL)
        change.commit("an older base branch")
        change.git("branch", "--force", "request")
    merged(change, path)
    if damage == "broken":
        change.git("rm", "--quiet", "broken")
        change.git("commit", "--quiet", "--amend", "--no-edit")
    folder = change.root.parent
    done = bash(
        script("captures.yml", "Install the tool that judges"), folder,
        {"PATH": f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = dict(line.split("=") for line in (folder / "GITHUB_ENV").read_text("utf-8").splitlines())
    assert told == {"BASE": change.git("rev-parse", "HEAD^1").strip(), "JUDGE": judge}
    assert (folder / "tools" / judge / "bin" / "capture").exists()


# --- What fails ---

FAKE = """#!/bin/sh
shift 2
case "$1 $3" in
  "check github") echo "::error file=x::hidden"; exit {check} ;;
  "check ") echo "a note"; echo "docs/x.yaml: ::warning::was edited" >&2; exit {check} ;;
  diff*) echo "**::add-mask::moved**"; exit {diff} ;;
esac
"""


@pytest.mark.parametrize(
    ("check", "diff", "fails"), [(0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 3, 1), (2, 1, 1), (3, 3, 1), (0, 127, 1)]
)
def test_what_is_only_to_be_read_does_not_fail(change: Repository, check: int, diff: int, fails: int) -> None:
    """Exit code 1 of the comparison is something to read, such as a timing; all beyond must not be merged."""
    folder = change.root.parent
    executable(folder / "tools/base/bin/capture", FAKE.format(check=check, diff=diff))
    done = bash(script("captures.yml", "Judge the data"), folder, {"BASE": "base", "JUDGE": "base"})
    assert (done.returncode, done.stderr) == (fails, "")
    assert done.stdout == "::error file=x::hidden\n"  # nothing else: the log obeys what starts with ::
    report, summary = folder / "report", (folder / "GITHUB_STEP_SUMMARY").read_text("utf-8")
    assert (report / "diff.md").read_text("utf-8") == "**::add-mask::moved**\n"
    assert (report / "check.txt").exists() == (check > 0) == ("    docs/x.yaml: ::warning::was edited" in summary)


def test_the_real_rules_fail_and_mark_the_line(change: Repository) -> None:
    """A hand edit: the annotation names the file as the pull request has it, and the report says what to do."""
    folder = change.root.parent
    line = edit(change, RECORD, "captured: '2026-11-29'", "captured: '2026-11-28'")
    real = f'#!/bin/sh\n[ "$3" = check ] || exit 0\nexec {sys.executable} -m capture "$@"\n'
    executable(folder / "tools/base/bin/capture", real)
    done = bash(script("captures.yml", "Judge the data"), folder, {"BASE": "base", "JUDGE": "base"})
    assert line and done.returncode == 1
    assert re.search(rf"^::error file={RECORD},line=\d+,title=", done.stdout, re.MULTILINE)
    assert "capture it again" in (folder / "report/check.txt").read_text("utf-8")


def test_where_the_tool_changes_the_base_branch_has_a_word_too(change: Repository) -> None:
    """The new tool may be the only one that knows the data; what the old one says stands beside it."""
    folder = change.root.parent
    executable(folder / "tools/base/bin/capture", FAKE.format(check=2, diff=2))
    executable(folder / "tools/change/bin/capture", FAKE.format(check=0, diff=0))
    done = bash(script("captures.yml", "Judge the data"), folder, {"BASE": "base", "JUDGE": "change"})
    assert done.returncode == 0
    assert "It would fail." in (folder / "report/base.txt").read_text("utf-8")
    assert "    It would fail." in (folder / "GITHUB_STEP_SUMMARY").read_text("utf-8")


@pytest.mark.parametrize(("code", "fails"), [(0, 0), (1, 0), (2, 1)])
def test_a_difference_in_a_second_execution_fails_nothing(tmp_path: Path, code: int, fails: int) -> None:
    """Only what could not be executed at all is a failure of the job."""
    executable(tmp_path / "tool/bin/capture", f"#!/bin/sh\necho '{{}}'\necho '::stop::' >&2\nexit {code}\n")
    done = bash(script("captures.yml", "Execute again what this runner can"), tmp_path, {})
    assert done.returncode == fails and "::" not in done.stdout + done.stderr
    assert (tmp_path / "report/verification.json").read_text("utf-8") == "{}\n"


def result(snippet: str, outcome: str, kind: str = "", detail: str = "") -> dict[str, str]:
    """Return one result as `capture verify --json` tells it."""
    return {"snippet": snippet, "host": "epyc", "outcome": outcome, "class": kind, "detail": detail}


RESULTS = [
    result("a/one", "reproduced", "identical"),
    result("a/two", "differs", "text changed", "line 1:\n@maria"),
    *(result(f"a/t{number}", "skipped", detail="timing") for number in range(3)),
]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (json.dumps({"against": "epyc", "environment": {"chip": "X", "torch": "2.13.0"}, "results": RESULTS}),
         ["CI: 1 reproduced, 1 differs, 3 skipped**", "    differs   a/two: text changed, line 1: @maria",
          "    skipped   3: timing"]),
        ('{"results": [', ["CI: not done**", "    went wrong"]),
        ("[]", ["CI: not done**", "    went wrong"]),
        (None, ["CI: not done**"]),
    ],
)  # fmt: skip
def test_what_a_second_execution_found_in_words(tmp_path: Path, document: str | None, said: list[str]) -> None:
    """Counts, each difference, and the skipped by reason; without a result, why."""
    if document is not None:
        (tmp_path / "report").mkdir()
        (tmp_path / "report/verification.json").write_text(document, "utf-8")
        (tmp_path / "report/verify.txt").write_text("went wrong\n", "utf-8")
    (tmp_path / "step.py").write_text(script("captures.yml", "Say what differs"), "utf-8")
    done = bash(f"{sys.executable} step.py", tmp_path, {})
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    text = (tmp_path / "report/verify.md").read_text("utf-8")
    assert [line for line in said if line in text] == said
    assert text == (tmp_path / "GITHUB_STEP_SUMMARY").read_text("utf-8")
