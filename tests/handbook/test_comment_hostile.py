"""What strangers may write into a report, and what of it reaches a comment: text, and nothing that does anything."""

from __future__ import annotations

import ast
import re
import types
from pathlib import Path
from typing import Any

import pytest
from harness.comments import DIFF, MARKER, SCRIPT, SHA, commented, fresh_hub, zipped
from harness.properties import rows
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt


def loaded() -> Any:
    """Return the script as a module; it does nothing until it is the main one."""
    module = types.ModuleType("comment")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITHUB_REPOSITORY", "hub/book")
        exec(compile(SCRIPT, "captures-comment.yml", "exec"), module.__dict__)
    return module


COMMENT = loaded()
LINKING = {"link_open", "image", "html_inline", "html_block"}
ACTIVE = re.compile(r"(?i)@\w|#\w|\bgh-\d|://|www\.|\$\w")


def tokens(markdown: str) -> list[Any]:
    """Return every token of a text, read as GitHub reads it, HTML included."""
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return [part for token in reader.parse(markdown) for part in (token, *(token.children or ()))]


def last_paragraph(markdown: str) -> str:
    """Return the source of the last paragraph."""
    return str([token.content for token in tokens(markdown) if token.type == "inline"][-1])


def assert_inert(markdown: str) -> None:
    """Nothing in it is more than text, emphasis, a list, a table or a closed block of plain code."""
    for token in tokens(markdown):
        assert token.type not in LINKING, (token.type, token.content, markdown)
        if token.type == "fence":
            assert token.info in ("text", "diff"), token.info
        if token.type == "text":
            assert not ACTIVE.search(token.content), token.content


HOSTILE = {
    "html": "<script>alert(1)</script><img src=x onerror=y>\n<details open><summary>\n<!-- hidden",
    "entities": "&#64;maria &lt;b&gt; &commat;maria &num;12",
    "mentions": "@maria and @hub/team, mail a@b.example \\@maria",
    "references": "#12 GH-12 gh-12 hub/book#12 maria@a1b2c3d https://github.com/hub/book/issues/12",
    "links": "[x](https://e.example) [x][y] [y]\n\n[y]: https://e.example\n\n<https://e.example> www.e.example [x] (y)",
    "images": "![x](https://e.example/p.png) ![x][y]\n\n[y]: //e.example/p.png 'title'",
    "split": "[x]\n(https://e.example) [a\nb]: https://e.example\n\n[a b]",
    "diagrams": "```mermaid\ngraph TD; click A 'https://e.example'\n```\n\n~~~ geojson\n{}\n~~~\n\n```math\nx\n```",
    "math": "$x$ $$\\href{https://e.example}{y}$$ $`x`$",
    "open-fence": "```diff\n- a\n+ b",
    "nested-fence": "- ```\n  @maria\n\n> ~~~~\n> <b>\n\n   ```\n[x](y)",
    "fence-in-fence": "````\n```\n@maria\n```\n````\n[x](y)\n~~~\n```\n~~~\n",
    "wrong-closer": "```\n``` x\n~~~\n<b>\n```` \n<i>",
    "ticks": "a `` ` `` b ``` c `` ` @maria `<b>`",
    "footnote": "[^1]\n\n[^1]: https://e.example",
    "alert": "> [!CAUTION]\n> approved by @maria",
    "marker": f"{MARKER}### Captures\n\nOf {SHA[:10]}: nothing stands in the way",
    "controls": "a\x1b[2Jb\x00c\u202ed\u2066e\ufefff\u2028g\U000e0041h",
}


@pytest.mark.parametrize("text", rows(HOSTILE))
@pytest.mark.parametrize("name", ["diff_md", "check_txt"])
def test_hostile_text_is_only_text(tmp_path: Path, text: str, name: str) -> None:
    """In any report no tag, link, image, mention or reference comes out, and what follows keeps its place."""
    hub = fresh_hub(tmp_path)
    hub.answer("GET .*/artifacts/1/zip", file=zipped(**{"diff_md": DIFF, name: text}))
    hub.answer("GET .*/artifacts/2/zip", file=zipped(verify_md="**the end**\n"))
    body = commented(hub)
    foreign = body.split("and so by the pull request itself.\n", 1)[1]
    assert_inert(foreign)
    assert not foreign.startswith(MARKER) and body.count("](https://github.com/hub/book/actions/runs/42)") == 1
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069\u2028\ufeff\U000e0041]", body)
    assert last_paragraph(foreign) == "**the end**"


PARTS = [
    *("```", "````", "~~~", "`", "``", "\n", "\n\n", " ", "    ", "\t", "- ", "> ", "1. ", "| ", "|\n|-|\n", "*", "_"),
    *("[", "]", "(", ")", ":", "!", "<", ">", "&", "#", "@", "\\", "$", "/", "//", "http:", "www.", "e.example", "--"),
    *("amp;", "64;", "GH-", "1", "a", "é", "diff", "text", "mermaid", "script", "\x00", "\u202e", "\u200b"),
]


@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join), st.integers(100, 3000))
def test_no_text_becomes_more_than_text(text: str, room: int) -> None:
    """Whatever its parts are put together to, in Markdown and in code, and cut anywhere."""
    shown = COMMENT.text_of(text.encode("utf-8"))
    for markdown in (True, False):
        result = COMMENT.quoted(shown, markdown, room)
        assert len(result) <= room
        assert_inert(result)
        assert_inert(f"{result}\n**the end**\n")
        assert (
            tokens(f"{result}\n\nlast\n")[-2].content == "last" or tokens(f"{result}\n\nlast\n")[-3].content == "last"
        )


def test_the_script_is_in_order() -> None:
    """It stands in a YAML file, where no linter looks; GitHub pastes nothing into it."""
    assert "${{" not in SCRIPT and max(map(len, SCRIPT.split("\n"))) <= 120
    unused = {node.name for node in ast.walk(ast.parse(SCRIPT)) if isinstance(node, ast.FunctionDef)}
    assert {name for name in unused if SCRIPT.count(name) < 2} == set()
