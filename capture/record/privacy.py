"""What must never be stored: secrets, and the names of the node and the user. Found values are never echoed."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass

from capture.errors import PrivacyRefused, Problem

PRIVACY_RULES = ("secret", "personal")  # the names of the rules below, as a problem carries them
# Names that say nothing about anyone; refusing them would fire often for nothing.
COMMON_NAMES = frozenset([
    "admin", "administrator", "build", "builder", "buildkite", "centos", "circleci", "cloud", "codespace",
    "conda", "container", "debian", "default", "docker", "ec2-user", "fedora", "github", "gitlab", "guest",
    "jenkins", "jovyan", "kaggle", "linux", "localhost", "macbook", "mambauser", "nobody", "nvidia", "python",
    "pytorch", "runner", "server", "student", "system", "torch", "ubuntu", "user", "users", "vagrant", "vscode",
    "windows", "worker", "workspace",
])  # fmt: skip
# Shapes that the issuers document. A prefix with a few characters already counts: a part of a secret is a leak too.
# Repeats are bounded: the texts are strangers', and a search must end.
_SECRETS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("Hugging Face token", re.compile(r"\bhf_(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{6,}")),
    ("GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{6,}|github_pat_[A-Za-z0-9_]{6,})")),
    ("GitLab token", re.compile(r"\bglpat-[\w-]{6,}")),
    ("OpenAI or Anthropic key", re.compile(r"\bsk-(?:ant-|proj-)?(?=[\w-]{0,60}\d)[\w-]{12,}")),
    ("AWS access key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b")),
    ("Google key", re.compile(r"\bAIza[\w-]{20,}")),
    ("Slack token", re.compile(r"\bxox[abeprs]-[\w-]{6,}")),
    ("PyPI token", re.compile(r"\bpypi-[\w-]{16,}")),
    ("npm token", re.compile(r"\bnpm_[A-Za-z0-9]{20,}")),
    ("Weights & Biases key", re.compile(r"(?i)\bwandb[\w-]{0,20}key\W{1,4}[0-9a-f]{16,}")),
    ("JSON web token", re.compile(r"\beyJ[\w-]{8,300}\.eyJ[\w-]{8}")),
    ("bearer token", re.compile(r"(?i)\bbearer\s+(?=[\w.~+/-]{0,60}\d)[\w.~+/-]{16,}")),
    ("private key", re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")),
    (
        "password in an address",
        re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]{1,200}:[^\s/@]{1,200}@", re.IGNORECASE),
    ),
    (
        "secret given by name",
        re.compile(
            r"(?i)(?:api[_-]?key|access[_-]?key|secret|passwd|password|(?:hf|hub|hugging_?face|github|gh|gitlab|npm|pypi"
            r"|slack|bot|api|auth|access|refresh)[_-]?token)"
            r"[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?!none\b|null\b|true\b|false\b|str\b|<)[^\s\"',;]{8,}"
        ),
    ),
)
_SEPARATOR = r"(?:[/\\]{1,8}|%2F|%5C)"
_NO_ONE = "|".join(map(re.escape, ["<user>", "shared", *sorted(COMMON_NAMES)]))
_PERSONAL: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "home folder",
        re.compile(rf"{_SEPARATOR}(?:home|Users){_SEPARATOR}(?!(?:{_NO_ONE})(?![\w-]|\.\w))[\w.-]+", re.IGNORECASE),
    ),
    (
        "MAC address",
        re.compile(r"\b(?:(?:[0-9a-f]{2}:){5}|(?=[0-9-]{0,16}[a-f])(?:[0-9a-f]{2}-){5})[0-9a-f]{2}\b", re.IGNORECASE),
    ),
    (
        "GPU UUID",
        re.compile(r"\b(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I),
    ),
    ("PCI address", re.compile(r"\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b", re.IGNORECASE)),
)
_SHORTEST_NAME = 5
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^\n])")


@dataclass(frozen=True)
class Identity:
    """Names of this machine and its user that must not appear in a record."""

    names: tuple[str, ...] = ()


def identity(node: str | None, user: str | None) -> Identity:
    """Return the names worth looking for: five letters or more, and not one of the common ones."""
    candidates = [part for name in (node, (node or "").split(".")[0], user) if (part := (name or "").strip().lower())]
    return Identity(
        tuple(dict.fromkeys(name for name in candidates if len(name) >= _SHORTEST_NAME and name not in COMMON_NAMES))
    )


def scan(text: str, path: str, who: Identity) -> list[Problem]:
    """Return every hit with its line in `text`; messages name the rule and never the value."""
    patterns = [
        (pattern, f"holds a {name}; revoke it, then keep it out of the output", "secret") for name, pattern in _SECRETS
    ]
    patterns += [
        (pattern, f"holds a {name}; print something that is not about this machine", "personal")
        for name, pattern in _PERSONAL
    ]
    patterns += [
        (
            re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])", re.IGNORECASE),
            "holds the node or user name of this machine; do not print it",
            "personal",
        )
        for name in who.names
    ]
    ends = [match.start() for match in re.finditer("\n", text)]
    return sorted(
        {
            Problem(path, bisect.bisect_left(ends, match.start()) + 1, message, rule)
            for body in {text, _without_escapes(text)}
            for pattern, message, rule in patterns
            for match in pattern.finditer(body)
        }
    )


def _without_escapes(text: str) -> str:
    """Return the text with blanks in place of escapes, which may hide where a word begins: `\\thf_…`, `\\x1bhf_…`."""
    return _ESCAPE.sub(lambda match: " " * len(match[0]), text)


def require_clean(text: str, path: str, who: Identity) -> None:
    """Raise PrivacyRefused naming every hit in the text of a file that is about to be written."""
    hits: Iterable[Problem] = scan(text, path, who)
    if hits:
        raise PrivacyRefused(*hits)
