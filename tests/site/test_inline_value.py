"""A captured value in a sentence, through the real Markdown extensions."""

import re

import pytest
from harness.handbooks import CHIP, GATES, STALE, host, make_handbook, record, script

SPEED = script('print("ratio 7.3x")\n', title="Speed", values={"ratio": r"ratio ([\d.]+)x"})
CARD = "```capture\nx/speed\n```\n"


@pytest.fixture
def book(tmp_path):
    hosts = [host("epyc", "EPYC"), host("h200", "H200", "cuda"), host("local", "Mine")]
    records = [
        record("x/speed", "epyc", "ratio 7.3x\n"),
        record("x/speed", "h200", "ratio 0.4x\n", gates=GATES | {"cuda": True}, chip=CHIP),
        record("x/speed", "local", "ratio 5x\n"),
    ]
    return make_handbook(
        tmp_path, {"x/speed": SPEED, "x/cuda": script("import torch\n", needs=["cuda"])}, hosts, records
    )


def test_a_captured_value_takes_the_default_host(book):
    """The number stands in the sentence; what it was got on is its tooltip, the record its link."""
    html, problems = book.page("It is `#!captured x/speed ratio` times, and `#!captured x/speed ratio@h200` there.")
    assert problems == []
    assert re.sub("<[^>]+>", "", html) == "It is 7.3 times, and 0.4 there."
    title = "captured on AMD EPYC, AVX2, 2 vCPU (virtual machine); torch 2.13.0+cpu; 29 Nov 2026; current"
    assert html.count(f'title="{title}"') == 2
    assert 'href="../captures/epyc/x/speed.yaml"' in html
    assert 'href="../captures/h200/x/speed.yaml"' in html


def test_a_captured_value_links_to_its_card(book):
    """Where the card is on the page, the value leads to it, and to its host's output."""
    html, _ = book.page(f"`#!captured x/speed ratio` `#!captured x/speed ratio@h200`\n\n{CARD}")
    assert re.findall(r'cap-value[^>]*><a href="([^"]+)"', html) == ["#capture-x-speed", "#capture-x-speed--h200"]


def test_a_stale_value_says_so(tmp_path):
    """The tooltip carries the state with its reason."""
    book = make_handbook(
        tmp_path, {"x/speed": SPEED}, records=[record("x/speed", stdout="ratio 2x\n", source_sha256=STALE)]
    )
    html, _ = book.page("`#!captured x/speed ratio`")
    assert "; stale: source changed since" in html
    assert "cap-value--stale" in html


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x/sped ratio", 'no snippet "x/sped"; did you mean "x/speed"?'),
        ("x/speed ration", 'snippet "x/speed" has no value "ration"; did you mean "ratio"?'),
        ("x/speed ratio@h20", 'no host "h20"; did you mean "h200"?'),
        ("x/speed ratio@local", 'host "local" is whatever machine a reader is on'),
        ("x/speed", 'write a captured value as "#!captured ID VALUE"'),
        ("x/cuda ratio", "its header declares none"),
        ("x/quiet ratio", "its pattern matches nothing in the captured output"),
        (
            "x/away ratio",
            "no record of x/away on epyc, so no ratio; capture it: capture run x/away --host epyc; "
            "h200 has one: write ratio@h200",
        ),
    ],
)
def test_a_faulty_value_is_named_at_its_line(book, text, message):
    """The page shows what was asked for, marked, and the build learns the line."""
    values = {"ratio": r"ratio ([\d.]+)x"}
    for name in ("quiet", "away"):
        book.write(f"snippets/x/{name}.py", script("print()\n", values=values))
    book.keep(record("x/quiet", "epyc", "nothing\n"))
    book.keep(record("x/away", "h200", "ratio 1x\n", gates=GATES | {"cuda": True}))
    html, problems = book.page(f"# T\n\nfirst `#!captured x/speed ratio`\nthen `#!captured {text}` here\n")
    assert len(problems) == 1
    assert str(problems[0]).startswith("docs/index.md:4: ")
    assert message in str(problems[0])
    assert "cap-value--error" in html
