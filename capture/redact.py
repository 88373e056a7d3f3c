"""What must never be stored: secrets, and the names of the node and the user. Found values are never echoed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from capture.errors import PrivacyRefused, Problem

# Shapes that the issuers document. A prefix with a few characters already counts: a part of a secret is a leak too.
SECRETS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("Hugging Face token", re.compile(r"\bhf_(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{6,}")),
    ("GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{6,}|github_pat_[A-Za-z0-9_]{6,})")),
    ("GitLab token", re.compile(r"\bglpat-[\w-]{6,}")),
    ("OpenAI or Anthropic key", re.compile(r"\bsk-(?:ant-|proj-)?(?=[\w-]*\d)[\w-]{12,}")),
    ("AWS access key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b")),
    ("Google key", re.compile(r"\bAIza[\w-]{20,}")),
    ("Slack token", re.compile(r"\bxox[abeprs]-[\w-]{6,}")),
    ("PyPI token", re.compile(r"\bpypi-[\w-]{16,}")),
    ("npm token", re.compile(r"\bnpm_[A-Za-z0-9]{20,}")),
    ("Weights & Biases key", re.compile(r"(?i)\bwandb[\w-]*key\W{1,4}[0-9a-f]{16,}")),
    ("JSON web token", re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.")),
    ("private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("password in an address", re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@", re.IGNORECASE)),
    (
        "secret given by name",
        re.compile(
            r"(?i)\b[\w-]*(?:api[_-]?key|access[_-]?key|secret|passwd|password|auth[_-]?token|access[_-]?token)"
            r"[\"']?\s*[=:]\s*[\"']?(?!none\b|null\b|true\b|false\b|str\b|<)[^\s\"',;]{8,}"
        ),
    ),
)
PERSONAL: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "home folder",
        re.compile(r"(?:/home/|/Users/|[A-Z]:\\+Users\\+)(?!<user>|user\b|runner\b|shared\b)[A-Za-z0-9._-]+", re.I),
    ),
    ("MAC address", re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.IGNORECASE)),
    (
        "GPU UUID",
        re.compile(r"\b(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I),
    ),
    ("PCI address", re.compile(r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b", re.IGNORECASE)),
)
# Names that say nothing about anyone; refusing them would fire often for nothing.
COMMON_NAMES = frozenset(
    [
        "admin",
        "administrator",
        "build",
        "builder",
        "buildkite",
        "centos",
        "circleci",
        "cloud",
        "codespace",
        "container",
        "debian",
        "default",
        "docker",
        "ec2-user",
        "fedora",
        "github",
        "gitlab",
        "guest",
        "jenkins",
        "jovyan",
        "kaggle",
        "linux",
        "localhost",
        "macbook",
        "mambauser",
        "nobody",
        "nvidia",
        "pytorch",
        "python",
        "runner",
        "server",
        "student",
        "system",
        "torch",
        "ubuntu",
        "user",
        "users",
        "vagrant",
        "vscode",
        "windows",
        "worker",
        "workspace",
    ]
)
SHORTEST_NAME = 5


@dataclass(frozen=True)
class Identity:
    """Names of this machine and its user that must not appear in a record."""

    names: tuple[str, ...] = ()


def identity(node: str | None, user: str | None) -> Identity:
    """Return the names worth looking for: five letters or more, and not one of the common ones."""
    candidates = [part for name in (node, (node or "").split(".")[0], user) if (part := (name or "").strip().lower())]
    return Identity(
        tuple(dict.fromkeys(name for name in candidates if len(name) >= SHORTEST_NAME and name not in COMMON_NAMES))
    )


def scan(text: str, path: str, who: Identity) -> list[Problem]:
    """Return every hit with its line in `text`; messages name the rule and never the value."""
    hits = [
        Problem(
            path,
            line_of(text, match.start()),
            f"holds a {name}; revoke it, then keep it out of the output",
            "secret",
        )
        for name, pattern in SECRETS
        for match in pattern.finditer(text)
    ]
    hits += [
        Problem(
            path,
            line_of(text, match.start()),
            f"holds a {name}; print something that is not about this machine",
            "personal",
        )
        for name, pattern in PERSONAL
        for match in pattern.finditer(text)
    ]
    hits += [
        Problem(
            path,
            line_of(text, match.start()),
            "holds the node or user name of this machine; do not print it",
            "personal",
        )
        for name in who.names
        for match in re.finditer(rf"(?<![\w]){re.escape(name)}(?![\w])", text, re.IGNORECASE)
    ]
    return sorted(set(hits))


def line_of(text: str, position: int) -> int:
    """Return the line, counted from 1, of a position."""
    return text.count("\n", 0, position) + 1


def require_clean(text: str, path: str, who: Identity) -> None:
    """Raise PrivacyRefused naming every hit in the text of a file that is about to be written."""
    hits: Iterable[Problem] = scan(text, path, who)
    if hits:
        raise PrivacyRefused(*hits)
