"""Validates what a header says, key by key, and makes a snippet of it."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from capture.errors import CaptureError, suggestion
from capture.snippet import claim_syntax
from capture.snippet.compare_rules import compare_rules
from capture.snippet.header_problems import HeaderProblems
from capture.snippet.option_types import (
    is_dotted_names,
    is_env,
    is_exit_code,
    is_line,
    is_masks,
    is_pins,
    is_preloads,
    is_range,
    is_seed,
    is_table,
    is_texts,
    is_timeout,
)
from capture.snippet.pattern import Allowance, Pattern
from capture.snippet.snippet import (
    GATES,
    MASKS,
    MODULE_GATE,
    PRELOADS,
    Claim,
    Snippet,
    run_options,
    why_shadowing,
)
from capture.snippet.source_file import digest, file_digest, local_imports, read_declared

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_KEYS = (
    "title", "needs", "timing", "timeout", "exit", "files", "env", "seed", "mask", "share_compiled", "preload",
    "upstream", "values", "compare", "claims",
)  # fmt: skip
_CLAIM_ID = re.compile(r"[a-z][a-z0-9-]*")


class Header:
    """Validates one header; collects every problem before it raises."""

    def __init__(
        self,
        root: Path,
        path: str,
        snippet_id: str,
        source: str,
        first: int,
        data: dict[str, Any],
        lines: dict[str, int],
        words: list[str] | None,
        patterns: Mapping[str, int | str],
        allowance: Allowance,
    ) -> None:
        self.root, self.path, self.id, self.source, self.first = root, path, snippet_id, source, first
        self.data, self.lines, self.words = data, lines, words
        self.patterns, self.allowance = patterns, allowance
        self.problems = HeaderProblems(path, lines, first)

    def options(self) -> Mapping[str, Any]:
        """Return the table of options, none where it is no table; note keys that are not known, there and above it."""
        self.problems.note_unknown(self.data, "", ("requires-python", "dependencies", "tool"), "the script block")
        tool = self.data.get("tool", {})
        options = tool.get("capture", {}) if isinstance(tool, dict) else {}
        if not isinstance(options, dict):
            options = {}
        if isinstance(tool, dict) and len(near := [key for key in tool if key != "capture"]) and "capture" not in tool:
            self.problems.note(f"tool.{near[0]}", f"no [tool.capture] table{suggestion(near[0], ['capture'])}")
        self.problems.note_unknown(options, "tool.capture.", _KEYS, "[tool.capture]")
        return options

    def snippet(self) -> Snippet:
        """Return the snippet, or raise CaptureError with all problems."""
        options = self.options()

        def option(key: str, check: Callable[[Any], bool], form: str, default: Any) -> Any:
            return self.problems.checked(options, "tool.capture.", key, check, form, default)

        python, dependencies = self.requirements()
        files = option("files", is_texts, "a list of file names", [])
        env = option("env", is_env, "a table of names to text", {})
        exit_code = option("exit", is_exit_code, "a whole number, 0 to 255", 0)
        chapter = self.id.split("/")[0]
        imports = local_imports(self.root, chapter, self.source, self.words)
        values = self.values(options)
        seed = option("seed", is_seed, "a whole number, 0 to 4294967295", None)
        mask = option("mask", is_masks, f"a list of {', '.join(MASKS)}", [])
        runs_with = run_options(dependencies, exit_code, env, seed, mask)
        self.note_shadowing([self.path, *imports], dependencies)
        snippet = Snippet(
            id=self.id,
            path=self.path,
            source=self.source,
            header_line=self.first,
            digest=digest(self.source, runs_with, self.file_digests(chapter, files, imports)),
            title=self.title(options),
            requires_python=python,
            dependencies=tuple(dependencies),
            needs=self.needs(options),
            timing=option("timing", lambda value: type(value) is bool, "true or false", False),
            timeout=float(option("timeout", is_timeout, "seconds, up to 3600", 120)),
            exit=exit_code,
            files=tuple(files),
            imports=imports,
            env=env,
            seed=seed,
            mask=tuple(mask),
            share_compiled=option("share_compiled", lambda value: type(value) is bool, "true or false", False),
            preload=tuple(option("preload", is_preloads, f"a list of {', '.join(PRELOADS)}", [])),
            upstream=tuple(option("upstream", is_dotted_names, "a list of dotted names", [])),
            values=values,
            compare=compare_rules(self.problems, options, values, self.pattern),
            claims=self.claims(options, values),
            lines=self.lines,
        )
        if self.problems.noted:
            raise CaptureError(*sorted(self.problems.noted))
        return snippet

    def requirements(self) -> tuple[str, list[str]]:
        """Return the checked range of Python versions and the dependencies."""
        checked, data = self.problems.checked, self.data
        return (
            checked(data, "", "requires-python", is_range, "a version range such as '>=3.11'", ">=3.11"),
            checked(data, "", "dependencies", is_pins, "a list of pins such as 'torch>=2.2'", []),
        )

    def title(self, options: Mapping[str, Any]) -> str:
        """Return the checked title; the id stands for one that is missing or wrong."""
        if "title" not in options:
            self.problems.note("tool.capture", "title is missing; say in a few words what the reader will see")
        return self.problems.checked(options, "tool.capture.", "title", is_line, "one line of text", None) or self.id

    def file_digests(self, chapter: str, files: Iterable[str], imports: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 of each declared or imported file, with LF line ends where it is text."""
        result = {}
        for name in [*files, *imports]:
            try:
                result[name] = file_digest(read_declared(self.root / "snippets" / chapter, name))
            except CaptureError as error:
                self.problems.note("tool.capture.files", str(error))
        return result

    def note_shadowing(self, paths: Iterable[str], dependencies: Iterable[str]) -> None:
        """Note each file that Python would import in place of a standard module or a dependency."""
        for path in paths:
            if why := why_shadowing(PurePosixPath(path).stem, dependencies):
                self.problems.note("", why)

    def needs(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the checked gates."""
        gates = self.problems.checked(options, "tool.capture.", "needs", is_texts, "a list of gates", [])
        for gate in gates:
            bare = gate.removeprefix("!")
            if bare not in GATES and not MODULE_GATE.fullmatch(bare):
                self.problems.note(
                    "tool.capture.needs", f'unknown gate "{gate}"{suggestion(bare, (*GATES, "module:NAME"))}'
                )
        return tuple(gates)

    def values(self, options: Mapping[str, Any]) -> dict[str, Pattern]:
        """Return the checked value patterns."""
        table = self.problems.checked(options, "tool.capture.", "values", is_table, "a table", {})
        result = {}
        for name, pattern in table.items():
            key = f"tool.capture.values.{name}"
            if not _NAME.fullmatch(name) or name in claim_syntax.WORDS or keyword.iskeyword(name):
                self.problems.note(
                    key, f'value "{name}": use lower-case letters, digits and _, and no word of the language'
                )
            elif (compiled := self.pattern(key, pattern)) is not None:
                if compiled.groups != 1:
                    self.problems.note(
                        key, f'value "{name}": the pattern has {compiled.groups} groups; give it exactly one'
                    )
                else:
                    result[name] = compiled
        return result

    def pattern(self, key: str, pattern: object) -> Pattern | None:
        """Return a checked pattern, or note what is wrong with it."""
        if not isinstance(pattern, str):
            self.problems.note(key, "a pattern is text")
            return None
        groups = self.patterns[pattern]
        if isinstance(groups, str):
            self.problems.note(key, groups)
            return None
        return Pattern(pattern, groups, self.allowance)

    def claims(self, options: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Claim, ...]:
        """Return the checked claims."""
        table = self.problems.checked(options, "tool.capture.", "claims", is_table, "a table of tables", {})
        result = []
        for name, claim in table.items():
            at = f"tool.capture.claims.{name}"
            if not _CLAIM_ID.fullmatch(name):
                self.problems.note(at, f'claim "{name}": use lower-case letters, digits and -')
            if not isinstance(claim, dict):
                self.problems.note(at, f'claim "{name}" must be a table with says and holds')
                continue
            self.problems.note_unknown(claim, f"{at}.", ("says", "holds", "where"), f"claim {name}")
            says = self.problems.checked(claim, f"{at}.", "says", is_line, "one sentence", None)
            if says is None and "says" not in claim:
                self.problems.note(at, f'claim "{name}" lacks says')
            if "holds" not in claim:
                self.problems.note(at, f'claim "{name}" lacks holds')
            holds = self.expression(f"{at}.holds", claim.get("holds"), values, "value")
            where = self.expression(f"{at}.where", claim.get("where"), claim_syntax.FACTS, "fact")
            if says and holds:
                result.append(Claim(name, says, holds, where))
        return tuple(result)

    def expression(self, key: str, text: object, names: Iterable[str], what: str) -> claim_syntax.Expression | None:
        """Parse an expression over the known names, or note the position of what is wrong."""
        if text is None:
            return None
        if not isinstance(text, str):
            self.problems.note(key, "an expression is text")
            return None
        try:
            return claim_syntax.parse(text, names, what)
        except claim_syntax.ExpressionError as error:
            self.problems.note(key, f"{key.rsplit('.', 1)[1]}, column {error.column}: {error.message}")
            return None
