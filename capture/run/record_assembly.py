"""From a snippet to a request for the engine, and from its outcome to a record."""

from __future__ import annotations

import ast
import datetime
import re
import tempfile
from pathlib import Path, PurePosixPath

from capture.errors import CaptureError
from capture.host.probe import facts
from capture.record import masks, text_rules
from capture.record.record import SCHEMA, Elision, Record, Runs
from capture.run import advice
from capture.run.engine import contract
from capture.run.engine.contract import CapturedStream, ExecutionOutcome, ExecutionRequest
from capture.run.preflight import Prepared
from capture.snippet import header
from capture.snippet.bounded_reading import read_regular
from capture.snippet.snippet import Snippet
from capture.snippet.source_file import SOURCE_LIMIT, read_declared

SPAWN_ERROR = "An attempt has been made to start a new process before the"
SPAWN_HINT = 'missing __main__ guard: put what starts processes under if __name__ == "__main__":'


class SourceChanged(CaptureError):
    """A snippet's file, or one that it reads, is not what it was when the run was planned."""


def request(prepared: Prepared, snippet: Snippet) -> ExecutionRequest:
    """Return what the engine is asked for: the script with its helpers and files in a folder of their own.

    What is executed is what the snippet's digest was taken of. Raises SourceChanged where it is there no longer.
    """
    folder = (prepared.book.root / snippet.path).parent
    names = {PurePosixPath(name).as_posix(): name for name in (*snippet.imports, *snippet.files)}
    script = PurePosixPath(snippet.path).name
    try:
        text = read_regular(folder / script, SOURCE_LIMIT)
        files = {name: read_declared(folder, written) for name, written in names.items()}
    except (OSError, CaptureError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise SourceChanged(f"changed while running: {why}; run again") from error
    if header.digest_of(text, {name: files[written] for written, name in names.items()}, snippet) != snippet.digest:
        raise SourceChanged("changed while running: its source is not the one that was planned; run again")
    return ExecutionRequest(
        python=prepared.interpreter.path, script=script, files={script: text, **files}, env=snippet.env,
        timeout=snippet.timeout, memory=prepared.memory, seed=snippet.seed,
        seeded=tuple(name for name in ("numpy", "torch") if name in snippet.packages),
    )  # fmt: skip


def record(prepared: Prepared, snippet: Snippet, outcome: ExecutionOutcome) -> Record:
    """Return the record of one execution, without its digest; runs and conditions are filled in by the runner."""
    where = places(prepared, outcome)
    stdout, changed_out = masks.applied(snippet.mask, *text_rules.clean(joined(outcome.stdout), where))
    stderr, changed_err = masks.applied(snippet.mask, *text_rules.clean(joined(outcome.stderr), where))
    diagnostics, _ = text_rules.clean(outcome.diagnostics.encode(), where)
    status = contract.status(outcome, snippet.exit)
    return Record(
        schema=SCHEMA,
        snippet=snippet.id,
        source_sha256=snippet.digest,
        host=prepared.host.label,
        captured=datetime.datetime.now(datetime.UTC).date().isoformat(),
        environment=facts.environment(prepared.host, prepared.facts, snippet.packages),
        upstream={name: digest for name in snippet.upstream if (digest := prepared.facts.upstream.get(name))},
        runs=Runs(1),
        status=status,
        exit_code=outcome.code if outcome.code >= 0 and not outcome.stopped else None,
        normalized=tuple(dict.fromkeys((*changed_out, *changed_err))),
        content_sha256="",
        stdout=stdout,
        stderr=stderr,
        signal=None if outcome.stopped else contract.signal_name(outcome.code),
        phase="compile" if status == "error" and not compiles(snippet.source) else None,
        hint=SPAWN_HINT if status != "ok" and SPAWN_ERROR in stderr else None,
        left_processes=outcome.left_processes or None,
        elided={
            name: Elision(stream.total, stream.left_out)
            for name, stream in (("stdout", outcome.stdout), ("stderr", outcome.stderr))
            if stream.left_out
        },
        diagnostics=diagnostics or None,
    )


def places(prepared: Prepared, outcome: ExecutionOutcome) -> text_rules.Places:
    """Return the folders of this machine that must not appear in the text of an outcome."""
    interpreter = prepared.interpreter
    system = tempfile.gettempdir()
    return text_rules.Places(
        work=_with_targets(outcome.work),
        temporary=_with_targets(f"{outcome.temporary}/tmp", outcome.temporary, system),
        home=_with_targets(outcome.home, *prepared.homes),
        libraries=_with_targets(*interpreter.libraries),
        # A prefix such as /usr holds more than Python; only deep ones name this installation.
        python=_with_targets(*(path for path in interpreter.prefixes if len(Path(path).parts) > 3)),
        user=prepared.user,
    )


def _with_targets(*folders: str) -> tuple[str, ...]:
    """Return folders together with what they resolve to (macOS keeps /tmp behind a link)."""
    return text_rules.with_real_paths(*folders, *(str(Path(folder).resolve()) for folder in folders if folder))


def joined(stream: CapturedStream) -> bytes:
    """Return head and tail with a line between them that counts what is left out."""
    if not stream.left_out:
        return stream.head + stream.tail
    gap = b"" if stream.head.endswith(b"\n") or not stream.head else b"\n"
    return stream.head + gap + text_rules.elision_line(stream.left_out, stream.total).encode() + stream.tail


def compiles(source: str) -> bool:
    """Tell whether the source parses."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def _place_words(item: Record) -> str:
    """Return ` at name.py:5`, the line of the snippet where it stood, or nothing where no report tells."""
    name = re.escape(item.snippet.split("/")[1])
    found = re.search(rf'^ *File "({name}\.py)", line (\d+)', item.diagnostics or "", re.MULTILINE)
    return f" at {found[1]}:{found[2]}" if found else ""


def failure_words(item: Record) -> str:
    """Say in one line how a failed execution ended, with its last words."""
    last = advice.last_words(item.stderr)
    match item.status:
        case "crashed":
            return f"crashed{_place_words(item)}: ended by {item.signal}; {last}"
        case "timeout":
            return f"timeout: reached its time limit{_place_words(item)}; raise it in the header, or do less"
        case "output_limit":
            return "output_limit: printed more than 64 MiB"
        case "out_of_memory":
            return "out_of_memory: needed more memory than this host gives a snippet"
        case _:
            form = "did not compile" if item.phase else f"exit {item.exit_code}"
            mending = advice.mending(item.stderr)
            return f"{item.status}: {form}; {item.hint or last}{f'; {mending}' if mending else ''}"
