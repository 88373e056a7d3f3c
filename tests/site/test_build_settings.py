"""A check and a build take no code from mkdocs.yml but what lists name, and read nothing outside of the handbook."""

import os
import re
import subprocess
import sys

import pytest
from harness.handbooks import REPOSITORY, make_handbook

from capture.errors import CaptureError
from capture.site.markdown import build_settings, page_check, trusted_names
from capture.store import PythonName, read_located_config

MINE = "from pathlib import Path\nPath(__file__).with_name('PWNED').touch()\ndef makeExtension(**kw): ...\n"
WAYS_IN = {
    "sec-extension-name": ("markdown_extensions:\n  - subprocess:Popen: {args: [sh, -c, 'touch PWNED']}\n", 2),
    "callable-in-a-table": ("markdown_extensions:\n  shutil:rmtree: {path: docs}\n", 2),
    "method": ("markdown_extensions: ['os:system']\n", 1),
    "class-of-a-known-module": ("markdown_extensions:\n- toc\n- markdown.extensions.toc:TocExtension\n", 3),
    "module-of-the-branch": ("markdown_extensions: [toc, mine]\n", 1),
    "module-in-a-package": ("markdown_extensions:\n  - snippets.mine\n", 2),
    "near-a-known-one": ("markdown_extensions:\n  - pymdownx.detials\n", 2),
    "opens-any-file": ("markdown_extensions: [pymdownx.b64]\n", 1),
    "theme-folder": ("theme:\n  name: material\n  custom_dir: docs/theme\n", 3),
    "theme-folder-outside": ("theme: {name: material, custom_dir: ../theirs}\n", 1),
    "theme-name": ("theme:\n  name: mine\n", 2),
    "hooks": ("hooks:\n  - mine.py\n", 1),
    "plugin": ("plugins:\n  - captured\n  - macros\n", 3),
    "plugin-that-brings-plugins": ("plugins: [captured, group: {plugins: [macros]}]\n", 1),
    "inherit": ("INHERIT: ../base.yml\n", 1),
    "templates-among-pages": ("extra_templates: [index.html]\n", 1),
    "object": ("extra:\n  a: !!python/name:os.system\n", 2),
    "object-of-a-known-package": (
        "markdown_extensions:\n  - toc:\n      slugify: !!python/name:markdown.util.code_escape\n", 3,
    ),
    "object-of-pygments": ("a:\n  - b:\n      c: !!python/name:pygments.lexers.load_lexer_from_file\n", 3),
    "object-made": ("a: 1\nb: !!python/object/apply:os.system ['touch PWNED']\n", 2),
    "object-new": ("b: !!python/object/new:subprocess.Popen [['touch', 'PWNED']]\n", 1),
    "module-named": ("b: !!python/module:mine\n", 1),
    "variable-names-an-extension": ("markdown_extensions: [!ENV [HANDBOOK_EXTENSION, toc]]\n", 1),
    "variable-names-a-theme": ("theme:\n  name: !ENV HANDBOOK_THEME\n", 2),
    "variable-of-others": ("site_name: !ENV [HANDBOOK_X, GITHUB_TOKEN, x]\n", 1),
    "snippets-of-all": ("markdown_extensions:\n  - pymdownx.snippets\n", 2),
    "snippets-from-outside": ("markdown_extensions:\n  - pymdownx.snippets:\n      base_path: [docs, ../..]\n", 3),
    "snippets-from-the-net": ("markdown_extensions:\n - pymdownx.snippets: {base_path: a, url_download: true}\n", 2),
    "snippets-unbounded": ("markdown_extensions:\n - pymdownx.snippets: {base_path: docs, restrict_base_path: 0}\n", 2),
    "icons-from-outside": ("markdown_extensions:\n  - pymdownx.emoji: {options: {custom_icons: [/etc]}}\n", 2),
    "pygments-writes": ("markdown_extensions:\n  - codehilite\n", 2),
    "pages-elsewhere": ("docs_dir: /etc\n", 1),
    "site-elsewhere": ("site_dir: docs\n", 1),
    "verification-elsewhere": ("extra:\n  capture:\n    verification: /proc/self/environ\n", 3),
}  # fmt: skip


def faults(book):
    """Return all that the settings of a handbook are told to mend."""
    try:
        return [
            str(problem) for part in build_settings.problems(*read_located_config(book.book, {})) for problem in part
        ]
    except CaptureError as error:
        return [str(problem) for problem in error.problems]


def capture(root, *arguments, **env):
    """Run the tool as a console script would be, in a folder."""
    code = "import sys; sys.path[0:1] = []; from capture.cli import main; main()"
    command = [sys.executable, "-c", code, *arguments] if not env.pop("AS_MODULE", "") else [
        sys.executable, "-m", "capture", *arguments]  # fmt: skip
    return subprocess.run(command, cwd=root, env=os.environ | env, capture_output=True, text=True, check=False)


@pytest.fixture
def book(tmp_path):
    """A handbook whose branch brings modules of its own."""
    made = make_handbook(tmp_path)
    for name in ("mine.py", "macros.py", "snippets/mine.py", "docs/mine.py"):
        made.write(name, MINE)
    return made


@pytest.mark.parametrize("way", WAYS_IN)
def test_a_check_executes_nothing_and_names_the_line(book, way, monkeypatch):
    """Extension names, theme folders, hooks, plugins, variables and objects: each is refused where it stands."""
    text, line = WAYS_IN[way]
    monkeypatch.chdir(book.root)
    monkeypatch.syspath_prepend(str(book.root))
    monkeypatch.setenv("GITHUB_TOKEN", "seen-by-nobody")
    monkeypatch.setenv("HANDBOOK_EXTENSION", "mine")
    book.write("mkdocs.yml", text)
    told = faults(book)
    assert any(item.startswith(f"mkdocs.yml:{line}: ") for item in told), told
    assert "seen-by-nobody" not in "".join(told)
    try:
        page_check.check_pages(book.catalogue())
    except CaptureError as error:
        assert "seen-by-nobody" not in str(error)
    assert not list(book.root.rglob("PWNED"))
    assert "mine" not in sys.modules


def test_a_foreign_name_gets_the_nearest_known_one(book):
    """Who mistypes an extension, a plugin, a theme or an object need not look it up."""
    for text, near in (
        ("markdown_extensions: [pymdownx.detials]\n", 'did you mean "pymdownx.details"?'),
        ("plugins: [captured, serach]\n", 'did you mean "search"?'),
        ("theme: materail\n", 'did you mean "material"?'),
        ("a: !!python/name:capture.site.markdown.card_fence.formater\n", "card_fence.formatter"),
    ):
        book.write("mkdocs.yml", text)
        assert near in "".join(faults(book)), text


def test_what_other_handbooks_use_is_allowed(book):
    """Extensions of three packages under either name, overrides/, variables of the handbook."""
    book.write(
        "mkdocs.yml",
        "site_name: !ENV [HANDBOOK_NAME, x]\ntheme: {name: material, custom_dir: overrides}\n"
        "plugins: [search, captured, offline]\nmarkdown_extensions:\n- toc: {slugify: !!python/name:"
        "markdown.extensions.toc.slugify_unicode }\n- markdown.extensions.footnotes\n- pymdownx.superfences\n"
        "- codehilite\n"
        "- pymdownx.snippets: {base_path: [docs, snippets/a]}\n- pymdownx.emoji: {emoji_index: !!python/name:"
        "material.extensions.emoji.twemoji , emoji_generator: !!python/name:material.extensions.emoji.to_svg }\n",
    )  # fmt: skip
    assert faults(book) == []
    assert page_check.check_pages(book.catalogue()) == []


@pytest.mark.parametrize("as_module", ["", "yes"])
def test_modules_of_the_branch_are_not_imported(book, as_module):
    """As a script and with `-m`, a check in the folder of a branch takes every library from where it is installed."""
    for name in ("yaml", "markdown", "typer", "pymdownx/__init__", "material/__init__", "sitecustomize", "re"):
        for folder in ("", "docs/", "snippets/"):
            book.write(f"{folder}{name}.py", MINE)
    done = capture(book.root, "check", AS_MODULE=as_module)
    assert "Traceback" not in done.stderr
    assert not list(book.root.rglob("PWNED")), done.stderr


def test_a_variable_is_never_read_by_a_check(book, monkeypatch):
    """The outcome is the same on every machine, and no value of the judge's environment can be told."""
    monkeypatch.setenv("HANDBOOK_HOST", "seen-by-nobody")
    book.write("mkdocs.yml", "extra:\n  capture:\n    default_host: !ENV [HANDBOOK_HOST, epic]\n")
    (problem,) = page_check.check_pages(book.catalogue())
    assert '"epic"' in problem.message


@pytest.mark.parametrize(
    "way", ["near-a-known-one", "module-in-a-package", "theme-folder", "plugin-that-brings-plugins"]
)
def test_a_build_refuses_as_a_check_does(book, way):
    """The plugin reads mkdocs.yml as the check does, before a page is read."""
    extra = {
        "near-a-known-one": ("- admonition", "- markdown.extensions.util:x"),
        "module-in-a-package": ("- admonition", "- markdown.extensions"),
        "theme-folder": ("name: material", "name: material\n  custom_dir: docs"),
        "plugin-that-brings-plugins": ("- captured", "- captured\n  - group"),
    }[way]
    book.write("mkdocs.yml", book.read("mkdocs.yml").replace(*extra, 1))
    done = book.build()
    assert done.returncode and not (book.root / "site/index.html").exists()


@pytest.mark.parametrize("text", ["nav: 3\n", "plugins: {}\n", "markdown_extensions: 7\n", "markdown_extensions: [3]\n",
    "markdown_extensions: [toc: 3]\n", "plugins: [3]\n", "theme: [a]\n", "extra: 3\n",
    "nav: [3]\n", f"a: {'[' * 2000}\n",
    "a: &a [x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\n"
    "d: &d [*c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nf: [*e, *e, *e, *e, *e, *e, *e]\n",
    "a: &a [*a]\n", "- a\n"])  # fmt: skip
def test_settings_of_another_type_are_named(book, text):
    """Numbers for lists, depths without end, aliases that stand for millions: one problem each, no traceback."""
    book.write("mkdocs.yml", text)
    told = faults(book)
    assert told and all(item.startswith("mkdocs.yml:") for item in told)


def test_one_bad_file_hides_nothing_of_the_others(book):
    """A page that Markdown cannot render and settings that are no list leave every other problem in its place."""
    deep = "\n".join(f"{'    ' * depth}- a" for depth in range(300))
    book.write("docs/deep.md", f"# A\n\n{deep}\n")
    book.write("docs/brackets.md", f"# A\n\n{'[' * 6000}\n")
    book.write("docs/line.md", f"# A\n\n```{'x' * 100_000}\n```\n")
    book.write("docs/bytes.md", "x")
    (book.root / "docs/bytes.md").write_bytes(b"\xff\xfe\xff")
    book.write("docs/front.md", f"---\ntags: {'[' * 50_000}\n---\n# A\n")
    book.write("docs/z.md", "# A\n\n```capture\nx/none\n```\n\nIt is 3 times faster.\n")
    told = [str(item) for item in page_check.check_pages(book.catalogue())]
    for start in (
        "docs/deep.md:",
        "docs/brackets.md:3: ",
        "docs/line.md:3: ",
        "docs/bytes.md",
        "docs/front.md",
        "docs/z.md:3",
    ):
        assert any(item.startswith(start) for item in told), (start, told)
    book.write("mkdocs.yml", "markdown_extensions: 7\n")
    done = capture(book.root, "check")
    assert "Traceback" not in done.stderr
    assert "mkdocs.yml:1: " in done.stderr and "docs/z.md:7: " in done.stderr


@pytest.mark.parametrize("name", sorted(trusted_names.OBJECTS))
def test_each_object_on_the_list_is_there(name):
    """A name that packages no longer have would be advice that leads nowhere."""
    assert page_check.named_object(PythonName(name)) is not None


@pytest.mark.parametrize("name", sorted(trusted_names.EXTENSIONS - {"material.extensions.preview"}))
def test_each_extension_on_the_list_is_there(name):
    """And Markdown takes it by that name."""
    assert page_check.markdown_of({"markdown_extensions": [name]})


def test_make_looks_at_the_settings_before_mkdocs_does(book):
    """MkDocs itself would call what an extension's name leads to; every target that builds looks first."""
    text, _ = WAYS_IN["sec-extension-name"]
    book.write("mkdocs.yml", text)
    done = capture(book.root, "check", "--settings-only")
    assert done.returncode == 2 and "mkdocs.yml:2: " in done.stderr and not list(book.root.rglob("PWNED"))
    book.write("mkdocs.yml", (REPOSITORY / "mkdocs.yml").read_text("utf-8"))
    assert capture(book.root, "check", "--settings-only").returncode == 0
    lines = (REPOSITORY / "Makefile").read_text("utf-8").split("\n")
    building = [number for number, line in enumerate(lines) if re.search(r"BIN\)/mkdocs (build|serve)", line)]
    assert len(building) == 3
    assert all(lines[number - 1].endswith(": own-settings") for number in building)
