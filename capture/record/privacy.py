"""What must never be stored: secrets, and the names of the node and the user. Found values are never echoed.

What is looked for stands in the tables of `secret_rules` and `personal_rules`.
"""

from __future__ import annotations

import bisect
import dataclasses
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from capture.characters import bidi_controls, control_characters
from capture.errors import PrivacyRefused, Problem
from capture.record.personal_rules import PERSONAL
from capture.record.privacy_rule import COMMON_NAMES, SHORT_COMMON_NAMES, PrivacyRule
from capture.record.secret_rules import SECRETS

PRIVACY_RULES = ("secret", "personal")  # the kinds of the rules, as a problem carries them
RULES: tuple[PrivacyRule, ...] = SECRETS + PERSONAL
_ADVICE = {
    "secret": "holds a {}; revoke it, then keep it out of the output",
    "personal": "holds a {}; print something that is not about this machine",
}
_NAME_ADVICE = "holds the node or user name of this machine; do not print it"
_SHORTEST_NAME = 5  # letters of a name that is looked for wherever it stands as a word
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^\n])")
# Characters that a reader does not see (Unicode's default ignorable ones), as they are and as escapes, and the escapes
# of control characters: a token that they break up is one all the same.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\U000e0000-\U000e0fff]"
    r"|(?i:\\x(?:[01][0-9a-f]|7f|[89][0-9a-f]|ad)|\\u(?:00ad|034f|061c|180[b-f]|200[b-f]|202[a-e]|206[0-9a-f]|fe0[0-9a-f]|feff))"
)
Shown = TypeVar("Shown")


@dataclass(frozen=True)
class Identity:
    """Names of this machine and its user that must not appear in a record.

    `names` count wherever they stand as words. `short` ones are words of their own too often: they count as a part of
    an absolute path, beside an `@`, and behind such words as `user=`.
    """

    names: tuple[str, ...] = ()
    short: tuple[str, ...] = ()


def identity(node: str | None, user: str | None) -> Identity:
    """Return the names worth looking for: two letters or more, and not one of the common ones."""
    candidates = [part for name in (node, (node or "").split(".")[0], user) if (part := (name or "").strip().lower())]
    telling = dict.fromkeys(name for name in candidates if name not in COMMON_NAMES | SHORT_COMMON_NAMES)
    return Identity(
        tuple(name for name in telling if len(name) >= _SHORTEST_NAME),
        tuple(name for name in telling if 1 < len(name) < _SHORTEST_NAME),
    )


def scan(text: str, path: str, who: Identity) -> list[Problem]:
    """Return every hit with its line in `text`; messages name the rule and never the value."""
    found: set[Problem] = set()
    for body in {text, _without_escapes(text), _UNSEEN.sub("", text)}:
        ends = [match.start() for match in re.finditer("\n", body)]
        found |= {
            Problem(path, bisect.bisect_left(ends, match.start()) + 1, message, kind)
            for kind, message, match in _hits(body, who)
        }
    return sorted(found)


def shown(text: str, who: Identity = Identity(), kinds: Iterable[str] = PRIVACY_RULES) -> str:
    """Return a text as it may be shown to a person: with a mark such as `<GitHub token>` in place of what was found.

    Where a mark cannot stand for all of it, the whole text is withheld.
    """
    kinds = tuple(kinds)
    spans: dict[int, tuple[int, str]] = {}
    for kind, message, match in _hits(text, who):
        if kind in kinds:
            start, end = match.span("value" if "value" in match.re.groupindex and match["value"] else 0)
            spans[start] = max(spans.get(start, (0, "")), (end, _noun(message)))
    pieces, at = [], 0
    for start, (end, noun) in sorted(spans.items()):
        if end > at:
            pieces += [text[at : max(start, at)], f"<{noun}>" if start >= at else ""]
            at = end
    masked = "".join([*pieces, text[at:]])
    if not spans and text == _without_escapes(text) == _UNSEEN.sub("", text):
        return text
    left = [problem for problem in scan(masked, "", who) if problem.rule in kinds]
    return f"<not shown: {_noun(left[0].message)}>" if left else masked


def visible(text: str, kinds: Iterable[str] = PRIVACY_RULES) -> str:
    """Return a text as it may be printed: as `shown`, and no character moves the cursor or turns the line."""
    return bidi_controls(control_characters(shown(text, kinds=kinds)))


def shown_in(value: Shown) -> Shown:
    """Return a record, or other data, with every text of it as it may be shown."""
    result: object = value
    if isinstance(value, str):
        result = shown(value)
    elif isinstance(value, list | tuple):
        result = type(value)(map(shown_in, value))
    elif isinstance(value, dict):
        result = {shown_in(key): shown_in(item) for key, item in value.items()}
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: shown_in(getattr(value, field.name)) for field in dataclasses.fields(value) if field.init}
        result = dataclasses.replace(value, **fields)
    return result  # type: ignore[return-value]


def _noun(message: str) -> str:
    """Return what a message says is held, without its advice."""
    return re.sub(r"^holds (?:a |the )?", "", message.partition(";")[0])


def _hits(text: str, who: Identity) -> Iterator[tuple[str, str, re.Match[str]]]:
    """Yield the kind, the message and the match of everything that must not be stored."""
    lowered = text.lower()
    for rule in RULES:
        if any(mark in lowered for mark in rule.marks):
            message = _ADVICE[rule.kind].format(rule.name)
            yield from ((rule.kind, message, match) for match in rule.pattern.finditer(text) if rule.judge(match))
    for name in who.names:
        if name in lowered:
            pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])", re.IGNORECASE)
            yield from (("personal", _NAME_ADVICE, match) for match in pattern.finditer(text))
    for name in who.short:
        if name in lowered:
            yield from (("personal", _NAME_ADVICE, match) for match in _short_name(name).finditer(text))


def _short_name(name: str) -> re.Pattern[str]:
    """Return a pattern of a name of few letters where it can hardly be another word."""
    escaped = re.escape(name)
    folder = r"(?:[/\\]{1,4}|%2F|%5C)"
    word = r"(?:user(?:name)?|login|logname|owner|uname|node(?:name)?|host(?:name)?|computer(?:name)?|whoami)"
    return re.compile(
        rf"(?:(?<![\w.)\]])(?:[a-z]:)?(?:{folder}[\w. -]{{1,60}}){{1,8}}{folder}|(?<=\w@)"
        rf"|(?<!\w){word}[\"']?\s{{0,3}}[=:]\s{{0,3}}[\"']?)"
        rf"(?P<value>{escaped})(?![\w-])|(?<![\w.])(?P<prompt>{escaped})(?=@\w|:~|:/\S{{0,200}}[$#])",
        re.IGNORECASE,
    )


def _without_escapes(text: str) -> str:
    """Return the text with blanks in place of escapes, which may hide where a word begins: `\\thf_…`, `\\x1bhf_…`."""
    return _ESCAPE.sub(lambda match: " " * len(match[0]), text)


def require_clean(text: str, path: str, who: Identity) -> None:
    """Raise PrivacyRefused naming every hit in the text of a file that is about to be written."""
    hits: Iterable[Problem] = scan(text, path, who)
    if hits:
        raise PrivacyRefused(*hits)
