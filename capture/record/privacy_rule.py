"""One rule of privacy, and the judges of what its pattern has found: whether it is meant, or only looks alike."""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

# Names that say nothing about anyone; refusing them would fire often for nothing.
COMMON_NAMES = frozenset([
    "admin", "administrator", "build", "builder", "buildkite", "centos", "circleci", "cloud", "codespace",
    "conda", "container", "debian", "default", "docker", "ec2-user", "fedora", "github", "gitlab", "guest",
    "jenkins", "jovyan", "kaggle", "linux", "localhost", "macbook", "mambauser", "nobody", "nvidia", "python",
    "pytorch", "runner", "server", "student", "system", "torch", "ubuntu", "user", "users", "vagrant", "vscode",
    "windows", "worker", "workspace",
])  # fmt: skip
# Shorter ones, which are looked for as parts of a path and behind such words as `user=` alone.
SHORT_COMMON_NAMES = frozenset([
    "app", "bin", "box", "ci", "cpu", "data", "demo", "dev", "gpu", "home", "host", "lab", "lib", "mac", "me", "node",
    "none", "opt", "pc", "pi", "root", "src", "test", "tmp", "usr", "var", "vm", "work",
])  # fmt: skip


PrivacyKind = Literal["secret", "personal"]


@dataclass(frozen=True)
class PrivacyRule:
    """One thing that no file may hold.

    `expression` finds it, and its group `value`, if it has one, is what must not be shown. It is tried only where one
    of `marks`, in lower case, stands in the text. `judge` tells of a match whether it is one. `finds` and `leaves` are
    texts that a test holds the rule to.
    """

    kind: PrivacyKind
    name: str
    expression: str
    marks: tuple[str, ...]
    finds: tuple[str, ...]
    leaves: tuple[str, ...] = ()
    judge: Callable[[re.Match[str]], bool] = bool

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression, compiled when it is first needed: most texts hold no mark of most rules."""
        return re.compile(self.expression)


def rule(
    kind: PrivacyKind,
    name: str,
    expression: str,
    marks: str,
    finds: tuple[str, ...],
    leaves: tuple[str, ...] = (),
    judge: Callable[[re.Match[str]], bool] = bool,
) -> PrivacyRule:
    """Return a rule; its marks stand with blanks between them."""
    return PrivacyRule(kind, name, expression, tuple(marks.split()), finds, leaves, judge)


_WORD = re.compile(r"(?<![a-z])[A-Z]?[a-z]{3,14}(?![a-z])")


def is_name(text: str) -> bool:
    """Tell whether a text reads as a name in a program, such as `T5Model` or `column_name`, not as random letters."""
    letters = sum(map(len, _WORD.findall(text)))
    digits = sum(map(str.isdigit, text))
    return digits * 5 <= len(text) and letters >= len(text) * (0.5 if len(text) < 30 else 0.75)


def is_random(match: re.Match[str]) -> bool:
    """Tell whether the value of a match, or its group `body`, is none that a programmer thought of."""
    return not is_name(match["body" if "body" in match.re.groupindex else "value"])


def is_login(match: re.Match[str]) -> bool:
    """Tell whether what stands before the @ of an address is a token: long names of users hold no digits."""
    return any(map(str.isdigit, match["value"])) or is_random(match)


_CODE = re.compile(
    r"[A-Za-z_][\w.]*[(\[]|(?:self|args|config|cfg|os|settings)\.|[-+]?[\[(]*[-+]?\d*\.\d+(?!\w)|[$%<{\[(*]"
)
_NO_SECRET = re.compile(
    r"(?i)(?:none|null|true|false|str|int|bool|bytes|string|optional|required|secretstr|redacted|changeme|hidden|unset"
    r"|your[\w-]*|x{3,}|\.{3}.*)\b|placeholder|example"
)


def is_given(match: re.Match[str]) -> bool:
    """Tell whether a value beside such a word as `password` is one: no expression, no number, no column's name."""
    value, word = match["value"], match["word"].lower()
    if _CODE.match(value) or _NO_SECRET.match(value):
        return False
    if "passw" in word:  # people choose words
        return bool(match["quote"]) or not re.fullmatch(r"\w*[_.]\w*|(?i:password|passwd)|[A-Z]\w+[.:]?", value)
    plain_word = not re.search(r"[_.-]|[a-z][A-Z]", value)
    return not is_name(value) or (plain_word and (bool(match["quote"]) or match["word"].isupper()))


_NO_PERSON = ("example.com", "example.org", "example.net", "example.edu", "example", "test", "invalid", "localhost")
_MACHINES = re.compile(r"(?i)(?:git|hg|noreply|no-reply|actions|bot|github-actions)$|.*\[bot\]$")


def is_mail(match: re.Match[str]) -> bool:
    """Tell whether a mail address is a person's: no example, no service, no user of an address such as `ssh://…`."""
    host = match["host"].lower()
    if any(host == name or host.endswith(f".{name}") for name in _NO_PERSON) or _MACHINES.match(match["local"]):
        return False
    return not re.search(r"://\S{0,200}$", match.string[max(match.start() - 210, 0) : match.start()])


_DOCUMENTED = tuple(
    ipaddress.ip_network(net)
    for net in (
        "192.0.2.0/24",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "2001:db8::/32",
        "3fff::/20",
        "224.0.0.0/4",
        "ff00::/8",
    )
)
_VERSION_BEFORE = re.compile(r"(?i)(?:[=<>~!^]=\s?|version\W{1,4}|\bv|\w-|cu\d\d\W{1,80}|release |driver )$")
_ADDRESS_BEFORE = re.compile(
    r"(?i)(?:(?<![a-z])(?:addr(?:ess)?|host(?:name)?|ip(?:v4)?|inet|node|peer|server|master|gateway|remote|client|listen(?:ing)?|connect(?:ed|ion|ing)?"
    r"|bound|from|to|on|at|by|ping|ssh|dns)[\"']?\s{0,2}[:=]?\s{0,2}[\"'(\[]{0,2}|//|@)$"
)


def is_machine(match: re.Match[str]) -> bool:
    """Tell whether an address is that of a machine: no loopback, none of documentation, no mask, no version."""
    try:
        address = ipaddress.ip_address(match[0])
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or any(address in net for net in _DOCUMENTED):
        return False
    if isinstance(address, ipaddress.IPv6Address):
        groups = [group for group in match[0].split(":") if group]
        return (address.is_link_local or address.is_private or len(groups) > 2) and (
            len(groups) > 1
            and (len(groups) == 8 or 0x2000 <= int(groups[0], 16) < 0x4000 or int(groups[0], 16) >= 0xFC00)
        )
    first = address.packed[0]
    if first in (0, 255):
        return False
    before = match.string[max(match.start() - 90, 0) : match.start()].rsplit("\n", 1)[-1]
    if _VERSION_BEFORE.search(before):
        return False
    if first >= 25 or first == 10:  # no part of a version is that high; the parts of torch that are at 10 have names
        return True
    return bool(_ADDRESS_BEFORE.search(before) or re.match(r":\d{2,5}\b", match.string[match.end() : match.end() + 6]))
