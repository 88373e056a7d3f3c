"""A page as Markdown for those who read no HTML: cards, values and tables as text, whatever the records hold."""

from __future__ import annotations

import re
from pathlib import Path

import markdown
import pytest
from harness.handbooks import STALE, host, make_handbook, record, script

from capture.site.markdown import page_in_progress
from capture.site.model import output_text, site
from capture.site.page import llms_txt, markdown_copy

SPEED = script('print("ratio 7.3x")\n', title="Speed", values={"ratio": r"ratio ([\d.]+)x"})
HOSTS = [host("epyc", "EPYC"), host("h200", "H200", "cuda")]
RECORDS = [record("x/speed", "epyc", "ratio 7.3x\n"), record("x/speed", "h200", "ratio 9.1x\n", chip="NVIDIA H200")]


def copied(folder: Path, text: str, path: str = "docs/a/page.md", snippet: str = SPEED, **changes: object) -> str:
    """Return the copy of a page in a small handbook."""
    parts = {"snippets": {"x/speed": snippet}, "hosts": HOSTS, "records": RECORDS} | changes
    book = make_handbook(folder, **parts)  # type: ignore[arg-type]
    known = site.from_catalogue(book.catalogue(), site.Settings(default_host="epyc"))
    return markdown_copy.page_copy(
        page_in_progress.PageInProgress(known, page_in_progress.PageSource(path, text, "../../")), text
    )


def test_a_card_is_its_source_and_every_host_with_its_badge(tmp_path: Path) -> None:
    """The line above an output names chip, torch, gate and date; the record is a link away."""
    text = copied(tmp_path, "# A\n\n```capture\nx/speed\n```\n\nEnd.\n")
    assert text.startswith('# A\n\n**Speed** (`snippets/x/speed.py`)\n\n```python\nprint("ratio 7.3x")\n```\n\n')
    badge = (
        "EPYC: captured on AMD EPYC, AVX2, 2 vCPU (virtual machine); torch 2.13.0+cpu; CPU build; cuda no; "
        "starts with 2 threads; 2 runs agree; 29 Nov 2026; current. ([record](../../captures/epyc/x/speed.yaml))"
    )
    assert f"{badge}\n\n```text\nratio 7.3x\n```\n" in text
    assert "H200: captured on NVIDIA H200" in text
    assert text.endswith("```text\nratio 9.1x\n```\n\nEnd.\n")


def test_options_of_a_fence_hold_here_too(tmp_path: Path) -> None:
    """A host comes first; what is not to be shown is not there."""
    text = copied(tmp_path, '```capture host="h200" show="output"\nx/speed\n```\n')
    assert "```python" not in text
    assert text.index("ratio 9.1x") < text.index("ratio 7.3x")


def test_a_number_in_a_sentence_has_a_footnote(tmp_path: Path) -> None:
    """One for each record, however often it is named."""
    value = "`#!captured x/speed ratio{}`"
    text = copied(tmp_path, f"It is {value.format('')}, {value.format('')} or {value.format('@h200')}.\n")
    assert text.startswith("It is 7.3[^captured-1], 7.3[^captured-1] or 9.1[^captured-2].\n\n[^captured-1]: x/speed: ")
    assert "[^captured-2]: x/speed: captured on NVIDIA H200; torch 2.13.0+cpu; 29 Nov 2026; current\n" in text


def test_a_claim_stands_under_its_output(tmp_path: Path) -> None:
    """With what became of it there."""
    claimed = script('print("ratio 7.3x")\n', values={"ratio": r"ratio ([\d.]+)x"}, claims={})
    claimed = claimed.replace(
        "# [tool.capture.claims]", '# [tool.capture.claims.fast]\n# says = "it is fast"\n# holds = "ratio > 8"'
    )
    text = copied(tmp_path, "```capture\nx/speed\n```\n", snippet=claimed)
    assert "- fails here: it is fast" in text
    assert "- holds here: it is fast" in text


def test_stale_busy_failed_and_absent_results_say_so(tmp_path: Path) -> None:
    """Nobody takes such a number for a good one."""
    records = [
        record("x/speed", "epyc", "", stderr="Traceback\n", status="error", exit_code=1, source_sha256=STALE),
    ]
    text = copied(tmp_path, "```capture\nx/speed\n```\n", records=records)
    assert "; stale: source changed since" in text
    assert "Failed: exit code 1." in text
    assert "Nothing was printed to stdout." in text
    assert "Printed to stderr:\n\n```text\nTraceback\n```" in text
    assert "Not captured on H200 yet." in text
    assert "`capture run x/speed --host h200`" in text


@pytest.mark.parametrize("output", ["```\nout of the block\n", "a\x02b\x1b[31m\n", "\u202eabc\n", "a\u2028b\x0cc\n"])
def test_no_output_leaves_its_block(tmp_path: Path, output: str) -> None:
    """Backticks end no fence, and what a terminal would obey is made visible."""
    text = copied(
        tmp_path, "> ```capture show='output'\n> x/speed\n> ```\n", records=[record("x/speed", "epyc", output)]
    )
    assert not set("\x02\x1b\u202e") & set(text)
    fences = [line for line in text.splitlines() if line.startswith("> ````") and output.startswith("```")]
    assert len(fences) == (2 if output.startswith("```") else 0)
    assert all(line.startswith(">") for line in text.rstrip("\n").split("\n"))


@pytest.mark.parametrize(
    ("link", "copy"),
    [
        ("../index.md", "../../index.md"),
        ("other.md#part", "../other/index.md#part"),
        ("../b/index.md", "../../b/index.md"),
        ("../assets/card.png", "../../assets/card.png"),
        ("#part", "#part"),
        ("https://example.org/a.md", "https://example.org/a.md"),
        ("mailto:a@example.org", "mailto:a@example.org"),
    ],
)
def test_links_lead_to_the_other_copies(tmp_path: Path, link: str, copy: str) -> None:
    """A copy lies one folder deeper than its source; code keeps its text."""
    text = copied(tmp_path, f"[a]({link}) and `[a]({link})`\n\n[b]: {link}\n")
    assert text == f"[a]({copy}) and `[a]({link})`\n\n[b]: {copy}\n"


def test_a_table_is_a_table(tmp_path: Path) -> None:
    """The matrix of results, with what stands in its cells."""
    text = copied(tmp_path, "```capture-table\nmatrix\n```\n")
    head = "| snippet | [EPYC](../../hosts/epyc/) | [H200](../../hosts/h200/) |\n| --- | --- | --- |\n"
    assert text == f"{head}| x/speed | current | current |\n"


@pytest.mark.parametrize(
    "text", ["```capture\nx/sped\n```\n", "`#!captured x/speed rato`\n", "```capture-table\nno\n```\n", "```capture\n"]
)
def test_what_cannot_be_filled_in_stays(tmp_path: Path, text: str) -> None:
    """The page itself names the fault, and the build fails there."""
    assert copied(tmp_path, text) == text


def test_an_example_in_a_longer_fence_stays(tmp_path: Path) -> None:
    """A page that shows how to write a card shows just that."""
    text = "````markdown\n```capture\nx/speed\n```\n````\n"
    assert copied(tmp_path, text) == text


@pytest.mark.parametrize(
    "text",
    ["<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "![x](http://x/y.png)", r"\[x](javascript:a)",
     "a](javascript:x)", "</p><script>1</script>"],
)  # fmt: skip
def test_text_of_others_makes_no_markup_in_copies_and_lists(text: str) -> None:
    """Values, titles and claims are shown as they are: no tag, no link and no image is made of them."""
    body = output_text.as_markdown_text(text)
    entry = llms_txt.ListedPage(text, text, "/a/", text)
    listed = llms_txt.text(text, text, [entry])
    for written in (f"It is {body}.", f"| [{body}](a.md) |", listed):
        html = markdown.markdown(written)
        assert not re.search(r"<(?:img|script|/p><s)|href=\"(?!a\.md|a/index\.md)", html), html
    assert output_text.as_markdown_text("a < b, 3 > 2 * x_1") == "a < b, 3 > 2 * x_1"
