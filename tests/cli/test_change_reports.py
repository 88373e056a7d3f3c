"""Changes as text and Markdown: one row a cause, numbers as a table, what must not be merged first."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.reports import NUMPY, SLOW, TORCH, change, of, plain, rendered
from markdown_it import MarkdownIt

from capture.cli.report import change_json, change_markdown, change_rows
from capture.review.handbook_changes import HostChange
from capture.review.number_alignment import MovedNumber
from capture.review.record_change import KINDS


def test_one_cause_is_one_row() -> None:
    """cmp-lib-repr: an upgrade that reprints values in many captures is one item for the reviewer, in each format."""
    edit = '"1.5" -> "np.float64(1.5)"'
    lines = ("- [1.5]", "+ [np.float64(1.5)]")
    found = of(*(change(f"a/s{number:02}", causes=NUMPY, edit=edit, lines=lines) for number in range(14)))
    said = plain(found)
    row = f"text changed             numpy 1.26.4 -> 2.4.6: 14 captures, the same edit {edit}"
    assert said[1] == row
    assert said[2].strip() == "a/s00, a/s01, a/s02, a/s03, a/s04, a/s05 and 8 more on epyc"
    assert [line.strip() for line in said[3:]] == ["- [1.5]", "+ [np.float64(1.5)]"]
    assert rendered(found).text.count("14 captures, the same edit") == 1
    assert change_json.document(found)["counts"] == {"text changed": 14}


def test_several_edits_of_one_cause_are_told_apart() -> None:
    """They stay one row; each edit has its line with its captures, the last ones are counted."""
    found = of(*(change(f"a/s{number:02}", causes=TORCH, edit=f'"x" -> "{number // 2}"') for number in range(20)))
    said = plain(found)
    assert said[1].endswith("2.14.1+cpu: 20 captures, 10 different edits")
    assert said[3].strip() == 'a/s00, a/s01: "x" -> "0"'
    assert said[-1].strip() == "and 4 more"
    assert "a/s10, a/s11" in rendered(found).text


def test_a_snippet_that_changed_is_a_cause_of_its_own() -> None:
    """Two edited snippets are two rows; one of them on two hosts is one."""
    records = [change(key, host=host, causes=("snippet changed",), edit="e")
               for key in ("a/one", "a/two") for host in ("epyc", "h200")]  # fmt: skip
    found = change_rows.rows(of(*records))
    assert [(row.first.snippet, len(row.changes)) for row in found] == [("a/one", 2), ("a/two", 2)]
    assert found[0].names == "a/one on epyc, a/one on h200"


def test_without_a_cause_each_stands_alone() -> None:
    """What nothing explains is not gathered, nor is what is worst."""
    found = of(change("a/one"), change("a/two"), change("a/three", "claim broken"), change("a/four", "claim broken"))
    assert len(change_rows.rows(found)) == 4
    assert "a/one on epyc: nothing else changed" in plain(found)[3]


def test_every_class_has_a_row_in_order() -> None:
    """All thirteen, worst first, in both reports."""
    found = of(*(change(f"a/s{number}", kind, detail="why") for number, kind in enumerate(KINDS)))
    said = plain(found)
    assert said[0] == "base -> head: 13 captures differ, 10 to read"
    assert [line.split("  ")[0] for line in said[1:] if not line.startswith(" ")] == list(KINDS)
    cells = re.findall(r"^\| ([a-z ]+) \| 1 \|", change_markdown.text(found), re.MULTILINE)
    assert cells == list(KINDS)


def test_nothing_differs() -> None:
    """One line says so, in both reports."""
    assert plain(of()) == ["base -> head: no capture differs"]
    assert change_markdown.text(of()) == "**base -\\> head: no capture differs**\n"
    assert plain(of(change()))[0] == "base -> head: 1 capture differs, 1 to read"


def test_moved_numbers_are_a_table() -> None:
    """Name, old, new, ratio and tolerance, as printed; the unnamed of a timing are left out."""
    other = MovedNumber("line 1, float32", "1,024", "2,048", "any", within=True, time=True)
    found = of(change("a/speed", "number beyond tolerance", numbers=(SLOW, other)))
    assert [line.split() for line in plain(found)[2:]] == [
        ["number", "old", "new", "ratio", "may", "vary", "by"],
        ["slowdown", "42.7", "9.9", "0.232", "factor", "3"],
    ]
    shown = rendered(found)
    assert "table" in shown.tags and re.search(r"slowdown\s+42.7\s+9.9\s+0.232\s+factor 3", shown.text)


def test_many_numbers_are_counted() -> None:
    """A table ends after a few rows, with the count of the others."""
    numbers = tuple(replace(SLOW, name=f"v{number}") for number in range(20))
    found = of(change("a/speed", "number beyond tolerance", numbers=numbers))
    assert plain(found)[-1].strip() == "and 14 more"
    assert "and 14 more" in rendered(found).text


def test_columns_stand_below_each_other_whatever_the_script() -> None:
    """A Chinese name takes two columns a character."""
    numbers = (replace(SLOW, name="速度", old="1"), replace(SLOW, name="ab", old="2"))
    said = plain(of(change("a/speed", "number beyond tolerance", numbers=numbers)))
    assert said[3].index("1  ") + 2 == said[4].index("2  ")


def test_what_must_not_be_merged_stands_first() -> None:
    """A few reasons in full, the others counted."""
    found = of(*(change(f"a/s{number}", "claim broken", detail="d", failing=f"reason {number}") for number in range(9)))
    assert plain(found)[1:7] == [
        "must not be merged:", "  reason 0", "  reason 1", "  reason 2", "  reason 3",
        "  and 5 more, in the rows below",
    ]  # fmt: skip
    assert "reason 3" in rendered(found).text and "and 5 more" in rendered(found).text


def test_the_host_line_comes_before_the_rows() -> None:
    """What about a host changed, each fact in its line; of many hosts the last are counted."""
    hosts = tuple(HostChange(f"h{number}", ("another machine (cpu.isa: AVX2 -> AVX512)",)) for number in range(9))
    said = plain(of(change(), hosts=hosts))
    assert said[1] == "host h0  another machine (cpu.isa: AVX2 -> AVX512)"
    assert said[7].endswith("and 3 more hosts")
    assert "and 3 more hosts" in rendered(of(change(), hosts=hosts)).text


def test_the_markdown_is_well_formed() -> None:
    """Heading, reasons, tables and diffs each stand alone, so that none swallows the next."""
    found = of(
        change("a/one", "claim broken", detail="claim x: y > 5, but y is 1", failing="a/one on epyc: claim x"),
        change("a/speed", "number beyond tolerance", numbers=(SLOW,)),
        change("a/two", causes=TORCH, lines=("- old", "+ new"), edit='"old" -> "new"'),
        change("a/x", causes=NUMPY, edit='"a" -> "b"'), change("a/y", causes=NUMPY, edit='"c" -> "d"'),
        hosts=(HostChange("epyc", ("torch 2.13.0 -> 2.14.1 in 4 records",)),),
    )  # fmt: skip
    tokens = MarkdownIt("commonmark").enable("table").parse(change_markdown.text(found))
    top = [token.type for token in tokens if token.level == 0 and not token.type.endswith("_close")]
    assert top == [
        "paragraph_open", "paragraph_open", "bullet_list_open", "table_open", "table_open", "paragraph_open",
        "bullet_list_open", "paragraph_open", "fence", "paragraph_open", "table_open",
    ]  # fmt: skip
    (fence,) = [token for token in tokens if token.type == "fence"]
    assert (fence.info, fence.content) == ("diff", "- old\n+ new\n")
