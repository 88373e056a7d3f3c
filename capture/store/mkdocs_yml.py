"""mkdocs.yml as plain data: what it says, without importing anything that it names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from capture.errors import CaptureError, Problem
from capture.store.paths import Handbook
from capture.store.records import read_text
from capture.store.yaml_text import PARSER

CONFIG = "mkdocs.yml"
_DEEPEST = 40  # levels of settings within settings; a nav of books, parts and chapters has ten
_MOST_SETTINGS = 20_000  # once aliases stand for what they name: a few lines of them can stand for millions
Place = tuple[str | int, ...]
"""The keys and positions that lead to a setting, as ("markdown_extensions", 3, "toc")."""


@dataclass(frozen=True)
class SettingPlaces:
    """Where the settings of mkdocs.yml stand: a line for each, and which of them are read from the environment."""

    lines: Mapping[Place, int] = field(default_factory=dict)
    variables: Mapping[Place, tuple[str, ...]] = field(default_factory=dict)

    def line(self, place: Place) -> int:
        """Return the line of a setting, or of what it stands in; 1 for one that came from nowhere."""
        return next((self.lines[place[:end]] for end in range(len(place), -1, -1) if place[:end] in self.lines), 1)


class PythonName(str):
    """The dotted name behind a `!!python/name:` tag; who needs the object resolves it."""

    __slots__ = ()


class _Loader(yaml.SafeLoader):
    """Reads plain YAML plus the three tags that MkDocs knows."""

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        super().__init__(text)
        self.variables = variables

    def python_name(self, suffix: str, _: yaml.Node) -> PythonName:
        """Keep the name as text."""
        return PythonName(suffix)

    def environment(self, node: yaml.Node) -> Any:
        """Return the first variable that is set, typed as YAML types it, else the last item of the list."""
        if isinstance(node, yaml.ScalarNode):
            names, default = [node.value], None
        elif isinstance(node, yaml.SequenceNode) and node.value:
            names = [str(child.value) for child in node.value]
            default = None
            if len(names) > 1:
                default = self.construct_object(node.value[-1], deep=True)
                names = names[:-1]
        else:
            raise yaml.constructor.ConstructorError(
                None, None, "!ENV takes a name, or a list of names and a default", node.start_mark
            )
        for name in names:
            if name in self.variables:
                text = self.variables[name]
                untyped: Any = self
                tag = untyped.resolve(yaml.ScalarNode, text, (True, False))
                return untyped.construct_object(yaml.ScalarNode(tag, text), deep=True)
        return default

    def relative(self, node: yaml.Node) -> str:
        """Keep the text of a path; only MkDocs can anchor it."""
        return str(node.value)


_Loader.add_multi_constructor("tag:yaml.org,2002:python/name:", _Loader.python_name)
_Loader.add_constructor("!ENV", _Loader.environment)
_Loader.add_constructor("!relative", _Loader.relative)


def read_site_config(book: Handbook, variables: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return mkdocs.yml as plain data.

    `!ENV` is resolved as MkDocs does, from the environment unless other `variables` are given; a `!!python/name:` tag
    becomes a `PythonName`; any other tag is an error. Raises CaptureError at mkdocs.yml:line.
    """
    return read_located_config(book, variables)[0]


def read_located_config(
    book: Handbook, variables: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], SettingPlaces]:
    """Return mkdocs.yml as `read_site_config` does, and where each of its settings stands."""
    text = read_text(book.root / CONFIG, CONFIG)
    try:
        _require_flat(text)
        loader = _Loader(text, os.environ if variables is None else variables)
        node = loader.get_single_node()
        places = _places(node)
        data = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _unreadable(mark.line + 1 if mark else 0, error.problem or error.context) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise _unreadable(0, str(error).splitlines()[0]) from error
    if data is None:  # an empty file says only that this folder is a handbook
        return {}, places
    if not isinstance(data, dict):
        raise CaptureError(Problem(CONFIG, 1, "holds no settings; start from the mkdocs.yml of the handbook", "site"))
    return data, places


def _require_flat(text: str) -> None:
    """Raise a YAMLError at the line from which YAML nests so deeply that what builds its data would not come back."""
    depth = 0
    for event in yaml.parse(text, Loader=PARSER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise yaml.YAMLError(f"nested too deeply on line {line}")


def _places(root: yaml.Node | None) -> SettingPlaces:
    """Return where everything below a node stands; raises a YAMLError where aliases make more of it than is fair."""
    lines: dict[Place, int] = {}
    variables: dict[Place, tuple[str, ...]] = {}
    waiting: list[tuple[Place, int, yaml.Node]] = [((), 1, root)] if root is not None else []
    while waiting:
        place, line, node = waiting.pop()
        lines.setdefault(place, line)
        if len(place) > _DEEPEST or len(lines) > _MOST_SETTINGS:
            reason = "holds too much once its aliases are filled in"
            raise yaml.constructor.ConstructorError(None, None, reason, node.start_mark)
        if node.tag == "!ENV":
            variables[place] = tuple(_variable_names(node))
        else:
            waiting += [((*place, key), where, child) for key, where, child in _children(node)]
    return SettingPlaces(lines, variables)


def _children(node: yaml.Node) -> Iterator[tuple[str | int, int, yaml.Node]]:
    """Yield key or position, line and node of what a node holds; keys that are tables count as text."""
    if isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            yield str(key.value) if isinstance(key, yaml.ScalarNode) else "?", key.start_mark.line + 1, child
    elif isinstance(node, yaml.SequenceNode):
        for position, child in enumerate(node.value):
            yield position, child.start_mark.line + 1, child


def _variable_names(node: yaml.Node) -> Iterator[str]:
    """Yield the variables that an `!ENV` reads; the last item of a list is its default."""
    if isinstance(node, yaml.ScalarNode):
        yield str(node.value)
    elif isinstance(node, yaml.SequenceNode):
        yield from (str(child.value) for child in (node.value[:-1] if len(node.value) > 1 else node.value))


def read_front_matter(text: str) -> dict[str, Any]:
    """Return a page's front matter as plain data; empty, as MkDocs takes it, where it is no table in YAML."""
    plain = text.strip().strip("-.")
    try:
        _require_flat(plain)
        data = yaml.load(plain, Loader=PARSER)  # safe, and of libyaml where there is one
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _unreadable(line: int, reason: str | None) -> CaptureError:
    """Return the error for a file that is no YAML, or has a tag of its own."""
    return CaptureError(Problem(CONFIG, line, f"cannot be read: {reason}; mend it", "site"))


def config_line(book: Handbook, key: str) -> int:
    """Return the line of mkdocs.yml on which a key first stands, 0 where none does."""
    text = read_text(book.root / CONFIG, CONFIG)
    lines = enumerate(text.splitlines(), 1)
    return next((number for number, line in lines if line.strip().startswith(f"{key}:")), 0)
