"""Whether a result was got again: what the build's verification says about a record."""

from __future__ import annotations

from capture import store
from capture.errors import CaptureError, suggestion
from capture.host.host import LOCAL
from capture.record import verification
from capture.record.record import Record, content_digest
from capture.record.verification import Verification
from capture.site.model.card_view import Rerun
from capture.site.model.output_text import written_day

_SIZE_LIMIT = 64 * 1024 * 1024  # ten thousand records make some 4 MiB


def read_verification(book: store.Handbook, name: str | None) -> Verification | None:
    """Return the verification that mkdocs.yml names, by a path from the handbook's root, or None where it names none.

    Raises CaptureError where it is damaged, or of another handbook: its pages would say something else than was found.
    """
    if name is None:
        return None
    remedy = f"write it again: capture verify --json > {name}, or build without: extra.capture.verification is empty"
    try:
        text = store.read_text(book.root / name, name, _SIZE_LIMIT)
    except CaptureError as error:
        raise CaptureError(f"{error}; {remedy}") from error
    verified = verification.parse(text, name, remedy)
    known = {*book.labels(), LOCAL}
    for label in (verified.against, *(item.host for item in verified.results)):
        if label not in known:
            message = f'is of another handbook: no host "{label}" here{suggestion(label, known - {LOCAL})}'
            raise verification.unreadable(name, 0, message, remedy)
    return verified


def rerun_of(verified: Verification | None, item: Record) -> Rerun | None:
    """Return what to say about a record; nothing without a verification, and about this machine's own."""
    if verified is None or item.host == LOCAL:
        return None
    reproduction = verified.by_record.get((item.host, item.snippet))
    if reproduction is None:
        return _not_rerun("this record took no part")
    if reproduction.content_sha256 != content_digest(item):
        return _not_rerun("another version of this record took part")
    if reproduction.outcome == "skipped":
        return _not_rerun(reproduction.detail)
    here = verified.environment
    torch = here.torch or "not importable"
    where = f"on {written_day(verified.date)} with {here.chip}, Python {here.python}, torch {torch}"
    if reproduction.outcome == "reproduced":
        return Rerun("same", "re-run by CI", f"the same result, {where}")
    return Rerun("differs", "differs when re-run by CI", f"{reproduction.class_}: {reproduction.detail}; {where}")


def _not_rerun(why: str) -> Rerun:
    """Return what to say where only the contributor has run it."""
    return Rerun("none", "run by its contributor only", f"no: {why}")
