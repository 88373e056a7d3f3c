"""The trial: ten changes of ten kinds, seeded into the handbook's own records, all named on one screen."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from harness.handbooks import REPOSITORY
from harness.repositories import Repository

from capture import store
from capture.host import host
from capture.record import record
from capture.record.record import Record

SCREEN = 50  # lines of a usual terminal, one of 200 columns
PRIMARY, OTHER, NEW = "epyc-avx512", "epyc-avx512-cuda-build", "h200"
BY_HAND, BROKEN, WITHIN = "instruments/stream_order_model", "instruments/autocast_cast_cache", "kernels/optimizer_speed"
BEYOND, LEAKED, STALE = "timing/warm_up_curve", "debugging/nan_hunt_by_hooks", "debugging/eval_batchnorm"
CRASHED, REMOVED = "debugging/running_loss_graph", "memory/grad_accumulation"


class Seeded(Repository):
    """The handbook as it is, in a repository of its own, to be changed."""

    def change(self, key: str, edit: Callable[[Record], Record], label: str = PRIMARY) -> None:
        """Store a record that is valid and says something else."""
        before = store.read_record(self.book, label, key)
        assert before is not None, key
        after = record.sealed(edit(before))
        assert after != before, key
        store.write_record(self.book, after)

    def times(self, key: str, factor: float) -> None:
        """Multiply every time, and every ratio of times, in the output of a record."""

        def scaled(match: re.Match[str]) -> str:
            return f"{float(match[1]) * factor:.2f}{match[2]}"

        self.change(key, lambda item: replace(item, stdout=re.sub(r"(\d+\.\d+)( ms|x)", scaled, item.stdout)))


@pytest.fixture
def trial(tmp_path: Path) -> Seeded:
    """A branch with the ten changes, not committed yet."""
    book = Seeded(tmp_path / "book")
    ignored = shutil.ignore_patterns("local", ".*", "__pycache__")
    for name in ("snippets", "docs/captures"):
        shutil.copytree(REPOSITORY / name, book.root / name, ignore=ignored, dirs_exist_ok=True)
    shutil.copy(REPOSITORY / "mkdocs.yml", book.root)
    book.git("init", "--quiet", "--initial-branch=main")
    book.commit("as published")
    seed(book)
    return book


def seed(book: Seeded) -> None:
    """Make one change of each kind."""
    path = book.book.record_path(PRIMARY, BY_HAND)
    before, _, output = path.read_text("utf-8").partition("stdout: |\n")
    path.write_text(f"{before}stdout: |\n{re.sub('[0-9]', '7', output, count=3)}", "utf-8")
    book.change(BROKEN, lambda item: replace(item, stdout=re.sub(r"(no_grad +5 +)7", r"\g<1>9", item.stdout)))
    book.times(WITHIN, 1.1)
    book.times(BEYOND, 4.0)
    hardware = store.read_host(book.book, PRIMARY)
    assert hardware is not None
    gpu = host.Accelerator("cuda", "NVIDIA H200", 143771, "9.0", 1)
    facts = replace(hardware, label=NEW, title="H200", kind="cuda", accelerators=(gpu,))
    store.write_host(book.book, host.identified(facts))
    for key in (CRASHED, STALE):
        item = store.read_record(book.book, PRIMARY, key)
        assert item is not None
        store.write_record(
            book.book,
            record.sealed(replace(item, host=NEW, environment=replace(item.environment, chip=host.chip(facts)))),
        )
    for key in store.record_ids(book.book, OTHER):
        book.change(key, upgraded, OTHER)
    book.change(LEAKED, lambda item: replace(item, stderr="loaded /home/alice/data/weights.pt\n"))
    snippet = book.root / "snippets" / f"{STALE}.py"
    snippet.write_text(snippet.read_text("utf-8").replace("import torch\n", "import torch  # again\n", 1))
    book.change(CRASHED, lambda item: replace(item, status="crashed", exit_code=None, signal="SIGSEGV", stdout=""))
    book.book.record_path(PRIMARY, REMOVED).unlink()


def upgraded(item: Record) -> Record:
    """Return a record as a newer torch would give it: in some, one exception has another name."""
    environment = replace(item.environment, torch="2.15.0+cu130")
    return replace(item, environment=environment, stdout=item.stdout.replace("AssertionError", "DeviceError"))


CLASSES = {
    "hand-edit": ("invalid", BY_HAND, PRIMARY),
    "claim": ("claim broken", BROKEN, PRIMARY),
    "speed-within": ("number within tolerance", WITHIN, PRIMARY),
    "speed-beyond": ("number beyond tolerance", BEYOND, PRIMARY),
    "leak": ("private", LEAKED, PRIMARY),
    "stale": ("stale", STALE, PRIMARY),
    "crash": ("status changed", CRASHED, PRIMARY),
    "removed": ("removed", REMOVED, PRIMARY),
    "new-host": ("newly captured", CRASHED, NEW),
}


def test_one_screen_names_all_ten(trial: Seeded) -> None:
    """Each change is in its class, the upgrade is one row, and what must not be merged comes first."""
    found = trial.capture("diff", "--format", "json")
    assert found.code == 3
    data = json.loads(found.out)
    kinds = {(item["host"], item["snippet"]): item["kind"] for item in data["records"]}
    assert {name: kinds[label, key] for name, (_, key, label) in CLASSES.items()} == {
        name: kind for name, (kind, _, _) in CLASSES.items()
    }
    renamed = [item for item in data["records"] if item["host"] == OTHER and item["kind"] == "text changed"]
    assert len(renamed) >= 3
    assert {item["edit"] for item in renamed} == {'"AssertionError" -> "DeviceError"'}

    shown = trial.capture("diff", env={"COLUMNS": "200"}).out
    lines = shown.splitlines()
    assert len(lines) <= SCREEN, f"{len(lines)} lines"
    assert lines[1] == "must not be merged:"
    for kind, key, _ in CLASSES.values():
        assert any(line.startswith(kind) for line in lines), kind
        assert key in shown or kind == "newly captured", key
    assert "new host h200" in shown or "new: H200" in shown
    (row,) = [line for line in lines if line.startswith("text changed")]
    assert f"torch 2.14.1+cu130 -> 2.15.0+cu130: {len(renamed)} captures, the same edit" in row


def test_the_branch_is_judged_like_the_working_tree(trial: Seeded) -> None:
    """Committed, it fails under --strict with the reasons; the Markdown fits into a comment and names all ten too."""
    trial.git("switch", "--quiet", "--create", "changes")
    trial.commit("ten changes")
    found = trial.capture("diff", "main...changes", "--strict", "--format", "markdown")
    assert found.code == 3  # the leak is worst
    assert len(found.out) < 65_000
    for kind, key, _ in CLASSES.values():
        assert kind in found.out
        assert key.replace("_", "\\_") in found.out or kind == "newly captured"
    trial.change(LEAKED, lambda item: replace(item, stderr=""))
    trial.commit("without the leak")
    failing = json.loads(trial.capture("diff", "main..changes", "--strict", "--format", "json").out)["failing"]
    assert trial.capture("diff", "main..changes", "--strict").code == 2
    for key in (BY_HAND, BROKEN, CRASHED):
        assert any(key in words for words in failing), key
    for key in (WITHIN, BEYOND, STALE, REMOVED):
        assert not any(key in words for words in failing), key
