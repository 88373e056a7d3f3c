"""Every rule over a whole handbook, and what is told beside the problems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from capture import store
from capture.check import rules
from capture.check.findings import Findings
from capture.errors import CaptureError, Problem, suggestion
from capture.host.host import run_option
from capture.site.markdown import typed_figures
from capture.store import catalogue

NAMED = 8  # missing results that a note names; the others are counted


@dataclass(frozen=True)
class Checked:
    """What was found, and in how many snippets, records and hosts, in words."""

    findings: Findings
    counted: str


def check_handbook(book: store.Handbook, strict_stale: Sequence[str], records_only: bool) -> Checked:
    """Apply every rule to a handbook; with `records_only` none to its pages, which need the site's Markdown.

    Raises CaptureError for the label of no host, and where the site's Markdown is not installed.
    """
    cat = catalogue.read_handbook(book)
    for label in strict_stale:
        if label not in cat.hosts:
            raise CaptureError(f'--strict-stale: no host "{label}"{suggestion(label, cat.hosts)}')
    page_problems: list[Problem] = []
    if not records_only:
        from capture.site.markdown import page_check  # what checks records alone works without Markdown

        try:
            page_problems = page_check.check_pages(cat)
        except CaptureError as error:
            if not error.located:
                raise
            page_problems = error.located  # of mkdocs.yml; what is wrong elsewhere is told as well
        page_problems += typed_figures.problems(book)
    findings = rules.check(cat, strict_stale, page_problems)
    notes = (*(() if records_only else typed(book)), *summed(findings.notes))
    counted = f"{len(cat.snippets)} snippets, {len(cat.records)} records, {len(cat.hosts)} hosts"
    return Checked(Findings(findings.problems, notes), counted)


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
