"""`capture export`: print all values, claims and hosts, for other programs."""

from __future__ import annotations

import typer

from capture.cli.context import handbook, stdout
from capture.errors import CaptureError
from capture.exchange import dataset, dataset_rows
from capture.store import catalogue


def export(context: typer.Context) -> None:
    """Print all values, claims and hosts as one JSON document, as the site publishes it.

    Results of this machine, in docs/captures/local/, are left out. Exit code 2: a snippet or a record is faulty.
    """
    cat = catalogue.read_handbook(handbook(context), local=False)
    if cat.problems:
        raise CaptureError(*cat.problems)
    stdout().out(dataset.text(dataset_rows.of(cat)), end="", highlight=False)
