"""mkdocs.yml as plain data: what it says, without importing anything that it names."""

from __future__ import annotations

import os
from typing import Any

import yaml

from capture.errors import CaptureError, Problem
from capture.store.paths import Handbook
from capture.store.records import read_text
from capture.store.yaml_text import PARSER

CONFIG = "mkdocs.yml"


class PythonName(str):
    """The dotted name behind a `!!python/name:` tag; who needs the object resolves it."""

    __slots__ = ()


class _Loader(yaml.SafeLoader):
    """Reads plain YAML plus the three tags that MkDocs knows."""

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
            if name in os.environ:
                text = os.environ[name]
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


def read_site_config(book: Handbook) -> dict[str, Any]:
    """Return mkdocs.yml as plain data.

    `!ENV` is resolved as MkDocs does, a `!!python/name:` tag becomes a `PythonName`; any other tag is an error.
    Raises CaptureError at mkdocs.yml:line.
    """
    text = read_text(book.root / CONFIG, CONFIG)
    try:
        data = yaml.load(text, _Loader)  # a SafeLoader with three harmless tags
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _unreadable(mark.line + 1 if mark else 0, error.problem or error.context) from error
    except (yaml.YAMLError, ValueError) as error:
        raise _unreadable(0, str(error).splitlines()[0]) from error
    if data is None:  # an empty file says only that this folder is a handbook
        return {}
    if not isinstance(data, dict):
        raise CaptureError(Problem(CONFIG, 1, "holds no settings; start from the mkdocs.yml of the handbook", "site"))
    return data


def read_front_matter(text: str) -> dict[str, Any]:
    """Return a page's front matter as plain data; empty, as MkDocs takes it, where it is no table in YAML."""
    try:
        data = yaml.load(text.strip().strip("-."), Loader=PARSER)  # safe, and of libyaml where there is one
    except (yaml.YAMLError, ValueError):
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
