"""The glossary of this handbook, and the topics of its pages."""

from __future__ import annotations

import re

import pytest
from harness.handbooks import REPOSITORY

from capture import store
from capture.site.markdown import handbook_pages
from capture.store import catalogue

DOCS = REPOSITORY / "docs"
GLOSSARY = DOCS / "reference" / "glossary.md"
ENTRIES = re.findall(r"^(\S.*) \{ #(\S+) \}\n:   (.+(?:\n    .+)*)$", GLOSSARY.read_text("utf-8"), re.MULTILINE)
BOOK = store.Handbook(REPOSITORY)
# A new topic is added here: it should say what no topic says yet, and more than one page will want it.
TOPICS = {
    "attention", "autocast", "backends", "compile", "CUDA graphs", "data loading", "debugging", "distributed",
    "dynamic shapes", "export", "gradients", "graph breaks", "instruments", "kernels", "loss scaling", "memory",
    "number formats", "optimizers", "profiling", "quantization", "recompilation", "reproducibility", "streams",
    "threads", "timing", "versions", "views",
}  # fmt: skip


def plain(text: str) -> str:
    """Return text in small letters, with blanks for what joins the parts of a term."""
    return " ".join(re.sub(r"[-_]", " ", text.lower()).split())


@pytest.fixture(scope="module")
def handbook() -> str:
    """All that readers see: the other pages, the scripts, and what they printed."""
    found = [path.read_text("utf-8") for path in handbook_pages.page_paths(BOOK) if path != GLOSSARY]
    cat = catalogue.read_handbook(BOOK, local=False)
    found += [snippet.source for snippet in cat.snippets.values()]
    found += [item.stdout for item in cat.records.values()]
    return plain(" ".join([*found, "steal"]))  # a word of every timing's card


def test_terms_are_sorted_and_have_their_addresses() -> None:
    """As a reader looks them up; the anchor is the term."""
    terms = [term for term, _, _ in ENTRIES]
    assert len(terms) > 50
    assert terms == sorted(terms, key=str.lower)
    assert [anchor for _, anchor, _ in ENTRIES] == [term.lower().replace(" ", "-") for term in terms]


@pytest.mark.parametrize(("term", "meaning"), [(term, meaning) for term, _, meaning in ENTRIES])
def test_a_term_is_used_and_explained_shortly(term: str, meaning: str, handbook: str) -> None:
    """It stands somewhere else in the handbook; one or two sentences, and a link to where it is shown."""
    assert re.search(rf"\b{re.escape(plain(term))}", handbook)
    said, see, where = " ".join(meaning.split()).partition(" See ")
    assert see and re.search(r"\]\([^)]+\.md(#[^)]+)?\)", where)
    assert 1 <= len(re.findall(r"\.(?= [A-Z]|$)", said)) <= 2
    assert len(said.split()) <= 45


def test_topics_are_spelt_alike() -> None:
    """Each topic of a page is in the list, each of the list on a page; every lesson has one to four."""
    named = {page.path: page.topics for page in handbook_pages.HandbookPages(BOOK).summaries}
    assert {topic for topics in named.values() for topic in topics} == TOPICS
    assert all(len(topics) == len(set(topics)) <= 4 for topics in named.values())
