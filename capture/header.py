"""The header of a snippet: a PEP 723 block at the end of the file, read and validated key by key."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from capture import expression, versions
from capture.errors import CaptureError, Problem, suggestion
from capture.snippet import GATES, MODULE_GATE, PIN, PRELOADS, SNIPPET_ID, Claim, Compare, Snippet

NAME = re.compile(r"[a-z][a-z0-9_]*")
CLAIM_ID = re.compile(r"[a-z][a-z0-9-]*")
ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# PEP 723: a comment block of its own, opened and closed by these lines.
OPENING = re.compile(r"^# /// script[ \t]*$", re.MULTILINE)


def parse(root: Path, path: Path) -> Snippet:
    """Read `snippets/<chapter>/<name>.py`.

    Raises CaptureError with every problem found, each at its line.
    """
    relative = path.relative_to(root).as_posix()
    snippet_id = path.relative_to(root / "snippets").with_suffix("").as_posix()
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaptureError(Problem(relative, 0, f"is not UTF-8 ({error.reason} at byte {error.start})")) from error
    except OSError as error:
        raise CaptureError(Problem(relative, 0, f"cannot be read: {error.strerror}")) from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not SNIPPET_ID.fullmatch(snippet_id):
        raise CaptureError(
            Problem(relative, 0, "name it snippets/<chapter>/<name>.py, with lower-case letters, digits and _")
        )
    source, toml, first = split(text, relative)
    try:
        data = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        line = error_line(str(error))
        raise CaptureError(
            Problem(relative, first + line, f"the header is not valid TOML: {re.sub(r' [(]at .*', '', str(error))}")
        ) from error
    return Header(root, relative, snippet_id, source, first, data, key_lines(toml, first)).snippet()


def split(text: str, relative: str) -> tuple[str, str, int]:
    """Return (source above the block, TOML of the block, line number of its opening)."""
    openings = list(OPENING.finditer(text))
    if not openings:
        raise CaptureError(
            Problem(relative, text.count("\n") + 1, 'no header; end the file with a "# /// script" block, as `capture new` writes')
        )
    if len(openings) > 1:
        line = text.count("\n", 0, openings[1].start()) + 1
        raise CaptureError(Problem(relative, line, "a second header block; keep one, at the end"))
    start = openings[0].start()
    first = text.count("\n", 0, start) + 1
    lines = text[start:].split("\n")
    closing = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "# ///"), None)
    if closing is None:
        raise CaptureError(Problem(relative, first, 'the header is not closed; end it with a line "# ///"'))
    toml = []
    for number, line in enumerate(lines[1:closing], first + 1):
        if line.rstrip() != "#" and not line.startswith("# "):
            raise CaptureError(Problem(relative, number, 'every header line starts with "# "'))
        toml.append(line[2:])
    for number, line in enumerate(lines[closing + 1 :], first + closing + 1):
        if line.strip():
            raise CaptureError(
                Problem(relative, number, "code below the header; the block stands last, so that line numbers agree everywhere")
            )
    return text[:start].rstrip("\n") + "\n", "\n".join(toml), first


def error_line(message: str) -> int:
    """Return the line that a TOML error names, 1 where it names none."""
    match = re.search(r"at line (\d+)", message)
    return int(match[1]) if match else 1


def key_lines(toml: str, first: int) -> dict[str, int]:
    """Map dotted header keys to their line in the file; inline tables count with their key."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(toml.split("\n"), first + 1):
        if match := re.match(r"\s*\[([^\[\]]+)\]\s*(#.*)?$", line):
            table = match[1].replace(" ", "").replace('"', "")
            found.setdefault(table, number)
        elif match := re.match(r'\s*"?([A-Za-z0-9_-]+)"?\s*=', line):
            found.setdefault(f"{table}.{match[1]}".lstrip("."), number)
    return found


def local_imports(root: Path, chapter: str, source: str) -> tuple[str, ...]:
    """Name the files beside the snippet that it imports, directly or through each other."""
    folder = root / "snippets" / chapter
    found: dict[str, None] = {}
    pending = [source]
    while pending:
        try:
            tree = ast.parse(pending.pop())
        except (SyntaxError, ValueError):
            continue  # a snippet may be about an error; what it imports then does not matter
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                file = f"{name.split('.')[0]}.py"
                if file not in found and (folder / file).is_file():
                    found[file] = None
                    pending.append((folder / file).read_text("utf-8"))
    return tuple(sorted(found))


def digest(source: str, dependencies: Iterable[str], exit_code: int, env: Mapping[str, str], files: Mapping[str, str]) -> str:
    """Return SHA-256 of the source above the block plus the options that change what runs.

    `files` maps names to the SHA-256 of their bytes. Title, claims, values and compare rules take no part.
    """
    options = {"dependencies": sorted(dependencies), "exit": exit_code, "env": dict(env), "files": dict(files)}
    canonical = json.dumps(options, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(f"{source}\0{canonical}".encode("utf-8", "surrogatepass")).hexdigest()


class Header:
    """Validates one header; collects every problem before it raises."""

    KEYS = (
        "title", "needs", "timing", "timeout", "exit", "files", "env", "preload", "upstream", "values", "compare", "claims",
    )  # fmt: skip

    def __init__(
        self, root: Path, path: str, snippet_id: str, source: str, first: int, data: dict[str, Any], lines: dict[str, int]
    ) -> None:
        self.root, self.path, self.id, self.source, self.first = root, path, snippet_id, source, first
        self.data, self.lines = data, lines
        self.problems: list[Problem] = []

    def problem(self, key: str, message: str) -> None:
        """Note a problem at the line of the key, or of its nearest known parent."""
        parts = key.split(".")
        line = next(
            (self.lines[name] for end in range(len(parts), 0, -1) if (name := ".".join(parts[:end])) in self.lines),
            self.first,
        )
        self.problems.append(Problem(self.path, line, message))

    def take(self, table: Mapping[str, Any], prefix: str, key: str, check: Callable[[Any], bool], form: str, default: Any) -> Any:
        """Return a checked option, or note a problem and return the default."""
        if key not in table:
            return default
        if not check(table[key]):
            self.problem(f"{prefix}{key}", f"{key} must be {form}")
            return default
        return table[key]

    def unknown(self, table: Mapping[str, Any], prefix: str, known: Iterable[str], where: str) -> None:
        """Note every key that is not known, with the nearest one that is."""
        for key in table:
            if key not in known:
                self.problem(f"{prefix}{key}", f'unknown key "{key}" in {where}{suggestion(key, known)}')

    def snippet(self) -> Snippet:
        """Return the snippet, or raise CaptureError with all problems."""
        self.unknown(self.data, "", ("requires-python", "dependencies", "tool"), "the script block")
        tool = self.data.get("tool", {})
        options = tool.get("capture", {}) if isinstance(tool, dict) else {}
        if not isinstance(options, dict):
            options = {}
        if isinstance(tool, dict) and len(near := [key for key in tool if key != "capture"]) and "capture" not in tool:
            self.problem(f"tool.{near[0]}", f'no [tool.capture] table{suggestion(near[0], ["capture"])}')
        self.unknown(options, "tool.capture.", self.KEYS, "[tool.capture]")
        at = "tool.capture."
        python = self.take(self.data, "", "requires-python", is_specifier, "a version range such as '>=3.11'", ">=3.11")
        dependencies = self.take(
            self.data, "", "dependencies", lambda v: is_texts(v) and all(is_pin(pin) for pin in v), "a list of pins such as 'torch>=2.2'", []
        )
        title = self.take(options, at, "title", is_line, "one line of text", None)
        if title is None:
            if "title" not in options:
                self.problem("tool.capture", "title is missing; say in a few words what the reader will see")
            title = self.id
        files = self.take(options, at, "files", is_texts, "a list of file names", [])
        env = self.take(options, at, "env", is_env, "a table of names to text", {})
        exit_code = self.take(options, at, "exit", lambda v: type(v) is int and 0 <= v <= 255, "a whole number, 0 to 255", 0)
        chapter = self.id.split("/")[0]
        imports = local_imports(self.root, chapter, self.source)
        values = self.values(options)
        compare = self.compare(options, values)
        snippet = Snippet(
            id=self.id, path=self.path, source=self.source, header_line=self.first,
            digest=digest(self.source, dependencies, exit_code, env, self.file_digests(chapter, files, imports)),
            title=title, requires_python=python, dependencies=tuple(dependencies), needs=self.needs(options),
            timing=self.take(options, at, "timing", lambda v: type(v) is bool, "true or false", False),
            timeout=float(self.take(options, at, "timeout", lambda v: is_number(v) and 0 < v <= 3600, "seconds, up to 3600", 120)),
            exit=exit_code, files=tuple(files), imports=imports, env=env,
            preload=tuple(self.take(options, at, "preload", lambda v: is_texts(v) and set(v) <= set(PRELOADS), f"a list of {', '.join(PRELOADS)}", [])),
            upstream=tuple(self.take(options, at, "upstream", lambda v: is_texts(v) and all(re.fullmatch(r"[\w.]+", n) for n in v), "a list of dotted names", [])),
            values=values, compare=compare, claims=self.claims(options, values), lines=self.lines,
        )  # fmt: skip
        if self.problems:
            raise CaptureError(*sorted(self.problems))
        return snippet

    def file_digests(self, chapter: str, files: Iterable[str], imports: Iterable[str]) -> dict[str, str]:
        """Return the SHA-256 of each declared or imported file, with LF line ends where it is text."""
        result = {}
        for name in [*files, *imports]:
            pure = PurePosixPath(name)
            if pure.is_absolute() or ".." in pure.parts or "\\" in name:
                self.problem("tool.capture.files", f'"{name}" leaves the folder of the snippet')
                continue
            path = self.root / "snippets" / chapter / name
            if not path.is_file():
                self.problem("tool.capture.files", f'no file "{name}" beside the snippet')
                continue
            result[name] = hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
        return result

    def needs(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the checked gates."""
        gates = self.take(options, "tool.capture.", "needs", is_texts, "a list of gates", [])
        for gate in gates:
            bare = gate.removeprefix("!")
            if bare not in GATES and not MODULE_GATE.fullmatch(bare):
                self.problem("tool.capture.needs", f'unknown gate "{gate}"{suggestion(bare, (*GATES, "module:NAME"))}')
        return tuple(gates)

    def values(self, options: Mapping[str, Any]) -> dict[str, re.Pattern[str]]:
        """Return the checked value patterns."""
        table = self.take(options, "tool.capture.", "values", lambda v: isinstance(v, dict), "a table", {})
        result = {}
        for name, pattern in table.items():
            key = f"tool.capture.values.{name}"
            if not NAME.fullmatch(name) or name in expression.WORDS:
                self.problem(key, f'value "{name}": use lower-case letters, digits and _, and no word of the language')
            elif (compiled := self.pattern(key, pattern)) is not None:
                if compiled.groups != 1:
                    self.problem(key, f'value "{name}": the pattern has {compiled.groups} groups; give it exactly one')
                else:
                    result[name] = compiled
        return result

    def pattern(self, key: str, pattern: object) -> re.Pattern[str] | None:
        """Compile a multi-line pattern, or note why not."""
        if not isinstance(pattern, str):
            self.problem(key, "a pattern is text")
            return None
        try:
            return re.compile(pattern, re.MULTILINE)
        except re.error as error:
            self.problem(key, f"not a regular expression: {error}")
            return None

    def compare(self, options: Mapping[str, Any], values: Mapping[str, Any]) -> Compare:
        """Return the checked compare rules."""
        at = "tool.capture.compare."
        table = self.take(options, "tool.capture.", "compare", lambda v: isinstance(v, dict), "a table", {})
        self.unknown(table, at, ("ratio", "relative", "spread", "volatile"), "[tool.capture.compare]")
        ratio = self.take(table, at, "ratio", lambda v: is_numbers(v, 1), "a table of value names to factors of at least 1", {})
        relative = self.take(table, at, "relative", lambda v: is_numbers(v, 0), "a table of value names to tolerances", {})
        for name in [*ratio, *relative]:
            declared = self.data["tool"]["capture"].get("values", {})
            if name not in declared:
                self.problem(f"{at}{'ratio' if name in ratio else 'relative'}", f'no value "{name}"{suggestion(name, values)}')
        volatile = self.take(table, at, "volatile", is_texts, "a list of patterns", [])
        compiled = [self.pattern(f"{at}volatile", pattern) for pattern in volatile]
        spread = self.take(table, at, "spread", lambda v: is_number(v) and v >= 1, "a factor of at least 1", 1.25)
        return Compare(ratio, relative, float(spread), tuple(pattern for pattern in compiled if pattern))

    def claims(self, options: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[Claim, ...]:
        """Return the checked claims."""
        table = self.take(options, "tool.capture.", "claims", lambda v: isinstance(v, dict), "a table of tables", {})
        result = []
        for name, claim in table.items():
            at = f"tool.capture.claims.{name}"
            if not CLAIM_ID.fullmatch(name):
                self.problem(at, f'claim "{name}": use lower-case letters, digits and -')
            if not isinstance(claim, dict):
                self.problem(at, f'claim "{name}" must be a table with says and holds')
                continue
            self.unknown(claim, f"{at}.", ("says", "holds", "where"), f"claim {name}")
            says = self.take(claim, f"{at}.", "says", is_line, "one sentence", None)
            if says is None and "says" not in claim:
                self.problem(at, f'claim "{name}" lacks says')
            if "holds" not in claim:
                self.problem(at, f'claim "{name}" lacks holds')
            holds = self.expression(f"{at}.holds", claim.get("holds"), values, "value")
            where = self.expression(f"{at}.where", claim.get("where"), expression.FACTS, "fact")
            if says and holds:
                result.append(Claim(name, says, holds, where))
        return tuple(result)

    def expression(self, key: str, text: object, names: Iterable[str], what: str) -> expression.Expression | None:
        """Parse an expression over the known names, or note the position of what is wrong."""
        if text is None:
            return None
        if not isinstance(text, str):
            self.problem(key, "an expression is text")
            return None
        try:
            return expression.parse(text, names, what)
        except expression.ExpressionError as error:
            self.problem(key, f"{key.rsplit('.', 1)[1]}, column {error.column}: {error.message}")
            return None


def is_line(value: object) -> bool:
    """Tell whether this is one non-empty line of text."""
    return isinstance(value, str) and bool(value.strip()) and "\n" not in value


def is_texts(value: object) -> bool:
    """Tell whether this is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_number(value: object) -> bool:
    """Tell whether this is a number and no bool."""
    return type(value) in (int, float)


def is_numbers(value: object, least: float) -> bool:
    """Tell whether this is a table of numbers, none below `least`."""
    return isinstance(value, dict) and all(is_number(item) and item >= least for item in value.values())


def is_env(value: object) -> bool:
    """Tell whether this is a table of environment names to text."""
    return isinstance(value, dict) and all(
        ENV_NAME.fullmatch(name) and isinstance(item, str) and "\0" not in item for name, item in value.items()
    )


def is_pin(value: str) -> bool:
    """Tell whether this is a dependency such as `torch>=2.2` (no extras, markers or addresses)."""
    match = PIN.fullmatch(value.strip())
    return bool(match) and (match["spec"] is None or is_specifier(match["spec"]))  # type: ignore[index]


def is_specifier(value: object) -> bool:
    """Tell whether this is a comma-separated list of version clauses."""
    return isinstance(value, str) and versions.is_specifier(value)
