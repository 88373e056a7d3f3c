"""One host's captures in one file, for machines without git or a network: how it is packed, and taken apart.

A bundle is a tar archive under gzip. Its first member, `bundle.json`, lists the others with their digests; they are the
host's facts and its records, under the paths that they have in the handbook. What is read is a stranger's: nothing of
it touches the disk here, no name in it becomes a path before it has the one form that is allowed, and what is not byte
for byte as this module packs it is refused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from capture import __version__, plain_data
from capture.errors import CaptureError, plural
from capture.host.host import LABEL, LOCAL
from capture.plain_data import ShapeError, about
from capture.record.record import HEX64
from capture.snippet.portable_names import why_not_portable
from capture.snippet.snippet import SNIPPET_ID
from capture.store import CAPTURES

SCHEMA = 1
MANIFEST = "bundle.json"
PACKED = 64 * 2**20  # bytes; ten thousand records take some ten
UNPACKED = 256 * 2**20
MEMBERS = 20_001
_BLOCK = tarfile.BLOCKSIZE
_SIZE = re.compile(rb"([0-7]{11})\0")
_OTHERS = {tarfile.SYMTYPE: "a link", tarfile.LNKTYPE: "a link", tarfile.DIRTYPE: "a folder"}
_OTHERS |= dict.fromkeys((tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE), "a device")
GZIP = 16 + zlib.MAX_WBITS  # tells zlib to expect gzip's header and to check its digest
_AGAIN = "; it is damaged or not one: make it again with capture bundle, and copy it whole"


@dataclass(frozen=True)
class Manifest:
    """What a bundle says about itself."""

    schema: int
    tool: str = field(metadata=about("version of the tool that packed it"))
    host: str = field(metadata=about("label of the host, which all files are of"))
    files: Mapping[str, str] = field(metadata=about("SHA-256 of every other member, by its path in the handbook"))


def path_of(label: str, key: str) -> str:
    """Return the path of a host's facts, `host`, or of a record, in the handbook and in a bundle."""
    return f"{CAPTURES}/{label}/{key}.yaml"


def pack(label: str, texts: Mapping[str, str]) -> bytes:
    """Return the bundle of a host: `texts` are the files by snippet id, and its facts under `host`.

    The same captures give the same archive: it holds no date, no user and no node.
    """
    files = {
        path_of(label, key): texts[key].encode("utf-8") for key in sorted(texts, key=lambda key: (key != "host", key))
    }
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    packing = zlib.compressobj(9, zlib.DEFLATED, GZIP)
    return packing.compress(_archive(Manifest(SCHEMA, __version__, label, digests), files)) + packing.flush()


def _archive(manifest: Manifest, files: Mapping[str, bytes]) -> bytes:
    """Return the archive inside a bundle; raises CaptureError for a name that is too long for one."""
    listed = json.dumps(plain_data.encode(manifest), indent=1, ensure_ascii=False) + "\n"
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, data in {MANIFEST: listed.encode("utf-8"), **files}.items():
            member = tarfile.TarInfo(path)
            member.size = len(data)
            try:
                tar.addfile(member, io.BytesIO(data))
            except ValueError as error:
                raise CaptureError(
                    f"{path}: its name is too long for a bundle; give the snippet a shorter one"
                ) from error
    return written.getvalue()


def unpack(data: bytes, name: str) -> tuple[str, dict[str, bytes]]:
    """Return the label of a bundle and its files by snippet id, the host's facts under `host`.

    Raises CaptureError that begins with `name` for whatever `pack` does not write.
    """
    try:
        unpacked = _decompress(data)
        members = dict(_members_of(unpacked))
        manifest = _parse(members.pop(MANIFEST))
        keys = {path: _key_of(manifest.host, path) for path in members}
        digests = {path: hashlib.sha256(content).hexdigest() for path, content in members.items()}
        if digests != manifest.files:
            differing = sorted(path for path, _ in digests.items() ^ manifest.files.items())
            raise CaptureError(f"{_shown(differing[0])} is not as {MANIFEST} lists it{_AGAIN}")
        if path_of(manifest.host, "host") not in members:
            raise CaptureError(f"holds no facts about its host{_AGAIN}")
        if _archive(manifest, members) != unpacked:
            raise CaptureError(f"is not packed as capture bundle packs{_AGAIN}")
    except CaptureError as error:
        raise CaptureError(f"{name}: {error}") from error
    return manifest.host, {keys[path]: content for path, content in members.items()}


def _decompress(data: bytes) -> bytes:
    """Unpack gzip; raises CaptureError for damage, and, before it is all in memory, for more than a bundle holds."""
    unpacking = zlib.decompressobj(GZIP)
    try:
        unpacked = unpacking.decompress(data, UNPACKED + 1)
    except zlib.error as error:
        raise CaptureError(f"cannot be unpacked{_AGAIN}") from error
    if len(unpacked) > UNPACKED:
        raise CaptureError(f"unpacks to more than {UNPACKED // 2**20} MiB; no bundle does")
    if not unpacking.eof:
        raise CaptureError(f"ends too early{_AGAIN}")
    if unpacking.unused_data:
        raise CaptureError(f"goes on after its end{_AGAIN}")
    return unpacked


def _members_of(unpacked: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the members of an archive, the manifest first; raises CaptureError for any that no bundle has.

    The headers are taken apart here, since tarfile follows extensions of the format that no bundle needs.
    """
    seen: dict[str, str] = {}
    at = 0
    while any(header := unpacked[at : at + _BLOCK]):
        size = _SIZE.fullmatch(header[124:136])
        if len(header) < _BLOCK or size is None:
            raise CaptureError(f"cannot be read as an archive{_AGAIN}")
        name = "/".join(part for part in (_text_of(header[345:500]), _text_of(header[:100])) if part)
        if why := _refusal(name, header[156:157], seen):
            raise CaptureError(f"{_shown(name)}: {why}")
        seen[name.casefold()] = name
        start, end = at + _BLOCK, at + _BLOCK + int(size[1], 8)
        if end > len(unpacked):
            raise CaptureError(f"{_shown(name)}: ends too early{_AGAIN}")
        yield name, unpacked[start:end]
        at = start + -(-(end - start) // _BLOCK) * _BLOCK
    if not seen:
        raise CaptureError(f"is empty{_AGAIN}")


def _text_of(padded: bytes) -> str:
    """Return a text of a header, which zeros fill up."""
    return padded.partition(b"\0")[0].decode("utf-8", "backslashreplace")


def _refusal(name: str, kind: bytes, seen: Mapping[str, str]) -> str:
    """Say why a bundle cannot hold a member of this name and kind after those seen; nothing where it can."""
    if len(seen) >= MEMBERS:
        return f"is beyond the {MEMBERS:,} files that a bundle may hold"
    if kind not in (tarfile.REGTYPE, tarfile.AREGTYPE):
        return f"is {_OTHERS.get(kind, 'no regular file')}; a bundle holds files and nothing else"
    if not seen:
        return "" if name == MANIFEST else f"stands where {MANIFEST} should{_AGAIN}"
    if (other := seen.get(name.casefold())) is not None:
        return "is there twice" if other == name else f"is {_shown(other)} but for upper and lower case"
    if not name.startswith(f"{CAPTURES}/") or ".." in name or "\\" in name:
        return f"lies outside {CAPTURES}/; a bundle holds captures and nothing else"
    return ""


def _key_of(label: str, path: str) -> str:
    """Return the snippet id of a member, or `host`; raises CaptureError where it is neither, or of another host."""
    parent, suffix = f"{CAPTURES}/{label}/", ".yaml"
    key = path.removeprefix(parent).removesuffix(suffix)
    if path != f"{parent}{key}{suffix}":
        raise CaptureError(f"{_shown(path)}: is no file of {label}, whose bundle this is")
    if key != "host" and not SNIPPET_ID.fullmatch(key):
        raise CaptureError(f"{_shown(path)}: is no record; records are {CAPTURES}/<host>/<chapter>/<snippet>.yaml")
    if why := why_not_portable(key):
        raise CaptureError(f"{_shown(path)}: {why}")
    return key


def _parse(written: bytes) -> Manifest:
    """Return the manifest that a JSON text holds; raises CaptureError for a newer schema, and for any other text."""
    try:
        manifest = plain_data.decode_versioned(Manifest, json.loads(written.decode("utf-8")), SCHEMA)
        unusable = not LABEL.fullmatch(manifest.host) or ".." in manifest.host or why_not_portable(manifest.host)
        if unusable or manifest.host == LOCAL:
            raise ShapeError("host", "expected the label of a host that is published")
        for path, digest in manifest.files.items():
            if not HEX64.fullmatch(digest):
                raise ShapeError(f"files.{_shown(path)}", "expected 64 hex digits")
        json.dumps(plain_data.encode(manifest), ensure_ascii=False).encode()  # half a character is a ValueError
    except ShapeError as error:
        raise CaptureError(f"{MANIFEST}: {error}{_AGAIN}") from error
    except CaptureError as error:
        raise CaptureError(f"{MANIFEST}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise CaptureError(f"{MANIFEST}: is no JSON{_AGAIN}") from error
    return dataclasses.replace(manifest, files=dict(manifest.files))


def _shown(name: str) -> str:
    """Return a stranger's name, short enough for a message; who prints it makes control characters visible."""
    return name if len(name) <= 100 else f"{name[:100]}… ({plural(len(name), 'character')})"
