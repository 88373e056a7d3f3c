"""The state of a result, one logic for commands and pages: current, stale with reasons, orphan, missing, gate unmet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness.handbooks import STALE, make_handbook, record, script
from harness.handbooks import host as make_host
from harness.headers import BODY, parse

from capture.record import state
from capture.record.record import Record
from capture.record.state import Newest, State
from capture.snippet.snippet import Snippet
from capture.store import catalogue


@pytest.fixture
def snippet(tmp_path: Path) -> Snippet:
    """A snippet that depends on torch and numpy and needs CUDA."""
    return parse(tmp_path, script(BODY, dependencies=["torch", "numpy"], needs=["cuda", "!rocm"]))


def made(snippet: Snippet, **changes: Any) -> Record:
    """Return a record of the snippet as it is."""
    return record(snippet.id, source_sha256=snippet.digest, **changes)


def of(snippet: Snippet, item: Record, same_label: list[Record], others: tuple[Record, ...] = ()) -> State:
    """Return the state of a record among others."""
    every = [item, *same_label]
    return state.of_record(snippet, item, state.newest(every, [*every, *others]))


def test_a_record_of_the_source_as_it_is_is_current(snippet: Snippet) -> None:
    """Alone, or beside equal and older software on the same host."""
    item = made(snippet, packages={"numpy": "2.4.6"})
    older = record("a/b", torch="2.12.0+cpu", packages={"numpy": "2.3.0"})
    assert of(snippet, item, []) == of(snippet, item, [older]) == State("current")


@pytest.mark.parametrize(
    ("changes", "other", "reason"),
    [
        pytest.param({"source_sha256": STALE}, {}, "source changed since", id="source"),
        pytest.param({}, {"torch": "2.14.1+cpu"}, "this host has captures with torch 2.14.1+cpu", id="torch"),
        pytest.param(
            {"torch": "2.9.1"}, {"torch": "2.10.0"}, "this host has captures with torch 2.10.0", id="torch-2.10"
        ),
        pytest.param(
            {"packages": {"numpy": "2.4.6"}}, {"packages": {"numpy": "2.10"}}, "numpy 2.4.6 is now 2.10 on this host",
            id="dependency",
        ),
        pytest.param({"torch": None}, {}, "this host has captures with torch 2.13.0+cpu", id="torch-installed-since"),
    ],
)  # fmt: skip
def test_a_stale_record_says_why(snippet: Snippet, changes: dict[str, Any], other: dict[str, Any], reason: str) -> None:
    """The source changed, or the same host has captures with newer software."""
    item = made(snippet, **changes) if "source_sha256" not in changes else record(snippet.id, **changes)
    found = of(snippet, item, [record("a/b", **other)])
    assert (found.kind, found.reasons, str(found)) == ("stale", (reason,), f"stale: {reason}")


def test_every_reason_is_told(snippet: Snippet) -> None:
    """A reader sees all that has moved, not only the first."""
    item = record(snippet.id, source_sha256=STALE, packages={"numpy": "2.0"})
    found = of(snippet, item, [record("a/b", torch="2.14.1", packages={"numpy": "2.4.6"})])
    assert len(found.reasons) == 3


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"torch": "2.13.0+cu130"}, id="another-build"),
        pytest.param({"torch": "2.13.0a0"}, id="a-pre-release"),
        pytest.param({"torch": "nightly"}, id="unreadable"),
        pytest.param({"packages": {"scipy": "9"}}, id="another-package"),
        pytest.param({"packages": {"numpy": "unknown"}}, id="unreadable-package"),
    ],
)
def test_what_is_not_newer_makes_nothing_stale(snippet: Snippet, other: dict[str, Any]) -> None:
    """The local suffix of a build is no version, and what cannot be read never wins."""
    item = made(snippet, packages={"numpy": "2.4.6"})
    assert of(snippet, item, [record("a/b", **other)]).kind == "current"


def test_another_host_makes_nothing_stale(snippet: Snippet) -> None:
    """Nobody can mend a record of a chip he does not have; a newer torch elsewhere is no fault of it."""
    assert of(snippet, made(snippet), [], (record("a/b", "h200", torch="2.14.1+cu130"),)).kind == "current"


@pytest.mark.parametrize("order", [1, -1])
def test_the_newest_software_does_not_depend_on_the_order_of_files(order: int) -> None:
    """Also with versions that cannot be read among them, before or after."""
    found = [
        record("a/b", torch=torch, packages={"numpy": numpy}, upstream={"f": digest})
        for torch, numpy, digest in (
            ("nightly", "unknown", "0"), ("2.9.1", "2.9", "1"), ("2.10.0+cpu", "2.10", "2"), ("2.10.0a0", "2.4", "3"),
        )
    ][::order]  # fmt: skip
    assert state.newest(found, found) == Newest("2.10.0+cpu", {"numpy": "2.10"}, {"f": ("2.10.0+cpu", "2")})


def test_an_upstream_function_that_changed_in_a_newer_torch_is_told(snippet: Snippet) -> None:
    """On whatever host it was seen; an older torch, or an equal source, says nothing."""
    item = made(snippet, upstream={"torch.f": "old"})
    newer = record("a/b", "h200", torch="2.14.1+cu130", upstream={"torch.f": "new"})
    found = of(snippet, item, [], (newer,))
    assert any("torch.f" in text and "2.14.1+cu130" in text for text in (*found.reasons, *found.notes))
    for other in (
        {"torch": "2.14.1", "upstream": {"torch.f": "old"}},
        {"torch": "2.12.0", "upstream": {"torch.f": "x"}},
    ):
        assert of(snippet, item, [], (record("a/b", "h200", **other),)) == State("current")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gates", "found"),
    [
        (None, State("missing")),
        ({"cuda": True, "rocm": False}, State("missing")),
        ({"cuda": False, "rocm": False}, State("gate unmet", ("needs cuda",))),
        ({"cuda": True, "rocm": True}, State("gate unmet", ("needs a host without rocm",))),
        ({}, State("gate unmet", ("needs cuda",))),
    ],
)
def test_an_absent_record_is_missing_or_cannot_be(
    snippet: Snippet, gates: dict[str, bool] | None, found: State
) -> None:
    """A host without the gate misses nothing; of a host that never captured nobody knows."""
    assert state.of_absence(snippet, gates) == found


def test_what_no_record_tells_is_not_held_against_a_host(snippet: Snippet) -> None:
    """Records keep no gate about a module: without one that says it is absent, the result is missing."""
    asks = replace(snippet, needs=("module:onnx",))
    assert state.of_absence(asks, {"cuda": False}) == State("missing")
    found = state.of_absence(asks, {"module:onnx": False})
    assert found == State("gate unmet", ("needs the module onnx",))


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ("cuda", "needs cuda"), ("!cuda", "needs a host without cuda"), ("module:onnx", "needs the module onnx"),
        ("!module:torch_xla", "needs a host without the module torch_xla"),
    ],
)  # fmt: skip
def test_gates_are_told_in_words(gate: str, words: str) -> None:
    """As a reader understands them."""
    assert state.gate_words(gate) == words


def test_the_states_of_a_handbook(tmp_path: Path) -> None:
    """Every snippet on every host, orphans included; a host's gates are those of its latest record."""
    snippets = {name: script(BODY, needs=needs) for name, needs in (("a/b", []), ("a/c", ["cuda"]), ("a/d", []))}
    book = make_handbook(
        tmp_path, snippets, [make_host("epyc"), make_host("h200", kind="cuda")],
        [
            record("a/b"), record("a/d", source_sha256=STALE), record("x/gone"),
            record("a/b", "h200", gates={"cuda": False}, captured="2026-01-01"),
            record("a/d", "h200", gates={"cuda": True}, captured="2026-02-01"),
        ],
    )  # fmt: skip
    found = {key: known.kind for key, known in book.catalogue().states().items()}
    assert found == {
        ("epyc", "a/b"): "current", ("epyc", "a/c"): "gate unmet", ("epyc", "a/d"): "stale",
        ("epyc", "x/gone"): "orphan",
        ("h200", "a/b"): "current", ("h200", "a/c"): "missing", ("h200", "a/d"): "current",
    }  # fmt: skip


def test_claims_on_stale_and_failed_records_are_not_judged(tmp_path: Path) -> None:
    """inv-error-cached: a failure that was kept is shown as one, and proves nothing."""
    claims = {"claims": {"true": {"says": "a", "holds": "True"}}}
    book = make_handbook(
        tmp_path, {"a/b": script(BODY, **claims), "a/c": script(BODY, **claims), "a/d": script(BODY, **claims)}, None,
        [record("a/b"), record("a/c", source_sha256=STALE), record("a/d", status="timeout", exit_code=None)],
    )  # fmt: skip
    cat = book.catalogue()
    found = [cat.judgements(key, cat.states())[0] for key in cat.snippets]
    assert [(item.verdict, item.reason) for item in found] == [
        ("holds", "True"), ("not judged", "stale: source changed since"),
        ("not judged", "the capture ended with timeout"),
    ]  # fmt: skip


def test_a_handbook_can_be_read_in_part(tmp_path: Path) -> None:
    """Only some hosts, or all but the reader's own."""
    book = make_handbook(tmp_path, {"a/b": script(BODY)}, [make_host("epyc"), make_host("local"), make_host("zen")])
    assert book.catalogue().labels() == ("epyc", "zen", "local")
    assert catalogue.read_handbook(book.book, local=False).labels() == ("epyc", "zen")
    assert catalogue.read_handbook(book.book, labels=["zen"]).labels() == ("zen",)
