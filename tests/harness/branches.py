"""Real git repositories around small handbooks, with the attributes of this one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.handbooks import REPOSITORY, Handbook

# Nothing of the machine's own configuration, and always the same author.
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_EDITOR": "true",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
}  # fmt: skip


@dataclass(frozen=True)
class Repository:
    """A repository whose working tree is a handbook."""

    book: Handbook

    @property
    def root(self) -> Path:
        return self.book.root

    def git(self, *arguments: str, data: str = "") -> subprocess.CompletedProcess[str]:
        """Run git and return what it said, whatever its exit code."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.run(
            ["git", "-C", str(self.root), *arguments], env=inherited | ENVIRONMENT, input=data,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def did(self, *arguments: str, data: str = "") -> str:
        """Run git, which must succeed, and return what it printed."""
        done = self.git(*arguments, data=data)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def commit(self, message: str = "a step") -> str:
        """Commit all there is and return the commit."""
        self.did("add", "--all")
        self.did("commit", "--quiet", "--allow-empty", "--message", message)
        return self.did("rev-parse", "HEAD").strip()

    def branch(self, name: str, work: Callable[[Handbook], object]) -> None:
        """Do some work on a branch of its own from main, commit it and come back."""
        self.did("switch", "--quiet", "--create", name, "main")
        work(self.book)
        self.commit(name)
        self.did("switch", "--quiet", "main")

    def files(self, *which: str) -> list[str]:
        """Return the paths that git lists."""
        return self.did(*which).split()


def repository(book: Handbook, attributes: bool = True) -> Repository:
    """Make a repository of a handbook, with this repository's attributes unless told not to."""
    found = Repository(book)
    for name in (".gitattributes", ".gitignore") if attributes else (".gitignore",):
        shutil.copy(REPOSITORY / name, book.root / name)
    found.did("init", "--quiet", "--initial-branch", "main")
    found.commit("a handbook")
    return found
