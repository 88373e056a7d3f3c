"""Templates as bytecode: kept of earlier builds, and compiled by a second process while this one reads the records."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import jinja2
from jinja2 import bccache

from capture import store
from capture.site import helper
from capture.site.model import templates

NAMED = re.compile(r"\{%-?\s*(?:include|import|extends|from)\b[^%\"]*\"([^\"]+\.\w+)\"")
START = ("404.html", "main.html")


class Bytecode(bccache.BytecodeCache):
    """Compiled templates, of which Jinja sees that their source is the same."""

    def __init__(self, cache: store.Cache) -> None:
        self.cache = cache

    def load_bytecode(self, bucket: bccache.Bucket) -> None:
        """Fill a bucket with what is known."""
        if known := self.cache.get(bucket.key):
            bucket.bytecode_from_string(bytes.fromhex(known))

    def dump_bytecode(self, bucket: bccache.Bucket) -> None:
        """Keep what was compiled."""
        self.cache.put(bucket.key, bucket.bytecode_to_string().hex())


class Ahead:
    """A second process that compiles templates: first those of cards and tables, then those of pages."""

    def __init__(self, cache: store.Cache, theme: jinja2.Environment) -> None:
        self.cache = cache
        self.helper: helper.Helper | None = None
        if cache.known or not helper.possible(helper.FEWEST):
            return
        own = templates.environment()

        def compiled(number: int) -> str:
            before = len(cache.used)
            for name in own.list_templates() if number else closure(theme, START):
                with contextlib.suppress(jinja2.TemplateError):
                    (own if number else theme).get_template(name)
            return "\n".join(f"{key} {packed}" for key, packed in list(cache.used.items())[before:])

        self.helper = helper.begin(2, work=compiled)

    def take(self, number: int) -> None:
        """Take over those of cards and tables, 1, or those of pages, 0."""
        for row in self.helper.result(number).splitlines() if self.helper else ():
            key, packed = row.split(" ")
            self.cache.adopt(key, packed)

    def close(self) -> None:
        """End the process."""
        if self.helper:
            self.helper.close()
        self.helper = None


def closure(env: jinja2.Environment, start: Iterable[str]) -> Iterator[str]:
    """Yield templates, and those that they name, each once; whatever else they need is compiled when it is used."""
    left, seen = list(start), set(start)
    loader = env.loader
    while left and loader:
        name = left.pop()
        with contextlib.suppress(jinja2.TemplateNotFound):
            found = [other for other in NAMED.findall(loader.get_source(env, name)[0]) if other not in seen]
            seen.update(found)
            left += found
            yield name


class Pruned(jinja2.FileSystemLoader):
    """Lists no template in a folder whose name begins with a dot: MkDocs leaves out Material's 12,000 icons."""

    def list_templates(self) -> list[str]:
        """Return the names of the others."""
        found: set[str] = set()
        for folder in self.searchpath:
            for parent, inner, names in os.walk(folder, followlinks=self.followlinks):
                inner[:] = [name for name in inner if not name.startswith(".")]
                start = os.path.relpath(parent, folder).replace(os.sep, "/")
                found.update(name if start == "." else f"{start}/{name}" for name in names)
        return sorted(found)


def quicken(theme: Any, cache: store.Cache) -> None:
    """Let a theme of MkDocs make an environment that lists less and keeps what it compiles."""
    make = theme.get_env

    def environment() -> jinja2.Environment:
        env: jinja2.Environment = make()
        if type(env.loader) is jinja2.FileSystemLoader:
            env.loader = Pruned(env.loader.searchpath)
        env.bytecode_cache = Bytecode(cache)
        return env

    theme.get_env = environment
