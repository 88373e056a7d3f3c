"""The fence and the captured value, through the real Markdown extensions: HTML, escapes, ids, errors at page:line."""

import logging
import re
from html.parser import HTMLParser

import markdown
import pytest
from harness.executions import case
from harness.handbooks import GATES, host, make_handbook, record, script

from capture.site.markdown.card_fence import formatter, validator
from capture.site.model import templates

SPEED = script(
    '"""Times."""\n\nprint("ratio 7.3x")\n\nprint("last")\n', title="Speed <b>", values={"ratio": r"ratio ([\d.]+)x"}
)
CUDA = script("import torch\n", title="Streams", needs=["cuda"])
HOSTILE = (
    "</code></pre><script>document.title=1</script><b>&amp;</b>\n"
    "{{ config }} {% include 'x' %} {#note#}\n"
    "```\n</section>\n```capture\nx/speed\n```\n"
    "# heading\n[link](javascript:alert(1)) <img src=x onerror=alert(1)>\n"
    "\x02wzxhzdk:0\x03 \x02klzzwxh:0000\x03 \x02amp\x03 \x1b[31m \u202e%5\u202c\n"
    "tab\there\n"
)


class Tree(HTMLParser):
    """Collects tags, ids, and the text inside every `pre`."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.ids, self.pre, self.depth = [], [], [], 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag == "pre":
            self.pre.append("")
            self.depth += 1

    def handle_endtag(self, tag):
        self.depth -= tag == "pre"

    def handle_data(self, data):
        if self.depth:
            self.pre[-1] += data


@pytest.fixture
def book(tmp_path):
    hosts = [host("epyc", "EPYC"), host("h200", "H200", "cuda"), host("local", "Mine")]
    records = [
        record("x/speed", "epyc", "ratio 7.3x\n"),
        record("x/speed", "h200", "ratio 0.4x\n", gates=GATES | {"cuda": True}),
        record("x/speed", "local", "ratio 5x\n"),
        record("x/hostile", "epyc", HOSTILE, stderr=HOSTILE),
    ]
    return make_handbook(tmp_path, {"x/speed": SPEED, "x/hostile": script("print()\n"), "x/cuda": CUDA}, hosts, records)


def fence(snippet, options=""):
    return f"```capture{options}\n{snippet}\n```\n"


def test_a_card_holds_source_tabs_badge_output_and_actions(book):
    """One fence gives the whole card, its title escaped, its header block hidden."""
    html, problems = book.page(fence("x/speed"))
    assert problems == []
    assert "Speed &lt;b&gt;" in html
    assert "/// script" not in html
    assert html.count('role="tab"') == 3
    tree = Tree(html)
    assert tree.pre[0].startswith('"""Times."""\n\nprint("ratio 7.3x")')
    assert tree.pre[1:] == ["ratio 7.3x", "ratio 0.4x", "ratio 5x"]
    for address in (
        "../captures/epyc/x/speed.yaml",
        "../snippets/x/speed.py",
        "/edit/main/docs/index.md",
        "issues/new?",
    ):
        assert f"{address}" in html


def test_hostile_output_is_text(book):
    """Tags, templates, fences and Python-Markdown's own marks in stdout and stderr stay text."""
    html, problems = book.page(f"{fence('x/speed')}\n{fence('x/hostile')}")
    assert problems == []
    tree = Tree(html)
    assert not {"script", "img", "h1"} & set(tree.tags)
    shown = HOSTILE.rstrip("\n")
    for raw, visible in (
        ("\x02", "\\x02"),
        ("\x03", "\\x03"),
        ("\x1b", "\\x1b"),
        ("\u202e", "\\u202e"),
        ("\u202c", "\\u202c"),
    ):
        shown = shown.replace(raw, visible)
    assert tree.pre.count(shown) == 2
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", html)
    assert html.count('<section class="capture') == 2


def test_hostile_words_in_every_field_are_text(tmp_path):
    """Chip, versions, hint and host title are written by strangers too."""
    bad = '"><script>x</script>\x02\u202e'
    item = record(
        "x/speed", "epyc", "ratio 1x\n", status="error", exit_code=1, hint=bad, chip=bad, torch=bad, os=bad, python=bad,
        driver=bad, packages={"p": bad}, gates={bad: True, "cuda": False}, diagnostics=bad, normalized=(bad,),
    )  # fmt: skip
    book = make_handbook(tmp_path, {"x/speed": SPEED}, [host("epyc", bad), host("other", "O")], [item])
    html, _ = book.page(f"{fence('x/speed')}\n`#!captured x/speed ratio`")
    assert "script" not in Tree(html).tags
    assert not re.search("[\x02\u202e]", html)


@case("site-dup-id")
def test_ids_are_unique_and_derive_from_snippet_host_and_use(case, book):
    """The same snippet twice on a page gives other ids; a host's panel can be linked to."""
    html, problems = book.page(f"{fence('x/speed')}\n{fence('x/speed')}\n\n```python\nx = 1\n```\n")
    assert problems == []
    ids = Tree(html).ids
    assert len(ids) == len(set(ids))
    assert {"capture-x-speed", "capture-x-speed--h200", "capture-x-speed-2", "capture-x-speed-2--h200"} <= set(ids)


def test_show_and_lines(book):
    """Parts and lines can be chosen; the numbers are those of the file."""
    source, _ = book.page(fence("x/speed", ' show="source" lines="3-4"'))
    assert 'role="tab"' not in source
    assert Tree(source).pre == ['print("ratio 7.3x")\n']
    assert 'data-linenos="3 "' in source
    output, _ = book.page(fence("x/speed", ' show="output"'))
    assert Tree(output).pre == ["ratio 7.3x", "ratio 0.4x", "ratio 5x"]


@pytest.mark.parametrize(
    ("body", "options", "message"),
    [
        ("x/sped", "", 'no snippet "x/sped"; did you mean "x/speed"?'),
        ("x/speed", ' hots="h200"', 'unknown option "hots"; did you mean "host"?'),
        ("x/speed", ' host="h20"', 'no host "h20"; did you mean "h200"?'),
        ("x/speed", ' host="local"', 'host "local" is whatever machine a reader is on'),
        ("x/speed", ' show="sauce"', 'show="sauce"; did you mean "source"?'),
        ("x/speed", " show", 'show="show"; known: both, output, source'),
        ("x/speed", ' lines="3-99"', 'lines="3-99": snippets/x/speed.py has lines 1 to 5 above its header'),
        ("x/speed", ' lines="0-2"', "has lines 1 to 5"),
        ("x/speed", ' lines="4-3"', "has lines 1 to 5"),
        ("x/speed", ' lines="a"', "write one range"),
        ("x/speed\nx/hostile", "", "a capture fence holds one snippet id, such as instruments/bf16_linear; found 2"),
        ("", "", "found 0"),
    ],
)
def test_a_faulty_fence_is_named_at_its_line(book, body, options, message):
    """Front matter counts: the line is the editor's. The page shows the same words in the card's place."""
    page = f"---\ndescription: x\n---\n\n# Title\n\n{fence('x/speed')}\n{fence(body, options)}"
    html, problems = book.page(page, "docs/a/page.md")
    assert len(problems) == 1
    assert str(problems[0]).startswith("docs/a/page.md:11: ")
    assert message in str(problems[0])
    assert "This result cannot be shown (docs/a/page.md:11)" in html


def test_every_fault_of_a_fence_is_named(book):
    """Three mistakes are mended in one go."""
    _, problems = book.page(fence("x/sped", ' hots="a" show="b"'))
    assert len(problems) == 3


@pytest.mark.parametrize("opening", ["```capture host=h200", "``` capture show", "~~~capture"])
def test_a_fence_that_superfences_does_not_read_is_named(book, opening):
    """An option without quotes, or a fence that is never closed, would show as raw text and build."""
    _, problems = book.page(f"# T\n\n{opening}\nx/speed\n" + ("```\n" if "host" in opening else ""))
    assert [problem.line for problem in problems] == [3]
    assert "this capture fence is not read" in problems[0].message


def test_a_fence_in_an_indented_block_is_an_example(book):
    """Documentation may show how a fence is written, with ids that do not exist."""
    html, problems = book.page(
        "Write\n\n    ```capture\n    no/such\n    ```\n\n````\n```capture\nno/such\n```\n````\n"
    )
    assert problems == []
    assert "cannot be shown" not in html


def test_fences_in_lists_quotes_and_admonitions(book):
    """A card stands wherever a fence may."""
    page = "- item\n\n    ```capture\n    x/speed\n    ```\n\n> ```capture\n> x/sped\n> ```\n\n"
    page += "!!! note\n\n    ```capture\n    x/spe\n    ```\n"
    html, problems = book.page(page)
    assert [problem.line for problem in problems] == [7, 13]
    assert html.count('<section class="capture') == 1


def test_a_fault_of_the_renderer_is_not_swallowed(book, monkeypatch):
    """Whatever goes wrong shows on the page and counts as a problem."""
    monkeypatch.setattr(templates, "card", lambda *_: 1 / 0)
    html, problems = book.page(fence("x/speed"))
    assert "ZeroDivisionError" in html
    assert "docs/index.md:1: the card cannot be rendered (ZeroDivisionError" in str(problems[0])


def test_a_faulty_header_is_named_where_it_is_used(tmp_path):
    """A snippet that cannot be read is not called unknown."""
    book = make_handbook(tmp_path, {"x/bad": "print(1)\n"})
    _, problems = book.page(fence("x/bad"))
    assert 'snippet "x/bad" cannot be read: snippets/x/bad.py:2: no header' in str(problems[0])


def test_an_id_given_twice_is_named(book):
    """Links would jump to the first; text that only looks like an attribute does not count."""
    page = '<div id="output">a</div>\n\n<div id="output">b</div>\n\n`<i id="x"> <i id="x">`\n'
    _, problems = book.page(page)
    assert [str(problem) for problem in problems] == [
        'docs/index.md:3: the id "output" stands on this page twice; rename one'
    ]


def test_no_host_at_all_is_no_fault(tmp_path):
    """A fresh handbook builds: its pages say that nothing is captured yet."""
    book = make_handbook(tmp_path, {"x/speed": SPEED}, hosts=[])
    html, problems = book.page("`#!captured x/speed ratio@h200`\n\n" + fence("x/speed", ' host="h200"'))
    assert problems == []
    assert ">not captured</span>" in html
    assert "no host has captured here" in html


def test_a_promise_without_a_record_is_a_problem_of_its_own_rule(book):
    """The page shows what is missing; strict builds fail, and `capture check` can tell it from a mistake."""
    book.write("snippets/x/new.py", script("print()\n"))
    html, problems = book.page(fence("x/new"))
    assert [problem.rule for problem in problems] == ["missing"]
    assert "capture run x/new --host epyc" in html


def test_plain_markdown_needs_no_plugin(book, monkeypatch, caplog):
    """Another site generator that runs Markdown extensions renders the card, and logs what is wrong."""
    monkeypatch.chdir(book.root / "docs")
    fences = [{"name": "capture", "class": "capture", "format": formatter, "validator": validator}]
    md = markdown.Markdown(
        extensions=["pymdownx.superfences"], extension_configs={"pymdownx.superfences": {"custom_fences": fences}}
    )
    with caplog.at_level(logging.WARNING, "mkdocs.capture"):
        html = md.convert(fence("x/speed") + "\n" + fence("x/sped"))
    assert "ratio 7.3x" in html
    assert "/blob/main/docs/captures/epyc/x/speed.yaml" in html
    assert 'no snippet "x/sped"; did you mean "x/speed"?' in caplog.text


def test_plain_markdown_outside_a_handbook_says_so(tmp_path, monkeypatch, caplog):
    """Nothing is found, nothing is raised: the page and the log say what to do."""
    monkeypatch.chdir(tmp_path)
    fences = [{"name": "capture", "class": "capture", "format": formatter, "validator": validator}]
    md = markdown.Markdown(
        extensions=["pymdownx.superfences"], extension_configs={"pymdownx.superfences": {"custom_fences": fences}}
    )
    assert "no handbook here" in md.convert(fence("x/speed"))
    assert "no handbook here" in caplog.text
