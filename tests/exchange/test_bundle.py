"""A bundle as a file: what is packed is unpacked, and whatever else comes is refused in words."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from harness.bundles import (
    GOOD,
    HOST,
    LABEL,
    PATHS,
    listed,
    members,
    named,
    packed,
    tarred,
    texts,
    with_files,
    with_member,
)
from harness.handbooks import record
from harness.properties import EXAMPLES, captured_text, rows
from hypothesis import given
from hypothesis import strategies as st

from capture import store
from capture.errors import CaptureError
from capture.exchange import bundle, json_schemas
from capture.record import text_rules

FACTS = store.host_text(HOST).encode()
LONG = "x" * 300
EXTRA = "docs/captures/h200/demo/x.yaml"


def refused(data: bytes) -> str:
    """Return why a bundle is refused."""
    with pytest.raises(CaptureError) as error:
        bundle.unpack(data, "b.tar.gz")
    said = str(error.value)
    assert said.startswith("b.tar.gz: ") and len(said) < 600
    return said


def test_what_was_packed_is_unpacked() -> None:
    """Every file comes back byte for byte, by its snippet."""
    label, files = bundle.unpack(GOOD, "b")
    assert label == LABEL
    assert list(files) == ["host", "demo/one", "demo/two"]
    assert files["host"] == FACTS


@EXAMPLES
@given(captured_text())
def test_any_output_survives(text: str) -> None:
    """Whatever a snippet prints."""
    item = record("a/b", LABEL, stdout=text_rules.apply(text, text_rules.Places())[0])
    assert bundle.unpack(packed(item), "b")[1]["a/b"].decode() == store.record_text(item)


def test_the_same_captures_make_the_same_archive() -> None:
    """In any order; it holds no date, no user and no group of whoever packed it."""
    one, two = (record(key, LABEL) for key in ("demo/one", "demo/two"))
    assert packed(one, two) == packed(two, one)
    for item, _ in members(packed(one)):
        assert (item.mtime, item.uid, item.gid, item.uname, item.gname) == (0, 0, 0, "", "")
    assert GOOD[4:8] == b"\0\0\0\0"  # gzip's own date


def test_other_tools_read_it() -> None:
    """Any tar lays the files where the handbook has them; the manifest is valid by its schema."""
    found = members(GOOD)
    assert [item.name for item, _ in found] == [bundle.MANIFEST, *PATHS]
    schema = json.loads(json_schemas.texts()["docs/schema/bundle.json"])
    jsonschema.Draft202012Validator(schema).validate(json.loads(found[0][1]))


def test_a_name_too_long_for_an_archive() -> None:
    """It is named when packing, not cut."""
    with pytest.raises(CaptureError, match="name is too long for a bundle"):
        bundle.pack(LABEL, {**texts(), f"a/{'b' * 200}": "x"})


def edited(change: Callable[[bytearray], None]) -> bytes:
    """Return a bundle whose archive has been changed."""
    archive = bytearray(gzip.decompress(GOOD))
    change(archive)
    return gzip.compress(bytes(archive), mtime=0)


def without(path: str) -> bytes:
    """Return a bundle that lacks a member which it lists."""
    return tarred([part for part in members(GOOD) if part[0].name != path])


def changed_file() -> bytes:
    """Return a bundle with one byte of a record changed."""
    return tarred(
        [(item, data.replace(b"out", b"uot") if item.name == PATHS[1] else data) for item, data in members(GOOD)]
    )


HOSTILE = {
    "nothing": (b"", "ends too early"),
    "no-gzip": (b"PK\3\4 a zip", "cannot be unpacked"),
    "other-tar": (tarred([(named("readme", b"x"), b"x")]), "readme: stands where bundle.json should"),
    "no-tar": (gzip.compress(b"just text " * 60), "cannot be read as an archive"),
    "empty-tar": (tarred([]), "is empty"),
    "cut": (GOOD[: len(GOOD) // 2], "ends too early"),
    "cut-at-the-end": (GOOD[:-1], "ends too early"),
    "more-after-it": (GOOD + GOOD, "goes on after its end"),
    "wrong-sum": (GOOD[:-8] + b"\0\0\0\0" + GOOD[-4:], "cannot be unpacked"),
    "traversal": (with_member("docs/captures/h200/../../../evil.yaml"), "lies outside docs/captures/"),
    "parent": (with_member("../evil.yaml"), "lies outside docs/captures/"),
    "absolute": (with_member("/etc/cron.d/evil"), "lies outside docs/captures/"),
    "drive": (with_member("C:/evil.yaml"), "lies outside docs/captures/"),
    "backslash": (with_member("docs/captures/h200\\..\\evil.yaml"), "lies outside docs/captures/"),
    "page": (with_member("docs/index.md"), "lies outside docs/captures/"),
    "symbolic-link": (with_member("docs/captures/h200/demo", kind=tarfile.SYMTYPE, linkname="/etc"), "is a link"),
    "hard-link": (with_member(EXTRA, kind=tarfile.LNKTYPE, linkname=PATHS[0]), "is a link"),
    "device": (with_member(EXTRA, kind=tarfile.CHRTYPE), "is a device"),
    "fifo": (with_member(EXTRA, kind=tarfile.FIFOTYPE), "is a device"),
    "folder": (with_member("docs/captures/h200/demo", kind=tarfile.DIRTYPE), "is a folder"),
    "sparse": (with_member(EXTRA, kind=tarfile.GNUTYPE_SPARSE), "is no regular file"),
    "long-name": (tarred([*members(GOOD), (named(f"docs/{LONG}"), b"")], tarfile.GNU_FORMAT), "is no regular file"),
    "extended": (tarred([(named(f"docs/{LONG}"), b"")], tarfile.PAX_FORMAT), "is no regular file"),
    "twice": (tarred(listed([*members(GOOD), members(GOOD)[-1]])), "is there twice"),
    "manifest-twice": (tarred([members(GOOD)[0], *members(GOOD)]), "bundle.json: is there twice"),
    "case": (with_member("docs/captures/h200/demo/ONE.yaml"), "but for upper and lower case"),
    "capital": (with_member("docs/captures/h200/demo/Three.yaml"), "is no record; records are"),
    "other-host": (with_member("docs/captures/epyc/demo/one.yaml"), "is no file of h200, whose bundle this is"),
    "deep": (with_member("docs/captures/h200/demo/more/one.yaml"), "is no record; records are"),
    "script": (with_member("docs/captures/h200/demo/one.py"), "is no file of h200"),
    "not-listed": (tarred([*members(GOOD), (named(EXTRA), b"")]), "is not as bundle.json lists"),
    "missing": (without(PATHS[2]), "is not as bundle.json lists it"),
    "changed": (changed_file(), "demo/one.yaml is not as bundle.json lists it"),
    "no-facts": (with_files({PATHS[1]: b"x"}), "holds no facts about its host"),
    "newer": (with_files({PATHS[0]: FACTS}, schema=2, more={}), "schema 2 is newer than this tool knows (1); update"),
    "older": (with_files({PATHS[0]: FACTS}, schema=0), "there is no schema 0"),
    "no-label": (with_files({PATHS[0]: FACTS}, host="../evil"), "expected the label of a host"),
    "dots": (with_files({PATHS[0]: FACTS}, host="a..b"), "expected the label of a host"),
    "local": (with_files({PATHS[0]: FACTS}, host="local"), "expected the label of a host that is published"),
    "label-no-text": (with_files({PATHS[0]: FACTS}, host=7), "bundle.json: host: expected text"),
    "unknown-field": (with_files({PATHS[0]: FACTS}, extra=1), "bundle.json: extra: unknown field"),
    "no-json": (tarred([(named(bundle.MANIFEST, b"{"), b"{")]), "bundle.json: is no JSON"),
    "json-depth": (tarred([(named(bundle.MANIFEST, b"[" * 10**6), b"[" * 10**6)]), "bundle.json: is no JSON"),
    "a-list": (tarred([(named(bundle.MANIFEST, b"[]"), b"[]")]), "expected a mapping"),
    "owner": (tarred([(named(item.name, data, uname="me"), data) for item, data in members(GOOD)]), "is not packed as"),
    "hidden-behind": (edited(lambda data: data.__setitem__(-1, 1)), "is not packed as"),
    "odd-size": (edited(lambda data: data.__setitem__(slice(124, 136), b"-0000000001\0")), "cannot be read"),
    "size-beyond": (edited(lambda data: data.__setitem__(slice(124, 136), b"77777777777\0")), "ends too early"),
    "control-character": (with_member("docs/captures/h200/\x1b[31m.yaml"), "is no record; records are"),
    "endless-name": (with_member("docs/captures/h200/" + "a/" * 60 + "b.yaml"), "… (1"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "says"), rows(HOSTILE))
def test_a_hostile_or_damaged_bundle_is_refused(data: bytes, says: str) -> None:
    """Links, devices, paths that lead elsewhere, doubles, bombs, damage: each in its own words."""
    assert says in refused(data)


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A little that unpacks to very much: unpacking stops at the limit."""
    monkeypatch.setattr(bundle, "UNPACKED", 2**20)
    assert "unpacks to more than 1 MiB; no bundle does" in refused(gzip.compress(bytes(2**24), 9))


def test_too_many_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted as they come, before their contents are used."""
    monkeypatch.setattr(bundle, "MEMBERS", 3)
    assert "is beyond the 3 files that a bundle may hold" in refused(GOOD)


def test_an_oversize_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is unpacked its size is looked at."""
    path = tmp_path / "b.tar.gz"
    path.write_bytes(GOOD)
    with pytest.raises(CaptureError, match="larger than 0 MiB; no such file is"):
        store.read_bytes(path, "b.tar.gz", 100)


def only_words(data: bytes) -> None:
    """Assert that a bundle is either the good one or refused in words."""
    try:
        label, files = bundle.unpack(data, "b")
    except CaptureError as error:
        assert str(error).startswith("b: ")
        return
    assert (label, files) == bundle.unpack(GOOD, "b")


@EXAMPLES
@given(st.binary(max_size=300))
def test_any_bytes_are_refused_in_words(data: bytes) -> None:
    """Bare, and under gzip, where a tar reader would see them."""
    only_words(data)
    only_words(gzip.compress(data))


@EXAMPLES
@given(st.lists(st.tuples(st.integers(0, 2**20), st.binary(min_size=1, max_size=12)), min_size=1, max_size=4))
def test_any_damage_is_refused_in_words(damage: list[tuple[int, bytes]]) -> None:
    """To the file as it was copied, and to the archive inside, which a stranger packed again."""
    for whole, again in ((GOOD, bytes), (zlib.decompress(GOOD, bundle.GZIP), gzip.compress)):
        data = bytearray(whole)
        for at, piece in damage:
            start = at % len(data)
            data[start : start + len(piece)] = piece
        only_words(again(bytes(data)))


@EXAMPLES
@given(st.lists(st.tuples(st.text(max_size=40), st.binary(max_size=40), st.binary(min_size=1, max_size=1)), max_size=4))
def test_any_members_are_refused_in_words(parts: list[tuple[str, bytes, bytes]]) -> None:
    """Names and kinds that no bundle has, behind a manifest that lists them."""
    found = [(named(name, data, kind), data) for name, data, kind in parts]
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as tar:
        for item, data in listed([*members(GOOD)[1:], *found]):
            try:
                tar.addfile(item, io.BytesIO(data))
            except ValueError:  # tar itself cannot write such a name
                return
    only_words(gzip.compress(written.getvalue()))
