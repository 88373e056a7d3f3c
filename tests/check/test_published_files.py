"""All that is published or stored is searched for what is private, and links lead out of the handbook nowhere."""

import pytest
from harness.handbooks import make_handbook, record, script

from capture import store
from capture.check import rules
from capture.errors import CaptureError

TOKEN = "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3f"
SPEED = script('print("ratio 7.3x")\n', values={"ratio": r"ratio ([\d.]+)x"})


def found(book):
    """Return all problems of a check that renders no page, as text."""
    return [str(problem) for problem in rules.check(book.catalogue(), (), ()).problems]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        pytest.param("snippets/a/x.py", f"# a\nkey = '{TOKEN}'\n", 2, id="priv-source-and-page"),
        ("snippets/a/helper.py", f"# a\n\nkey = '{TOKEN}'\n", 3),
        ("snippets/a/data.csv", f"a,b\n{TOKEN},1\n", 2),
        ("docs/a/index.md", f"# A\n\nUse {TOKEN}.\n", 3),
        ("docs/a/.hidden", TOKEN, 1),
        ("docs/assets/x.svg", f"<svg>\n<desc>/home/maria-lopez/{'x'}</desc></svg>\n", 2),
        ("docs/captures/epyc/x/broken.yaml", f"- not: a record\n  key: {TOKEN}\n", 2),
        ("docs/captures/notes.txt", f"\n\n{TOKEN}", 3),
        ("overrides/main.html", f"<!-- {TOKEN} -->", 1),
        ("mkdocs.yml", f"site_name: x\nextra: {{key: {TOKEN}}}\n", 2),
    ],
)
def test_every_file_is_searched(tmp_path, name, text, line):
    """Sources, helpers, data, pages, assets, damaged records and settings: path and line, and never the value."""
    book = make_handbook(tmp_path)
    book.write(name, text)
    findings = rules.check(book.catalogue(), (), ())
    told = [str(problem) for problem in findings.problems]
    assert any(item.startswith(f"{name}:{line}: holds a ") for item in told), told
    assert findings.private
    assert TOKEN[4:] not in "".join(told) and "maria" not in "".join(told)


@pytest.mark.parametrize("encode", ["binary", "utf-16"])
def test_binary_files_are_searched_for_text(tmp_path, encode):
    """What of a picture or of another encoding is text counts as well."""
    book = make_handbook(tmp_path)
    data = b"\x89PNG\0\xff" + TOKEN.encode() + b"\0\1\2" if encode == "binary" else f"a {TOKEN}".encode("utf-16")
    book.write("docs/assets/x.png", "")
    (tmp_path / "docs/assets/x.png").write_bytes(data)
    assert any(item.startswith("docs/assets/x.png") and "holds a" in item for item in found(book))


def test_what_python_compiled_is_no_part_of_a_site(tmp_path):
    """Git ignores it, and it names the folder in which it was made."""
    book = make_handbook(tmp_path)
    book.write("snippets/a/__pycache__/x.pyc", f"/home/maria-lopez/x {TOKEN}")
    assert found(book) == []


LINKS = {
    "priv-link-out": ("docs/assets/env.txt", "/proc/self/environ"),
    "device": ("docs/assets/zero", "/dev/zero"),
    "missing": ("docs/assets/gone", "nowhere"),
    "relative-way-out": ("docs/assets/up.txt", "../../../outside.txt"),
    "folder": ("docs/theirs", "/etc"),
    "folder-of-git": ("docs/theirs", "../.git"),
    "link-to-a-link": ("docs/one.txt", "assets/hop"),
    "way-out-and-back": ("docs/one.txt", "assets/back"),
    "absolute-but-inside": ("docs/one.txt", "{root}/docs/index.md"),
    "loop": ("docs/one.txt", "one.txt"),
    "page": ("docs/env.md", "/proc/self/environ"),
    "script": ("snippets/a/env.py", "/proc/self/environ"),
    "chapter": ("snippets/b", "/etc"),
    "theme": ("overrides/main.html", "/etc/passwd"),
    "label": ("docs/captures/zen", "/tmp"),
    "settings": ("mkdocs.yml", "/proc/self/environ"),
}


@pytest.mark.parametrize("kind", LINKS)
def test_links_that_lead_out_are_named(tmp_path, kind):
    """Straight, over another link, as a folder, to a device or to nowhere; what lies behind one is not told."""
    root = tmp_path / "book"
    book = make_handbook(root)
    (tmp_path / "outside.txt").write_text("x")
    (root / ".git").mkdir()
    book.write("docs/assets/a.txt", "x")
    (root / "docs/assets/hop").symlink_to("/etc/hostname")
    (root / "docs/assets/back").symlink_to(f"../../../{root.name}/docs/index.md")
    name, target = LINKS[kind]
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target.format(root=root))
    problems = store.links(book.book)
    assert name in [problem.path for problem in problems] or kind == "way-out-and-back"
    assert all("link" in problem.message for problem in problems)


def test_links_within_the_site_stay(tmp_path):
    """A page or a folder may stand in two places, and what is no link is none."""
    book = make_handbook(tmp_path)
    book.write("docs/a/b.md", "# B\n")
    (tmp_path / "docs/c.md").symlink_to("a/b.md")
    (tmp_path / "docs/d").symlink_to("a")
    (tmp_path / "docs/e.md").symlink_to("d/b.md")
    assert store.links(book.book) == ()


@pytest.mark.parametrize("kind", ["priv-link-out", "folder", "missing", "page"])
def test_a_build_refuses_links_that_lead_out(tmp_path, kind):
    """Before it copies a file."""
    book = make_handbook(tmp_path)
    name, target = LINKS[kind]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(target)
    done = book.build()
    assert done.returncode and f"{name}: is a link" in done.stderr
    assert not (tmp_path / "site").exists()


def test_nothing_is_written_through_a_link(tmp_path):
    """A host's folder that is a link to another place keeps a run from writing there."""
    book, other = make_handbook(tmp_path / "book"), tmp_path / "other"
    other.mkdir()
    (tmp_path / "book/docs/captures/zen").symlink_to(other)
    with pytest.raises(CaptureError, match="docs/captures/zen: is a link, and nothing is written through it"):
        book.keep(record("x/speed", "zen"))
    assert not list(other.iterdir())


def test_strays_among_the_hosts_are_named(tmp_path):
    """A record in the wrong place shows nowhere, and would never be missed."""
    book = make_handbook(tmp_path, {"x/speed": SPEED})
    book.write("docs/captures/speed.yaml", "x\n")
    assert any(item.startswith("docs/captures/speed.yaml: is no record") for item in found(book))
