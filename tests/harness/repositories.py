"""Handbooks in git repositories of their own, and a person who answers at a terminal."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
from typer.testing import CliRunner

from capture.cli.app import app
from harness.handbooks import REPOSITORY, Handbook, host, record
from harness.project import PATIENCE, Project, environment, until

# Nothing of whoever runs the tests: neither his settings nor his name.
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c", "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0",
}  # fmt: skip
ONE, TWO, GONE = (f"docs/captures/epyc/{name}.yaml" for name in ("demo/one", "demo/two", "other/gone"))
NEW, FACTS = "docs/captures/h200/demo/one.yaml", "docs/captures/h200/host.yaml"
INTERRUPT, END = "\x03", "\x04"  # Ctrl-C, Ctrl-D


class Repository(Project):
    """A handbook of which git knows; the repository may begin above it."""

    def __init__(self, root: Path, top: Path | None = None) -> None:
        super().__init__(root, python="python")
        self.top = top or root

    def git(self, *arguments: str, fails: bool = False, data: str | None = None) -> str:
        """Run git in the handbook, with some standard input, and return what it prints; it must succeed unless told."""
        done = self.tried(*arguments, data=data)
        assert fails or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def tried(self, *arguments: str, data: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run git in the handbook and return what it said, whatever its exit code."""
        return subprocess.run(
            ["git", *arguments], cwd=self.root, env=environment({**GIT, "LC_ALL": "C"}), capture_output=True, text=True,
            encoding="utf-8", input=data, timeout=PATIENCE, check=False,
        )  # fmt: skip

    def commit(self, words: str = "more") -> str:
        """Commit everything and return the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", words)
        return self.git("rev-parse", "HEAD").strip()

    def branch(self, name: str, work: Callable[[Repository], object]) -> None:
        """Do some work on a branch of its own from main, commit it and come back."""
        self.git("switch", "--quiet", "--create", name, "main")
        work(self)
        self.commit(name)
        self.git("switch", "--quiet", "main")

    def status(self, *paths: str) -> list[str]:
        """Return what differs from HEAD and from the index, as `git status --short` says it."""
        return self.git("status", "--short", "--no-renames", "--untracked-files=all", "--", *paths).splitlines()

    def rejected(self) -> dict[str, str]:
        """Return what was kept of rejected files, by the path below the folder of their review."""
        base = self.root / ".cache" / "rejected"
        files = [path for path in base.rglob("*.yaml") if not path.name.startswith(".")] if base.is_dir() else []
        return {"/".join(path.relative_to(base).parts[1:]): path.read_text("utf-8") for path in files}

    def copied(self, folder: Path) -> Repository:
        """Return a copy of it all in a new folder."""
        shutil.copytree(self.top, folder, symlinks=True)
        return Repository(folder / self.root.relative_to(self.top), folder)


def repository(book: Handbook, attributes: bool = True) -> Repository:
    """Make a repository of a handbook, with this repository's attributes unless told not to."""
    found = Repository(book.root)
    for name in (".gitattributes", ".gitignore") if attributes else (".gitignore",):
        shutil.copy(REPOSITORY / name, book.root / name)
    found.git("init", "--quiet", "--initial-branch", "main")
    found.commit("a handbook")
    return found


def with_changes(top: Path) -> Repository:
    """Three committed records of one host. Since then one says something else, one is gone, a host has come.

    The handbook is a subfolder of the repository.
    """
    found = Repository(top / "book", top)
    found.write(".gitignore", ".capture-lock\n")  # which a killed process leaves
    for name in ("demo/one", "demo/two", "other/gone"):
        found.snippet(name, f"print({name!r})")
    found.keep(host("epyc"))
    for name in ("demo/one", "demo/two", "other/gone"):
        found.keep(record(name, stdout=f"{name}\nsame\n"))
    found.git("init", "--quiet", str(top))
    found.commit()
    found.keep(record("demo/one", stdout="changed\nsame\n"))
    (found.root / GONE).unlink()
    found.keep(host("h200", title="H200", kind="cuda"))
    found.keep(record("demo/one", "h200", stdout="first\n", gates={"cuda": True}))
    return found


def reviewed(project: Repository, *arguments: str) -> tuple[int, str]:
    """Run `capture review` in this process and return its exit code and what it said."""
    result = CliRunner().invoke(app, ["--root", str(project.root), "review", *arguments])
    return getattr(result.exception, "exit_code", result.exit_code), f"{result.output}{result.exception or ''}"


def at_terminal(project: Project, answers: Sequence[str], *arguments: str) -> tuple[int, str]:
    """Run `capture review` at a terminal, type one answer at each question, return its exit code and all it showed."""

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # however the tests were started
        os.login_tty(os.dup(0))

    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "capture", "review", *arguments],
        cwd=project.root, env=environment({**GIT, "TERM": "dumb", "COLUMNS": "150"}), stdin=theirs, stdout=theirs,
        stderr=theirs, preexec_fn=prepare,
    )  # fmt: skip
    os.close(theirs)
    shown, asked, deadline = "", 0, time.monotonic() + PATIENCE
    try:
        while True:
            assert time.monotonic() < deadline, f"waited in vain for a question or the end: {shown}"
            if not select.select([ours], [], [], 0.3)[0]:
                continue
            try:
                part = os.read(ours, 65536).decode("utf-8", "replace")
            except OSError:  # so a terminal that nobody uses any more ends on Linux
                break
            if not part:
                break
            shown += part
            if shown.count("[a,r,s,A,R,q,?]: ") > asked:
                answer = answers[asked]
                asked += 1
                if answer == INTERRUPT:  # sent any earlier, it might come before the question is waited at
                    waits = psutil.Process(process.pid).status
                    until(lambda waits=waits: waits() == psutil.STATUS_SLEEPING, "it waits for an answer")
                os.write(ours, answer.encode() + (b"" if answer in (INTERRUPT, END) else b"\n"))
        return process.wait(PATIENCE), shown.replace("\r\n", "\n")
    finally:
        os.close(ours)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            process.send_signal(signal.SIGKILL)
        process.wait()
