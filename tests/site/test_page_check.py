"""The check of pages, the settings of mkdocs.yml, and what is read again when."""

import builtins
import os
import sys

import markdown
import pytest
from harness.handbooks import host, make_handbook, record, script

from capture import store
from capture.errors import CaptureError
from capture.site.markdown import page_check, page_in_progress
from capture.site.markdown.handbook_pages import HandbookPages
from capture.site.model import site
from capture.store import PythonName, catalogue, config_line, read_site_config

SPEED = script('print("ratio 7.3x")\n', values={"ratio": r"ratio ([\d.]+)x"})


def test_every_page_is_checked_at_its_lines(tmp_path):
    """Faults of all pages come back sorted by page and line; a good page gives none."""
    book = make_handbook(
        tmp_path,
        {"x/speed": SPEED},
        records=[record("x/speed", stdout="ratio 7.3x\n")],
        pages={
            "b/two.md": "# Two\n\n```capture\nx/sped\n```\n\n`#!captured x/speed nope`\n",
            "a.md": "---\ntitle: A\n---\n# A\n\n```capture\nx/speed\n```\n\n```capture hots='x'\nx/speed\n```\n",
            "good.md": "# Good\n\n```capture\nx/speed\n```\n\n`#!captured x/speed ratio`\n",
        },
    )
    assert [str(problem) for problem in page_check.check_pages(book.catalogue())] == [
        'docs/a.md:10: unknown option "hots"; did you mean "host"?',
        'docs/b/two.md:3: no snippet "x/sped"; did you mean "x/speed"?',
        'docs/b/two.md:7: snippet "x/speed" has no value "nope"; did you mean "ratio"?'.replace(
            'did you mean "ratio"?', "known: ratio"
        ),
    ]


def test_local_records_change_nothing(tmp_path):
    """The outcome is the same on a machine that has records of its own."""
    page = {"index.md": "# A\n\n```capture\nx/speed\n```\n"}
    hosts = [host("epyc"), host("local")]
    book = make_handbook(tmp_path, {"x/speed": SPEED}, hosts, [record("x/speed", "local", "ratio 1x\n")], page)
    assert [problem.rule for problem in page_check.check_pages(book.catalogue())] == ["missing"]


def test_a_default_host_that_is_not_there_is_named(tmp_path):
    """Prose would silently take its numbers from another host."""
    book = make_handbook(tmp_path, hosts=[host("epyc-avx2")], default_host="epyc-avx3")
    (problem,) = page_check.check_pages(book.catalogue())
    assert problem.line == config_line(book.book, "default_host") > 0
    assert problem.message.endswith('no host "epyc-avx3" under docs/captures; did you mean "epyc-avx2"?')


def test_a_summary_names_the_snippets_of_its_page(tmp_path):
    """In a fence or in a sentence; a fence that is shown within another counts for nothing."""
    page = "# A\n\n```capture\nx/speed\n```\n\n`#!captured y/other v@h`\n\n````\n```capture\nz/shown\n```\n````\n"
    book = make_handbook(tmp_path, pages={"a.md": page, "b.md": "```capture\nx/speed\n```\n"})
    named = {page.path: page.snippets for page in HandbookPages(book.book).summaries}
    assert named == {"docs/a.md": ("x/speed", "y/other"), "docs/b.md": ("x/speed",)}


def test_missing_markdown_says_what_to_install(tmp_path, monkeypatch):
    """On a cluster node without the site's packages, the check names the one command that helps."""
    book = make_handbook(tmp_path)
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name == "markdown":
            raise ImportError("No module named 'markdown'", name="markdown")
        return real(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "markdown", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(CaptureError, match=r'markdown is not installed; install it with: pip install -e "\.\[site\]"'):
        page_check.check_pages(book.catalogue())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("os.system", "names os.system; only objects of capture.site"),
        ("capture.store.write_text", "only objects of"),
        ("capture.site.markdown.card_fence.nothing", "which does not exist"),
    ],
)
def test_only_trusted_objects_are_imported(tmp_path, name, message):
    """`check` reads strangers' pull requests; a name in mkdocs.yml must not run what it likes."""
    book = make_handbook(tmp_path)
    text = (tmp_path / "mkdocs.yml").read_text("utf-8").replace("capture.site.markdown.card_fence.formatter", name)
    book.write("mkdocs.yml", text)
    with pytest.raises(CaptureError, match=message):
        page_check.check_pages(book.catalogue())


def test_an_unknown_extension_is_named(tmp_path):
    """A misspelt extension is a fault of mkdocs.yml, not a traceback."""
    book = make_handbook(tmp_path)
    text = (tmp_path / "mkdocs.yml").read_text("utf-8").replace("- admonition", "- pymdownx.admonitoin")
    book.write("mkdocs.yml", text)
    with pytest.raises(CaptureError, match=r"pymdownx\.admonitoin"):
        page_check.check_pages(book.catalogue())


def test_site_config_reads_the_three_tags(tmp_path, monkeypatch):
    """Environment variables are typed as YAML types them; names stay names."""
    monkeypatch.setenv("CASE_SET", "false")
    monkeypatch.delenv("CASE_UNSET", raising=False)
    text = (
        "a: !ENV CASE_SET\nb: !ENV [CASE_UNSET, CASE_SET, 3]\nc: !ENV [CASE_UNSET, 3]\nd: !ENV CASE_UNSET\n"
        "e: !!python/name:os.system\nf: !relative $docs_dir\n"
    )
    book = make_handbook(tmp_path)
    book.write("mkdocs.yml", text)
    config = read_site_config(book.book)
    assert config == {"a": False, "b": False, "c": 3, "d": None, "e": "os.system", "f": "$docs_dir"}
    assert isinstance(config["e"], PythonName)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: !!python/object/apply:os.system [x]\n", "mkdocs.yml:2: cannot be read: could not determine"),
        ("a: [1\n", "mkdocs.yml:2: cannot be read"),
        ("a: !ENV {b: c}\n", "mkdocs.yml:1: cannot be read: !ENV takes a name"),
        ("- a\n", "mkdocs.yml:1: holds no settings"),
    ],
)
def test_a_faulty_site_config_is_named_at_its_line(tmp_path, text, message):
    """Nothing is executed, and the line is named."""
    book = make_handbook(tmp_path)
    book.write("mkdocs.yml", text)
    with pytest.raises(CaptureError, match=message):
        read_site_config(book.book)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"defualt_host": "x"}, 'unknown key "defualt_host"; did you mean "default_host"?'),
        ({"default_host": 3}, "extra.capture.default_host must be text"),
        (["x"], "extra.capture must be a table"),
    ],
)
def test_faulty_settings_are_named(table, message):
    """A misspelt setting would be ignored for ever."""
    with pytest.raises(CaptureError, match=message.replace("?", r"\?")):
        site.parse_settings({"extra": {"capture": table}})


def test_plain_markdown_reads_the_handbook_again_only_when_a_file_changed(tmp_path, monkeypatch):
    """A page's edit costs no record; a record's edit shows at once, even of the same size and time."""
    book = make_handbook(tmp_path, {"x/speed": SPEED}, records=[record("x/speed", stdout="ratio 7.3x\n")])
    monkeypatch.chdir(tmp_path)
    reads = []
    real = catalogue.read_handbook
    monkeypatch.setattr(catalogue, "read_handbook", lambda *a, **k: reads.append(1) or real(*a, **k))
    objects = [markdown.Markdown() for _ in range(4)]
    first = page_in_progress.page_of(objects[0])
    assert page_in_progress.page_of(objects[0]) is first
    book.write("docs/index.md", "# Other\n")
    assert page_in_progress.page_of(objects[1]).site is first.site
    assert page_in_progress.page_of(objects[1]) is not first
    path = store.Handbook(tmp_path).record_path("epyc", "x/speed")
    times = path.stat()
    book.keep(record("x/speed", stdout="ratio 8.3x\n"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    again = page_in_progress.page_of(objects[2]).site
    assert again.catalogue.records["epyc", "x/speed"].stdout == "ratio 8.3x\n"
    book.write("snippets/x/speed.py", SPEED.replace("A title", "Another"))
    assert page_in_progress.page_of(objects[3]).site.catalogue.snippets["x/speed"].title == "Another"
    assert len(reads) == 3


def test_a_reading_without_local(tmp_path, monkeypatch):
    """Published builds see no record of this machine; the default host is never it."""
    book = make_handbook(tmp_path, {"x/speed": SPEED}, [host("local")], [record("x/speed", "local")])
    assert site.read_site(book.book, local=False).order == ()
    known = site.read_site(book.book)
    assert known.order == ("local",)
    assert known.default_host is None
    for value, expected in (("1", True), ("0", False), ("", False)):
        monkeypatch.setenv("CAPTURE_PUBLISH", value)
        assert site.is_for_publication() is expected
