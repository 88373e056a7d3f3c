"""`capture bundle` and `import`: captures in one file, for machines without git or a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from capture import store
from capture.check import rules
from capture.cli.context import handbook, say, tell
from capture.cli.progress import EXIT_INTERRUPTED
from capture.cli.run import HELP
from capture.errors import EXIT_ATTENTION, EXIT_OK, CaptureError, PrivacyRefused, nearest, plural
from capture.exchange import bundle as bundles
from capture.host.host import LOCAL
from capture.record import privacy
from capture.record.privacy import PRIVACY_RULES
from capture.review import bundle_import
from capture.review.bundle_import import ImportOutcome, IncomingBundle
from capture.run import preflight, shard
from capture.run.run_request import RunRequest, read_host
from capture.store import catalogue
from capture.store.catalogue import Catalogue

# What the summary tells of each kind, in this order; all but the first two are for a human to read.
WORDS = {
    "captured": "stored", "unchanged": "unchanged", "changed": "changed", "stale": "stored, but stale",
    "failed": "failures stored", "kept": "kept as they were", "left out": "left out",
}  # fmt: skip
QUIET = ("captured", "unchanged")


def bundle(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help=HELP["ids"])] = None,
    host: Annotated[str, typer.Option(metavar="LABEL", help="The host whose records are packed.")] = LOCAL,
    output: Annotated[str, typer.Option(metavar="FILE", help="captures-LABEL.tar.gz by default.")] = "",
    share: Annotated[str, typer.Option("--shard", metavar="K/N", help=HELP["shard"])] = "",
) -> None:
    """Pack a host's records and its facts into one file; `capture import` takes it.

    Exit code 0: packed. 2: invalid usage or data. 3: something personal or secret is stored.
    """
    book, part = handbook(context), shard.parse(share)
    if host == LOCAL:
        raise CaptureError("name the host to pack: --host LABEL; what is in local stays on this machine")
    selection = read_host(RunRequest(book, tuple(ids or ()), part), host)
    cat = selection.cat
    names = [name for name in selection.ids if (host, name) in cat.records]
    if part and not names and not cat.problems:  # a job of a matrix for which nothing is left
        say(f"share {part} has no record of {host}; nothing is packed")
        return
    if not names and not cat.problems:
        raise CaptureError(f"{host} has no record of what is selected; capture it first: capture run --host {host}")
    texts = {name: store.record_text(cat.records[host, name]) for name in names}
    facts = store.host_text(cat.hosts[host]) if host in cat.hosts else ""
    _require_sound(cat, host, {"host": facts, **texts})
    path = Path(output or f"captures-{host}.tar.gz").absolute()
    if path.is_dir():
        raise CaptureError(f"--output {output}: is a folder; name a file in it")
    store.write_bytes(book, path, bundles.pack(host, {"host": facts, **texts}))
    packed = f"{plural(len(names), 'record')} of {host}, {-(-path.stat().st_size // 1024):,} KiB"
    say(f"wrote {output or path.name}: {packed}; where the handbook is: capture import FILE")


def _require_sound(cat: Catalogue, label: str, texts: Mapping[str, str]) -> None:
    """Raise CaptureError, or PrivacyRefused, for what would be refused elsewhere, or must not leave this machine."""
    chosen = {key: item for key, item in cat.records.items() if key[0] == label and key[1] in texts}
    problems = [*cat.problems, *rules.check_host_file(cat, label)]
    problems += rules.check_record_files(replace(cat, records=chosen))
    who = preflight.own_names()
    for key, text in texts.items():
        problems += privacy.scan(text, bundles.path_of(label, key), who)
    if private := sorted({problem for problem in problems if problem.rule in PRIVACY_RULES}):
        raise PrivacyRefused(*private)
    if problems:
        raise CaptureError(*sorted(set(problems)))


def import_bundles(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What capture bundle wrote.")],
    accept_failure: Annotated[bool, typer.Option("--accept-failure", help=HELP["failure"])] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be stored, and store nothing.")] = False,
) -> None:
    """Take records out of bundles, after everything in them has been checked.

    Exit code 0: nothing to read. 1: something changed, is stale, failed, was kept or left out. 2: a bundle is damaged,
    of another machine under a label that is known here, or no bundle; nothing of any is stored. 3: refused for privacy.
    130: interrupted; what was stored stays.
    """
    book = handbook(context)
    came: list[IncomingBundle] = []
    for file in files:
        one = bundle_import.open_bundle(book, file, preflight.own_names())
        bundle_import.require_same_machine(one, _read_here(book, one.host.label), came)
        came.append(one)
    kinds = Counter[str]()
    for one in came:
        label = one.host.label
        with store.held(book, label, tell):
            cat = _read_here(book, label)
            bundle_import.require_same_machine(one, cat, ())
            new = "" if label in cat.hosts else f"; new host{nearest(label, published(book, label))}"
            taken: list[ImportOutcome] = []
            try:
                for item in bundle_import.import_records(one, cat, accept_failure, write=not dry_run):
                    taken.append(item)
                    kinds[item.kind] += 1
            except KeyboardInterrupt as error:
                done = f"{len(taken)} of {plural(len(one.records), 'record')} of {label} done"
                tell(f"{one.name}: interrupted: {done}; the same command goes on from here")
                raise typer.Exit(EXIT_INTERRUPTED) from error
        show(one, taken, dry_run, new)
    raise typer.Exit(EXIT_ATTENTION if kinds.keys() - set(QUIET) else EXIT_OK)


def _read_here(book: store.Handbook, label: str) -> Catalogue:
    """Return what is known here of a host."""
    return catalogue.read_handbook(book, labels=[label])


def published(book: store.Handbook, label: str) -> list[str]:
    """Return the other labels here, of which one may be meant."""
    return [name for name in book.labels() if name not in (label, LOCAL)]


def show(one: IncomingBundle, taken: Sequence[ImportOutcome], dry_run: bool, new: str) -> None:
    """Print what became of a bundle: counts, then everything that a human must read."""
    counts = Counter[str](item.kind for item in taken)
    told = ", ".join(f"{counts[kind]} {words}" for kind, words in WORDS.items() if counts[kind]) or "no record"
    say(f"{one.name}: {'would be: ' if dry_run else ''}{one.host.label}: {told}{new}")
    for kind in WORDS:
        for item in taken:
            if item.kind == kind and kind not in QUIET:
                say(f"  {kind:10} {item.snippet}: {item.message}")
