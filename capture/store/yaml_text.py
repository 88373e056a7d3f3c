"""YAML as the handbook uses it: one writer, and a reader that refuses what the writer never writes."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from capture import plain_data
from capture.errors import CaptureError, Problem
from capture.host.host import Host
from capture.record import record
from capture.record.record import Record

_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)", re.MULTILINE)
_YAML_1_2_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+")
_LINE_END = re.compile(r"[\r\x85\u2028\u2029]")
# Tables that stand on one line.
_FLOWS = frozenset(["gates", "threads", "packages", "limits", "xla", "runs", "conditions"])
PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Resolves plain scalars as YAML 1.1 does, so that `no` reads as a bool and is refused.
_PLAIN: Any = yaml.SafeLoader("")
_LONGEST_SCALAR = 100  # characters; numbers of some thousand digits can be read and not written
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DEEPEST = 20
_WORD = 40  # letters of a text that may come again in another record


class _FlowMapping(dict[str, Any]):
    """A mapping written on one line, for short tables such as gates."""


class _Dumper(yaml.SafeDumper):
    """The one writer: pure Python, so that bytes do not depend on libyaml being there."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value in full; records need no anchors."""
        return True

    def analyze_scalar(self, scalar: str) -> Any:
        """Let a literal block hold tabs, for which PyYAML would give up the block and escape everything."""
        if len(scalar) <= _WORD and "\t" not in scalar:
            return _analysis_of_word(scalar)
        if "\n" not in scalar or "\t" not in scalar:
            return super().analyze_scalar(scalar)
        analysis = super().analyze_scalar(scalar.replace("\t", " "))
        analysis.scalar = scalar
        analysis.allow_flow_plain = analysis.allow_block_plain = False
        return analysis


@functools.lru_cache(maxsize=4096)  # field names and most words come again in every record
def _analysis_of_word(word: str) -> Any:
    """Return how a short text without tabs may be written; the same for every dumper of ours."""
    return yaml.SafeDumper(io.StringIO(), allow_unicode=True).analyze_scalar(word)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Write several lines as a literal block, unless a line starts with a tab, which YAML would misread.

    What YAML 1.1 reads as another type PyYAML quotes itself; what only YAML 1.2 does is quoted here, and so are
    line ends other than `\\n`, which PyYAML writes as they are and every parser reads as a blank.
    """
    style = "'" if _YAML_1_2_NUMBER.fullmatch(text) else None
    if _LINE_END.search(text):
        style = '"'
    elif "\n" in text:
        style = '"' if text.startswith("\t") or "\n\t" in text else "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _represent_flow(dumper: yaml.SafeDumper, data: _FlowMapping) -> yaml.MappingNode:
    """Write a short mapping on one line."""
    return dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(_FlowMapping, _represent_flow)


def dump(data: Mapping[str, Any]) -> str:
    """Return the YAML text of plain data; the same bytes on every platform."""
    return yaml.dump(
        dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=2**30
    )


def record_text(item: Record) -> str:
    """Return the exact text of a record's file."""
    return dump({name: flowing(name, value) for name, value in record.encode(item).items()})


def flowing(name: str, data: Any) -> Any:
    """Return the value of a field with its short tables on one line."""
    if name in _FLOWS:
        return _FlowMapping(data)
    if name in ("environment", "elided"):
        return {inner: _FlowMapping(of) if inner in _FLOWS or name == "elided" else of for inner, of in data.items()}
    return data


def host_text(item: Host) -> str:
    """Return the exact text of a host's file."""
    return dump(plain_data.encode(item))


def load(text: str, path: str, advice: str = "") -> tuple[Any, dict[str, int]]:
    """Return plain data and the line of each dotted field.

    Raises CaptureError at path:line for anything but one plain document: cut or broken YAML, conflict markers,
    duplicate keys, anchors, aliases, tags. `advice` says what to do about it.
    """
    marker = _CONFLICT.search(text)
    if marker:
        line = text.count("\n", 0, marker.start()) + 1
        raise CaptureError(Problem(path, line, f"conflict marker{advice}", "conflict"))
    try:
        events = iter(_parsed(text, path, advice))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise CaptureError(
            Problem(path, line, f"not valid YAML: {error.problem or error.context}{advice}", "yaml")
        ) from error
    except yaml.YAMLError as error:  # a control character, named without its position
        raise CaptureError(Problem(path, 0, f"not valid YAML: {str(error).splitlines()[0]}{advice}", "yaml")) from error
    return _Reader(events, path, advice).document()


def _parsed(text: str, path: str, advice: str) -> list[Any]:
    """Return the events of a document; raises CaptureError where it is nested so deeply that memory would not do."""
    events, depth = [], 0
    for event in yaml.parse(text, Loader=PARSER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > 50 * _DEEPEST:
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise CaptureError(Problem(path, line, f"nested too deeply{advice}", "yaml"))
        events.append(event)
    return events


class _Reader:
    """Builds plain data from parser events, so that every refusal has a line."""

    def __init__(self, events: Iterator[Any], path: str, advice: str) -> None:
        self.events, self.path, self.advice = events, path, advice
        self.lines: dict[str, int] = {}

    def refuse(self, event: Any, message: str, rule: str = "yaml") -> CaptureError:
        """Return the error for an event."""
        return CaptureError(Problem(self.path, self.line(event), f"{message}{self.advice}", rule))

    @staticmethod
    def line(event: Any) -> int:
        """Return the line, counted from 1, on which an event starts."""
        number: int = event.start_mark.line
        return number + 1

    def document(self) -> tuple[Any, dict[str, int]]:
        """Read exactly one document."""
        next(self.events)
        event = next(self.events)
        if not isinstance(event, yaml.DocumentStartEvent):
            raise CaptureError(Problem(self.path, 1, f"the file is empty{self.advice}", "yaml"))
        data = self.node(next(self.events), "", 0)
        next(self.events)
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            raise self.refuse(event, "a second document in the file")
        return data, self.lines

    def node(self, event: Any, where: str, depth: int) -> Any:
        """Build one node; `where` is its dotted name."""
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self.refuse(event, "anchors and aliases are not allowed", "anchor")
        if depth > _DEEPEST:
            raise self.refuse(event, "nested too deeply")
        scalar = isinstance(event, yaml.ScalarEvent)
        if event.tag is not None and not (scalar and event.tag == "!"):
            raise self.refuse(event, f"tags are not allowed ({event.tag})")
        if where not in self.lines:
            self.lines[where] = self.line(event)
        if scalar:
            return self.scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(item := next(self.events), yaml.SequenceEndEvent):
                items.append(self.node(item, f"{where}[{len(items)}]", depth + 1))
            return items
        result: dict[Any, Any] = {}
        seen: dict[Any, int] = {}
        while not isinstance(key_event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(key_event, yaml.ScalarEvent):
                raise self.refuse(key_event, "a key must be plain text")
            key = self.node(key_event, f"{where}.?", depth + 1)
            line = self.line(key_event)
            if key in seen:
                raise self.refuse(key_event, f'key "{key}" is here and on line {seen[key]}', "duplicate-key")
            seen[key] = line
            name = f"{where}.{key}" if where else str(key)
            self.lines[name] = line
            result[key] = self.node(next(self.events), name, depth + 1)
        return result

    def scalar(self, event: yaml.ScalarEvent) -> Any:
        """Resolve a plain scalar as YAML 1.1 does; quoted and block ones are text."""
        if event.style == '"' and _SURROGATE.search(event.value):
            raise self.refuse(event, "holds half of a character")
        if not event.implicit[0]:
            return event.value
        try:
            return _plain(event.value)
        except (yaml.YAMLError, ValueError, OverflowError, KeyError) as error:
            raise self.refuse(event, f"cannot read {event.value[:40]!r}") from error


@functools.lru_cache(maxsize=4096)  # field names and most words come again in every record
def _plain(text: str) -> Any:
    """Resolve a plain scalar as YAML 1.1 does; all its types are immutable."""
    tag: str = _PLAIN.resolve(yaml.ScalarNode, text, (True, False))
    if tag == "tag:yaml.org,2002:str":
        return text
    if len(text) > _LONGEST_SCALAR:
        raise ValueError("no number and no date is that long")
    # The constructor itself: `construct_object` would remember every scalar for ever.
    value = yaml.SafeLoader.yaml_constructors[tag](_PLAIN, yaml.ScalarNode(tag, text))
    if type(value) is int and value.bit_length() > 64:
        raise ValueError("no number of ours is that large")
    return value
