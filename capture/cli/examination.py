"""Every rule over a whole handbook: what `capture check` says where it has not said it before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from capture import store
from capture.check import rules
from capture.check.findings import Findings
from capture.check.verdict import Verdict
from capture.errors import CaptureError, Problem, suggestion
from capture.host.host import run_option
from capture.site.markdown import typed_figures
from capture.store import catalogue

NAMED = 8  # missing results that a note names; the others are counted


def of(book: store.Handbook, strict_stale: Sequence[str], records_only: bool) -> tuple[Verdict, list[str] | None]:
    """Return what all rules find, and the environment variables that had a part in it.

    None in their place where files outside the handbook may have had one.

    Raises CaptureError for the label of no host, and where pages cannot be rendered at all.
    """
    cat = catalogue.read(book)
    for label in strict_stale:
        if label not in cat.hosts:
            raise CaptureError(f'--strict-stale: no host "{label}"{suggestion(label, cat.hosts)}')
    page_problems: list[Problem] = []
    variables: list[str] | None = []
    if not records_only:
        from capture.site.markdown import page_check  # what checks records alone works without Markdown

        page_problems = [*page_check.check_pages(cat), *typed_figures.problems(book)]
        config, named = store.read_config(book)
        variables = named if page_check.read_nothing_else(config) else None
    found = rules.check(cat, strict_stale, page_problems)
    notes = (*(() if records_only else typed(book)), *summed(found.notes))
    counted = f"{len(cat.snippets)} snippets, {len(cat.records)} records, {len(cat.hosts)} hosts"
    return Verdict(Findings(found.problems, notes), counted), variables


def typed(book: store.Handbook) -> list[Problem]:
    """Return a note for each place where a page types figures on purpose."""
    return [
        Problem(item.path, item.line, f"figures typed on purpose: {item.reason}", "typed")
        for item in typed_figures.opt_outs(book)
    ]


def summed(notes: Iterable[Problem]) -> list[Problem]:
    """Return the notes; where a host has captured little, what it lacks is one note about the host."""
    result: list[Problem] = []
    missing: dict[str, list[str]] = {}
    for note in notes:
        if note.rule == "missing":
            label, _, key = note.path.removeprefix(f"{store.CAPTURES}/").removesuffix(".yaml").partition("/")
            missing.setdefault(label, []).append(key)
        else:
            result.append(note)
    for label, keys in missing.items():
        rest = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
        named = f"{', '.join(keys[:NAMED])}{rest}"
        message = f"{len(keys)} missing ({named}); capture on that host: capture run{run_option(label)}"
        result.append(Problem(f"{store.CAPTURES}/{label}/host.yaml", 0, message, "missing"))
    return result
