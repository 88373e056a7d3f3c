"""Synthetic handbooks of any size, made of what real ones hold: the mix of prose, values and cards of our own lessons.

Everything is what the tool would have written: each script prints what its records say, digests are its own, and no
two pages share their text. The same number gives the same handbook.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import itertools
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.handbooks import host, make_handbook, record, script

from benchmarks.generated import write
from capture import store
from capture.host.environment import Conditions
from capture.host.host import Host, chip
from capture.record import record as records
from capture.record.record import Record, Runs
from capture.snippet.snippet import Snippet

CHAPTER_SIZE = 15  # pages a chapter, chapters a group, groups a part: a page then lists as much, however many there are
HOSTS = (
    host("epyc-avx2", "EPYC, AVX2"),
    host("epyc-avx512", "EPYC, AVX512", isa="AVX512", bf16=True, vnni=True),
    host("h200", "NVIDIA H200", "cuda", model="Intel Xeon", vendor="Intel", isa="AVX512", count=16),
    host("workstation", "Ryzen workstation", model="AMD Ryzen", count=32),
)
SPEEDS = {"epyc-avx2": 1.0, "epyc-avx512": 0.71, "h200": 0.13, "workstation": 0.44}
SOFTWARE: dict[str, dict[str, Any]] = {
    "epyc-avx2": {},
    "epyc-avx512": {"cpu_capability": "AVX512"},
    "h200": {
        "torch": "2.13.0+cu130", "cuda_build": "13.0",
        "driver": "580.95.05", "gates": {"cuda": True, "rocm": False, "mps": False, "xpu": False, "xla": False},
    },
    "workstation": {"os": "Ubuntu 26.04, Linux 6.17", "torch": "2.14.1+cpu"},
}  # fmt: skip
WORDS = [
    "tensor", "kernel", "stride", "buffer", "graph", "stream", "event", "queue", "cache", "region", "weight",
    "gradient", "scale", "step", "batch", "thread", "core", "loop", "call", "copy", "view", "slice", "dtype",
    "mask", "block", "tile", "warp", "lane", "host", "device", "driver", "clock", "trace", "sample", "median",
    "spread",
]  # fmt: skip
VERBS = [
    "reads", "holds", "moves", "keeps", "drops", "waits", "counts", "splits", "joins", "hides", "shows", "needs",
    "takes", "gives", "starts", "ends",
]  # fmt: skip
ADJECTIVES = [
    "first", "last", "warm", "cold", "small", "large", "quiet", "busy", "early", "late", "narrow", "wide", "plain",
    "strict", "lazy", "eager",
]  # fmt: skip
PARAGRAPHS, SENTENCES = 8, 2  # with all else as many words as a lesson of ours has for each of its cards: 390
PATTERNS = {
    "count": r"^count +(\d+)$",
    "slow": r"^loop +([\d.]+) ms",
    "fast": r"^expression +([\d.]+) ms",
    "ratio": r"^ratio +([\d.]+)x",
}


def name_of(number: int) -> str:
    """Return the id of a snippet, and of the page about it."""
    return f"chapter{number // CHAPTER_SIZE:04d}/lesson{number:05d}"


def source(number: int) -> str:
    """Return a script of the usual length: two ways to the same sums, timed, with a table and the ratio."""
    rng = random.Random(number)
    one, other, table = (f"{rng.choice(ADJECTIVES)}_{rng.choice(WORDS)}_{end}" for end in ("sum", "fold", "rows"))
    count, step, offset = rng.randint(20, 90), rng.randint(2, 9), rng.randint(1, 99)
    rows = rng.sample(range(2, 60), 9)
    about = f"The {rng.choice(ADJECTIVES)} {rng.choice(WORDS)} {rng.choice(VERBS)} the {rng.choice(WORDS)}"
    return f'''"""{about}: two ways."""

import math
import statistics
from time import perf_counter

COUNT = {count}
OFFSET = {offset}  # far from zero, so that no {rng.choice(WORDS)} is hidden
{table} = {rows}


def {one}(width):
    """Add the squares of every {step}th item up to a width."""
    total = 0
    for item in range(OFFSET, OFFSET + width * COUNT, {step}):
        total += item * item
    return total


def {other}(width):
    # The same in one expression, which {rng.choice(VERBS)} no name in between.
    return sum(item * item for item in range(OFFSET, OFFSET + width * COUNT, {step}))


def median_ms(function, width, calls=3):
    times = []
    for _ in range(calls):
        start = perf_counter()
        function(width)
        times.append((perf_counter() - start) * 1e3)
    return statistics.median(times)


print("count   ", COUNT)
print("{rng.choice(WORDS):8}", f"{{math.sqrt(COUNT * OFFSET):.3f}}")
for width in {table}:
    assert {one}(width) == {other}(width)
    print(f"width {{width:3}}  sum {{{one}(width):>12,}}")
slow, fast = median_ms({one}, COUNT), median_ms({other}, COUNT)
print(f"loop       {{slow:8.3f}} ms")
print(f"expression {{fast:8.3f}} ms")
print(f"ratio      {{slow / fast:8.2f}}x")
'''


def clock(number: int, label: str) -> Iterator[float]:
    """Yield the readings of a host's clock, so that each host prints times of its own."""
    rng = random.Random(f"{number} {label}")
    now = 0.0
    for turn in itertools.count():
        yield now
        now += SPEEDS[label] * rng.uniform(3, 4) * (1e-3 if turn < 6 else 5e-4)


def printed(number: int, label: str) -> str:
    """Return what the script prints on a host: it is executed, with the host's clock in place of this machine's."""
    ticks = clock(number, label)
    text = source(number).replace("from time import perf_counter\n", "")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, f"{name_of(number)}.py", "exec"), {"perf_counter": lambda: next(ticks)})
    return out.getvalue()


def snippet(number: int) -> str:
    """Return the script with its header."""
    claims = {
        "expression-pays": {"says": "the expression is faster than the loop", "holds": "ratio > 1"},
        "fast-enough": {
            "says": "on a small host the loop takes over a millisecond", "holds": "slow > 1", "where": "cpu.count <= 2",
        },
    }  # fmt: skip
    title = f"Two ways to sum, lesson {number}"
    return script(
        source(number), title=title, timing=True, values=PATTERNS, compare={"ratio": {"ratio": 2.0}}, claims=claims,
        dependencies=["torch>=2.2"],
    )  # fmt: skip


def sentence(rng: random.Random) -> str:
    """Return a sentence of eleven words or so."""
    word, verb, kind = (lambda: rng.choice(WORDS)), (lambda: rng.choice(VERBS)), (lambda: rng.choice(ADJECTIVES))
    forms = (
        f"The {kind()} {word()} {verb()} a {word()} while the {kind()} {word()} {verb()} it.",
        f"A {word()} that {verb()} the {kind()} {word()} also {verb()} what the {word()} `{word()}_{word()}` {verb()}.",
        f"Where the {kind()} {word()} {verb()}, *every* {word()} behind it {verb()} the {kind()} one.",
        f"It {verb()} one {word()}, and **no {kind()} {word()}** {verb()} the {word()} in `{word()}.{word()}()`.",
    )
    return rng.choice(forms)


def page(number: int, count: int, card: str, values: list[str]) -> str:
    """Return a lesson out of `count` around a card; each of `values` stands in a sentence."""
    rng = random.Random(-number - 1)
    left = list(values)
    parts = []
    for _ in range(PARAGRAPHS):
        body = [sentence(rng) for _ in range(SENTENCES)]
        if left:
            body.insert(1, f"Here the {rng.choice(WORDS)} {rng.choice(VERBS)} {left.pop()} of them.")
        parts.append(" ".join(body))
    other = (number * 7 + 3) % count
    link = f"../{name_of(other)}.md"
    rows = "\n".join(f"| {rng.choice(WORDS)} | {sentence(rng)} | {rng.choice(ADJECTIVES)} |" for _ in range(3))
    points = "\n".join(f"- {sentence(rng)}" for _ in range(3))
    about = f"What the {rng.choice(WORDS)} of lesson {number} {rng.choice(VERBS)}, and where it ends"
    title = f"Lesson {number}: the {rng.choice(ADJECTIVES)} {rng.choice(WORDS)}"
    return f"""---
title: {title.replace(":", ",")}
description: {about}.
---

# {title}

{parts[0]}

## What the {rng.choice(WORDS)} {rng.choice(VERBS)}

{parts[1]}

{card}

{parts[2]}

{parts[3]}

## The {rng.choice(ADJECTIVES)} {rng.choice(WORDS)}

{parts[4]}

{points}

{parts[5]}

| part | what it does | how |
| --- | --- | --- |
{rows}

??? question "Why does the {rng.choice(WORDS)} wait?"

    {parts[6]}

## What transfers

{parts[7]} The [other lesson]({link}) says more.
"""


def nested(count: int) -> list[Any]:
    """Return the nav: pages in chapters, chapters in groups, groups in parts."""
    level: list[Any] = [f"{name_of(number)}.md" for number in range(count)]
    for word in ("Chapter", "Group", "Part"):
        level = [
            {f"{word} {at // CHAPTER_SIZE}": level[at : at + CHAPTER_SIZE]} for at in range(0, len(level), CHAPTER_SIZE)
        ]
    return ["index.md", *level]


def result(item: Snippet, number: int, owner: Host) -> Record:
    """Return the current record of a script on a host."""
    made = record(item.id, owner.label, printed(number, owner.label), **{"chip": chip(owner), **SOFTWARE[owner.label]})
    conditions = Conditions(load_before=0.1, foreign_cpu=0.02, steal=0.0, governor=None)
    return records.sealed(
        dataclasses.replace(made, source_sha256=item.digest, runs=Runs(3, spread=1.04), conditions=conditions)
    )


def write_scripts(folder: Path, count: int) -> store.Handbook:
    """Write the scripts of a handbook of so many lessons."""
    for number in range(count):
        write(folder / "snippets" / f"{name_of(number)}.py", snippet(number))
    return store.Handbook(folder)


def write_records(book: store.Handbook, hosts: int = len(HOSTS)) -> int:
    """Write a current record of every script on each of the first hosts; return how many."""
    found, problems = store.read_snippets(book)
    assert not problems, problems
    for owner in HOSTS[:hosts]:
        store.write_host(book, owner)
        for number, item in enumerate(found.values()):
            path = book.record_path(owner.label, item.id)
            write(path, store.record_text(result(item, number, owner)))
    return len(found) * hosts


def handbook(folder: Path, count: int) -> store.Handbook:
    """Write a handbook of so many lessons, as the site builds it; `plain.write_site` makes the same of Markdown."""
    pages = {f"{name_of(number)}.md": lesson(number, count) for number in range(count)}
    make_handbook(folder, hosts=HOSTS, pages={"index.md": "# Start\n\nHello.\n", **pages}, default_host=HOSTS[0].label)
    configure(folder, count)
    book = write_scripts(folder, count)
    write_records(book)
    return book


def lesson(number: int, count: int) -> str:
    """Return a page of ours: a card, and values that are taken from records."""
    key = name_of(number)
    asked = [f"`#!captured {key} {name}@{label}`" for label in (HOSTS[0].label, "h200") for name in PATTERNS]
    return page(number, count, f"```capture\n{key}\n```", asked)


def typed(number: int) -> Iterator[str]:
    """Yield the values of a page as text."""
    for label in (HOSTS[0].label, "h200"):
        text = printed(number, label)
        for pattern in PATTERNS.values():
            found = re.search(pattern, text, re.MULTILINE)
            assert found
            yield found[1]


def configure(folder: Path, count: int) -> None:
    """Give mkdocs.yml the nav; one entry a page of other chapters would make a build of either kind quadratic."""
    path = folder / "mkdocs.yml"
    text = path.read_text("utf-8")
    text = text[: text.index("\nnav:\n")].replace("  features:\n", "  features:\n    - navigation.prune\n")
    path.write_text(f"{text}\nnav: {json.dumps(nested(count))}\n", "utf-8")
