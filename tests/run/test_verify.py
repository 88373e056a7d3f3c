"""`capture verify` from the outside: what it executes and compares, what it says and returns; it writes nothing."""

from __future__ import annotations

import json
import os
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.handbooks import host, record
from harness.project import Project, processes_with, until
from harness.verifications import CONFIG, LABEL, captured, copy_of, edit, moods, results, verify

from capture import store
from capture.record import verification
from capture.record.verification import Reproduction

TOKEN = "hf_" + "Q" * 34


@pytest.fixture(scope="module")
def once_captured(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Three captured snippets; shared, so nobody changes it."""
    return captured(tmp_path_factory.mktemp("captured") / "book")


@pytest.fixture
def project(tmp_path: Path, once_captured: Project) -> Project:
    """A copy of it."""
    return copy_of(once_captured, tmp_path / "book")


@pytest.fixture
def mood(once_captured: Project) -> Iterator[Callable[[str], object]]:
    """Change what `demo/moody` does, until the test ends."""
    yield from moods(once_captured)


def test_everything_is_reproduced(project: Project) -> None:
    """Equal under the compare policy: exit 0, one line of progress a snippet, and a count."""
    done = verify(project)
    assert done.code == 0
    assert done.out == f"{LABEL}: 3 reproduced\n"
    assert sorted(line.split()[1] for line in done.err.splitlines()) == ["demo/moody", "demo/plain", "other/number"]


def test_it_executes_what_is_current(project: Project, tmp_path: Path) -> None:
    """Unlike a run, which would find nothing to do; each snippet once, since the record is the other execution."""
    witness = tmp_path / "witness"
    project.snippet("demo/plain", f'print("plain")\nopen({str(witness)!r}, "a").write("x")')
    assert project.run("demo/plain", "--host", LABEL).code == 0
    before = witness.read_text("utf-8")
    assert verify(project, "demo/plain").code == 0
    assert witness.read_text("utf-8") == before + "x"


def test_one_json_document(project: Project) -> None:
    """stdout holds the document and nothing else; progress and summary go to stderr."""
    done = verify(project, "--json", "other", "demo/plain")
    found = verification.parse(done.out, "stdout", "")
    assert (done.code, found.against, [item.snippet for item in found.results]) == (
        0, LABEL, ["demo/plain", "other/number"],
    )  # fmt: skip
    (plain, _) = found.results
    assert plain == Reproduction(
        "demo/plain", LABEL, project.record("demo/plain", LABEL).content_sha256, "reproduced", "identical", ""
    )
    assert found.environment.python == project.record("demo/plain", LABEL).environment.python
    assert found.environment.torch is None and found.environment.chip
    assert set(json.loads(done.out)["results"][0]) == {
        "snippet", "host", "content_sha256", "outcome", "class", "detail",
    }  # fmt: skip
    assert "reproduced demo/plain" in done.err and f"{LABEL}: 2 reproduced" in done.err


def test_a_text_that_differs(project: Project, mood: Callable[[str], object]) -> None:
    """Exit 1; the first difference is named, and the others are reproduced all the same."""
    mood("print('same')\nprint('kernels AVX2')")
    done = verify(project)
    assert done.code == 1
    assert f"{LABEL}: 2 reproduced, 1 differs\n" in done.out
    assert 'demo/moody: text changed: line 2: "kernels AVX512" -> "kernels AVX2"' in done.out


def test_a_text_of_another_processor_differs(project: Project, mood: Callable[[str], object]) -> None:
    """A result of hardware is not excused: it differs, and what else is another one stands beside it."""
    edit(project, "demo/moody", environment={"chip": "Some CPU, AVX512", "cpu_capability": "AVX512"})
    mood("print('same')\nprint('kernels AVX2')")
    code, found = results(project, "demo/moody")
    told = found["demo/moody"]
    assert (code, told.outcome, told.class_) == (1, "differs", "text changed")
    assert told.detail.startswith('line 2: "kernels AVX512" -> "kernels AVX2"; run with another chip (Some CPU, AVX512')
    assert "another cpu_capability (AVX512 -> none)" in told.detail


def test_the_same_text_on_another_processor_is_reproduced(project: Project) -> None:
    """Matched by the torch version, not by the hardware."""
    edit(project, "demo/plain", environment={"chip": "Some CPU, AVX512", "os": "Other 1", "python": "3.12.9"})
    assert verify(project, "demo/plain").code == 0


def test_the_compare_policy_counts(project: Project, mood: Callable[[str], object]) -> None:
    """What the header lets vary is reproduced, with its class; the rest of the line is not."""
    item = project.record("other/number", LABEL)
    edit(project, "other/number", stdout=item.stdout.replace("1.00", "9.99"))
    code, found = results(project, "other/number")
    assert (code, found["other/number"].outcome, found["other/number"].class_) == (0, "reproduced", "volatile only")
    edit(project, "other/number", stdout=item.stdout.replace("7 apples", "8 apples"))
    assert verify(project, "other/number").code == 1


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("raise ValueError('no more')", "ok (exit 0) -> error (exit 1): error: exit 1; ValueError: no more"),
        ("import os; os.abort()", "ok (exit 0) -> crashed: crashed"),
        ("print(", "ok (exit 0) -> error"),
    ],
    ids=["fails", "crashes", "does not compile"],
)
def test_a_snippet_that_fails_now(project: Project, mood: Callable[[str], object], code: str, says: str) -> None:
    """A failure in place of a good record differs, and says how it ended."""
    mood(code)
    done, found = results(project, "demo/moody")
    assert (done, found["demo/moody"].class_) == (1, "status changed")
    assert says in found["demo/moody"].detail


def test_a_snippet_that_reaches_its_time_limit(project: Project) -> None:
    """It is ended, and differs."""
    project.snippet("demo/slow", "import time\ntime.sleep(40)", timeout=1)
    digest = project.parsed("demo/slow").digest
    project.keep(record("demo/slow", LABEL, source_sha256=digest, torch=None, stdout=""))
    code, found = results(project, "demo/slow")
    assert code == 1
    assert found["demo/slow"].detail.startswith("ok (exit 0) -> timeout: timeout: reached its time limit")


def test_nothing_secret_is_passed_on(project: Project, mood: Callable[[str], object]) -> None:
    """The document is published: a difference that holds a token is named by its rule."""
    mood(f"print('same')\nprint('{TOKEN}')")
    done = verify(project, "--json", "demo/moody")
    assert done.code == 1
    assert TOKEN[:20] not in done.text
    assert "the new output cannot be shown: stdout:2: holds a" in done.out


def test_a_secret_of_the_record_is_not_passed_on(project: Project) -> None:
    """A record that `check` would refuse is compared all the same; neither the summary nor the document quotes it."""
    edit(project, "demo/plain", stdout=f"plain\nusing {TOKEN}\n")
    edit(project, "demo/moody", stdout="listening on 10.9.8.7:29500\n", environment={"packages": {"x": TOKEN}})
    for arguments in ([], ["--json"]):
        done = verify(project, *arguments)
        assert done.code == 1
        assert "demo/plain" in done.text
        assert TOKEN[:8] not in done.text
        assert "10.9.8" not in done.text


@pytest.mark.parametrize(
    ("arguments", "config", "says"),
    [
        (["--against", "desk-cup"], CONFIG, f'--against: no host "desk-cup"; did you mean "{LABEL}"?'),
        ([], CONFIG.replace("desk-cpu", "dsk-cpu"), f'default_host: no host "dsk-cpu"; did you mean "{LABEL}"?'),
        ([], "site_name: test\n", f"--against LABEL; known: {LABEL}"),
        (["--against", "../.."], CONFIG, 'no host "../.."'),
        (["demo/plian"], CONFIG, 'no snippet "demo/plian"; did you mean "demo/plain"?'),
        (["--python", "python-of-nobody"], CONFIG, "python-of-nobody: no such interpreter"),
    ],
    ids=["label", "default host", "no default", "path", "id", "interpreter"],
)
def test_unknown_names(project: Project, arguments: list[str], config: str, says: str) -> None:
    """Invalid usage names the nearest known; nothing is executed, and no JSON is printed."""
    project.write("mkdocs.yml", config)
    done = verify(project, "--json", *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_against_another_label(project: Project) -> None:
    """Any host's records can be compared with, this machine's own too."""
    store.write_host(project.book, host("h200"))
    project.keep(record("demo/plain", "h200", torch=None, stdout="other\n"))
    done = verify(project, "--against", "h200", "demo/plain")
    assert done.code == 1
    assert 'h200: 1 differs\n  differs    demo/plain: text changed: line 1: "other" -> "plain"' in done.out
    assert project.run("demo/plain").code == 0
    assert verify(project, "--against", "local", "demo/plain").code == 0


@pytest.mark.parametrize("jobs", ["1", "4"])
def test_side_by_side(project: Project, jobs: str) -> None:
    """-j decides how many run at once and nothing else; results stand in the order of the ids."""
    code, found = results(project, "-j", jobs)
    assert (code, list(found)) == (0, ["demo/moody", "demo/plain", "other/number"])
    assert verify(project, "-j", "0").code == 2


@pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_interruption(project: Project, mood: Callable[[str], object], name: str, tmp_path: Path) -> None:
    """Ctrl-C and a request to end: exit 130, no process and no file is left, and no half a document is printed."""
    mark = f"slow_{uuid.uuid4().hex}"
    child = f"[sys.executable, '-c', 'import time; time.sleep(45)', '{mark}']"
    mood(f"import subprocess, sys, time\nsubprocess.Popen({child})\ntime.sleep(45)")
    before = project.state()
    own = {"TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    with project.start("verify", "--json", "--python", project.python, "-j", "1", env=own) as process:
        until(lambda: bool(processes_with(mark)), "the snippet runs")
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    assert "interrupted: 0 of 3 compared" in err and "Traceback" not in err
    until(lambda: not processes_with(mark), "its child has ended")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert project.state() == before


def test_a_read_only_handbook(project: Project) -> None:
    """Where nothing can be written, everything can be verified: no lock, no temporary file."""
    folders = [path for path in (project.root, *project.root.rglob("*")) if path.is_dir()]
    times = {path: path.stat().st_mtime_ns for path in folders}
    time.sleep(0.01)
    assert verify(project).code == 0
    assert {path: path.stat().st_mtime_ns for path in folders} == times
