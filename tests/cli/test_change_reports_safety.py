"""Reports of changes are safe whatever was printed, never longer than can be read, and whole as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from harness.properties import rows
from harness.reports import COMMENT, SLOW, TORCH, change, many, of, plain, rendered
from markdown_it import MarkdownIt

from capture import plain_data
from capture.cli.report import change_json, change_markdown, change_rows, change_text
from capture.errors import Problem
from capture.review.handbook_changes import HostChange
from capture.review.number_alignment import MovedNumber
from capture.review.record_change import RecordChange

HOSTILE = {
    "mention": "@torvalds and @org/team",
    "reference": "#1, owner/repo#2, GH-3",
    "link": "https://evil.example/a and www.evil.example ftp://x.example",
    "address": "mailto:a@b.example",
    "markdown-link": "[click](javascript:alert(1)) ![x](http://x.example/a.png) [a]: http://x.example",
    "render-html": "<script>alert(1)</script><img src=x onerror=y> &lt;b&gt; &amp; <!-- x",
    "emphasis": "**bold** _it_ ~~gone~~ `code` ``c`",
    "pipe": "a | b || c \\| d",
    "heading": "# heading",
    "list": "- item",
    "number": "1. item",
    "rule": "--- ***",
    "fence": "```\n# out of it\n```",
    "long-fence": "`````\n</details>",
    "mathematics": "$x^2$ and $$y$$",
    "emoji": ":tada: :+1: :100:",
    "quote": "> [!WARNING]\n> x",
    "backslash": "trailing \\",
    "render-jinja": "{{ config }} {% include 'x' %}",
    "yaml-control": "\x1b[2J\x1b]0;owned\x07 \x00 \x9b31m",
    "newline": "a\nidentical                14 captures",
    "carriage-return": "a\rb",
    "render-bidi": "speedup \u202e%5 ylno\u202c \u2066x\u2069",
    "line-separator": "a\u2028b\x85c",
    "tab": "a\tb",
    "table": "| a | b |\n| --- | --- |",
    "chinese": "損失 下降",
    "arabic": "نص عربي",
}


@pytest.mark.parametrize("words", rows(HOSTILE))
def test_strangers_text_is_shown_as_it_is(words: str) -> None:
    """Wherever it stands it makes no element, mentions nobody, links nowhere, and drives no terminal."""
    problem = Problem("docs/captures/epyc/a/one.yaml", 3, words)
    number = MovedNumber(words, "1", "2", words, within=False, time=False)
    found = of(
        change("a/one", "claim broken", detail=words, causes=(words,), failing=words),
        change("a/two", "text changed", causes=(words,), edit=words, lines=(f"- {words}", f"+ {words}", words)),
        change("a/four", "text changed", causes=TORCH, edit=words), change("a/five", causes=TORCH, edit="y"),
        change("a/three", "number beyond tolerance", numbers=(number,)),
        change("a/six", "not comparable", detail=words), change("a/seven", "removed", detail=words),
        base=words, hosts=(HostChange(words, (words,)),), problems=(problem,),
    )  # fmt: skip
    text = "\n".join(plain(found))
    markdown = change_markdown.text(found)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e\u2066-\u2069]", text + markdown)
    shown = change_rows.one_line(words).strip()
    assert shown in text
    page = rendered(found)
    assert page.tags <= {"p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "pre", "code"}
    assert shown in page.text.replace("\u200b", "")
    outside = re.sub(r"^(`{3,})diff\n.*?\n\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"@\w|#\d|\w://|www\.|GH-\d|:tada:|:\+1:|:100:|(?<!\\)\$", outside)


def test_a_link_is_broken_where_a_browser_would_mend_it() -> None:
    """A host's name drops a blank without width, so the mark stands inside the scheme and inside `www.`."""
    assert change_markdown.escaped("see https://x.example") == "see https\u200b://x.example"
    assert change_markdown.escaped("see www.x.example") == "see www\u200b.x.example"


def test_a_fence_is_longer_than_any_inside() -> None:
    """Output that ends a block of code stays inside it."""
    found = of(change("a/one", lines=("- ```", "+ ``````", "<b>")))
    (fence,) = [token for token in MarkdownIt("commonmark").parse(change_markdown.text(found)) if token.type == "fence"]
    assert fence.content == "- ```\n+ ``````\n<b>\n"


def test_five_thousand_changes_stay_within_a_comment() -> None:
    """As much as fits, in order, then the count of rows and captures that were cut; what is shown is whole."""
    markdown = change_markdown.text(many(5000))
    assert 20_000 < len(markdown) < COMMENT
    shown = len(re.findall(r"^\| text changed \| 1 \|", markdown, re.MULTILINE))
    assert f"… {5000 - shown:,} more rows ({5000 - shown:,} captures), left out" in markdown
    diffs = markdown.count("```diff\n")
    assert diffs and f"… {5000 - diffs:,} more captures with details, left out" in markdown
    assert markdown.count("\n```\n") == diffs
    assert "5,000 captures differ, 5,000 to read" in markdown


@pytest.mark.parametrize("character", ["x", "|", "\x00", "@", "損", "`", "://"])
def test_no_text_is_too_long_for_a_comment(character: str) -> None:
    """However long a stranger's text is in whatever place, and however it must be escaped."""
    words = character * 100_000
    number = MovedNumber(words, "9" * 100_000, "8" * 100_000, words, within=False, time=True)
    found = of(
        *(change(f"a/s{count}", "claim broken", detail=words, failing=f"{count}{words}") for count in range(9)),
        *(change(f"a/t{count}", causes=(words, str(count)), edit=words, lines=(words[:150],) * 13) for count in (1, 2)),
        change("a/u", "number beyond tolerance", numbers=(number,) * 9), change("a/v", "not comparable", detail=words),
        hosts=tuple(HostChange(f"h{count}", (words,) * 9) for count in range(9)),
    )  # fmt: skip
    assert len(change_markdown.text(found)) < COMMENT
    assert len(change_markdown.text(replace(found, across_hosts=True))) < COMMENT
    assert all(len(line) < 8 * change_rows.SENTENCE_LENGTH for line in plain(found))


@pytest.mark.parametrize("count", [1, 5, 20, 60, 5000])
def test_the_text_fits_one_screen(count: int) -> None:
    """Details give way first, then the least of the rows, which are counted; no line is taken without need."""
    said = plain(many(count))
    assert len(said) <= change_text.SCREEN_LINES
    shown = sum(line.startswith("text changed") for line in said)
    assert shown == count or f"and {count - shown:,} more rows ({count - shown:,} captures)" in said[-1]
    assert shown >= min(count, 40)
    if count == 1:
        assert len(said) == 2 + 12


def test_the_worst_keep_their_place_on_the_screen() -> None:
    """What is cut is the least; hosts and reasons leave room for the rows."""
    hosts = tuple(HostChange(f"h{number}", tuple("abcdefgh")) for number in range(20))
    worst = change("a/bad", "status changed", detail="ok (exit 0) -> crashed", failing="a/bad: crashed")
    found = many(500)
    said = plain(replace(found, records=(*found.records, worst), hosts=hosts))
    assert len(said) <= change_text.SCREEN_LINES
    (row,) = [line for line in said if line.startswith("status changed")]
    assert "a/bad on epyc" in row


def test_json_round_trip() -> None:
    """What a program reads is what was found, whatever characters and numbers are in it; it is strict JSON."""
    numbers = (MovedNumber("loss", "nan", "inf", "share 0.1", within=False, time=False), SLOW)
    records = tuple(
        change(f"a/s{number}", "text changed", edit=words, lines=(words,), causes=(words,), numbers=numbers)
        for number, words in enumerate(HOSTILE.values())
    )
    problem = Problem("docs/captures/epyc/a/one.yaml", 3, "holds a token", "secret")
    found = of(*records, hosts=(HostChange("epyc", ("損失",)),), problems=(problem,))
    text = json.dumps(change_json.document(found), allow_nan=False)
    read = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert read == change_json.document(found)
    assert tuple(plain_data.decode(RecordChange, item) for item in read["records"]) == found.records
    assert tuple(plain_data.decode(HostChange, item) for item in read["hosts"]) == found.hosts
    assert (read["schema"], read["base"], read["head"]) == (change_json.SCHEMA_VERSION, "base", "head")
    assert (read["to_read"], read["private"], read["across_hosts"]) == (len(records), True, False)
    assert read["failing"] == ["docs/captures/epyc/a/one.yaml:3: holds a token"]
