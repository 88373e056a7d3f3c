"""The view model: hosts in order, states with reasons, claims, absences, ids."""

from dataclasses import replace

import pytest
from harness.executions import case
from harness.handbooks import GATES, STALE, host, make_handbook, record, script

from capture.host.environment import Conditions
from capture.record.record import Elision, Runs
from capture.site.card import card
from capture.site.model import request, site
from capture.site.model.links import Links
from capture.site.model.site import Settings

SPEED = script(
    '"""Times."""\n\nprint("ratio 7.3x")\n',
    title="Speed",
    timing=True,
    values={"ratio": r"ratio ([\d.]+)x"},
    compare={"ratio": {"ratio": 2.0}},
    claims={
        "fast": {"says": "on CUDA it is fast", "holds": "ratio < 1", "where": "gate.cuda"},
        "slow": {"says": "it is slow", "holds": "ratio > 5"},
    },
)
CUDA = script("import torch\n", title="Streams", needs=["cuda"])
HOSTS = [host("epyc", "EPYC"), host("h200", "H200", "cuda"), host("a-laptop", "Laptop"), host("local", "My box")]


def build(folder, records, snippets=None, hosts=HOSTS, **options):
    """Return the card of the first snippet."""
    snippets = snippets or {"x/speed": SPEED}
    handbook = make_handbook(folder, snippets, hosts, records, default_host="epyc")
    known = site.from_catalogue(
        handbook.catalogue(), Settings(default_host="epyc", repository="https://example.org/r/")
    )
    options = {"body": next(iter(snippets)), **options}
    asked = request.parse_fence(options.pop("body"), options, known.catalogue)
    return card.card(known, asked, Links(known.settings, "../", "docs/page.md"), "capture-x-speed"), known, asked


def speed(label, stdout="ratio 7.3x\n", **changes):
    return record("x/speed", label, stdout, **changes)


def test_default_host_first_results_before_absences_this_machine_last(tmp_path):
    """The reader finds the answer in the first tab, and his own machine under its own name."""
    view, _, _ = build(tmp_path, [speed("h200"), speed("local"), speed("epyc")])
    assert [(panel.label, panel.title, panel.kind) for panel in view.panels] == [
        ("epyc", "EPYC", "cpu"),
        ("h200", "H200", "cuda"),
        ("a-laptop", "Laptop", "none"),
        ("local", "this machine", "cpu"),
    ]
    assert [panel.chosen for panel in view.panels] == [True, False, False, False]


def test_the_first_result_is_chosen_where_the_default_host_has_none(tmp_path):
    """A page never opens on an empty panel while another host has the answer."""
    view, _, _ = build(tmp_path, [speed("h200")])
    assert [panel.label for panel in view.panels if panel.chosen] == ["h200"]


def test_a_host_chosen_by_the_author_comes_first(tmp_path):
    """`host=` pins the card: the reader's remembered choice waits."""
    view, _, _ = build(tmp_path, [speed("epyc"), speed("h200")], host="h200")
    assert view.panels[0].label == "h200"
    assert view.panels[0].chosen
    assert view.pinned


def test_hosts_of_one_title_are_told_apart(tmp_path):
    """Two environments on one machine show their torch; where that is the same, their labels."""
    hosts = [host("epyc", "EPYC"), host("epyc-old", "EPYC"), host("h200", "H200", "cuda")]
    records = [speed("epyc"), speed("epyc-old", torch="2.2.2+cu121"), speed("h200")]
    view, _, _ = build(tmp_path / "a", records, hosts=hosts)
    assert [panel.title for panel in view.panels] == ["EPYC, torch 2.13.0+cpu", "EPYC, torch 2.2.2+cu121", "H200"]
    view, _, _ = build(tmp_path / "b", [speed("epyc"), speed("epyc-old")], hosts=hosts)
    assert [panel.title for panel in view.panels] == ["EPYC (epyc)", "EPYC (epyc-old)", "H200"]


def test_the_badge_says_what_the_result_was_got_on(tmp_path):
    """Chip as reported, full torch version, CUDA build, gates, threads, date, runs and spread."""
    item = speed(
        "h200", chip="NVIDIA H200 + Xeon, AVX512, 16 vCPU", torch="2.14.1+cu130", cuda_build="13.0", driver="580.65",
        gates=GATES | {"cuda": True, "gloo": True}, threads={"intra": 16, "inter": 8}, cpu_capability="AVX2",
        runs=Runs(5, spread=1.04), conditions=Conditions(1.5, 0.9, 0.01, "performance", busy=True),
    )  # fmt: skip
    view, _, _ = build(tmp_path, [item])
    badge = view.panels[0].result.badge
    assert badge.state == "current"
    assert (badge.chip, badge.rest) == ("NVIDIA H200 + Xeon", "AVX512, 16 vCPU, torch kernels for AVX2")
    assert (badge.torch, badge.build) == ("torch 2.14.1+cu130", "built for CUDA 13.0, driver 580.65")
    assert [(gate.name, gate.yes) for gate in badge.gates] == [("cuda", True)]
    assert (badge.threads, badge.runs, badge.busy) == (
        "starts with 16 threads (8 inter-op)",
        "5 runs, spread 1.04×",
        True,
    )
    assert (badge.date, badge.day) == ("2026-11-29", "29 Nov 2026")


def test_a_gate_that_the_snippet_needs_is_shown(tmp_path):
    """The badge shows the gate that decides about the numbers, whatever its kind."""
    snippet = script("print(1)\n", needs=["!cuda", "gloo"])
    view, _, _ = build(
        tmp_path, [record("x/g", gates=GATES | {"gloo": True})], {"x/g": snippet}, [host("epyc", "EPYC")]
    )
    assert [(gate.name, gate.yes) for gate in view.panels[0].result.badge.gates] == [("cuda", False), ("gloo", True)]


def test_a_stale_result_says_why_and_judges_no_claim(tmp_path):
    """The state comes with its reason; what the source no longer says is not claimed."""
    view, _, _ = build(tmp_path, [speed("epyc", source_sha256=STALE)])
    result = view.panels[0].result
    assert result.badge.state == "stale: source changed since"
    assert {row.mark for row in result.verdicts} == {"not judged"}


def test_claims_on_this_host_and_on_the_others(tmp_path):
    """Judged claims come first; each says what it does elsewhere, and why it is not claimed here."""
    view, _, _ = build(tmp_path, [speed("epyc"), speed("h200", "ratio 0.4x\n", gates=GATES | {"cuda": True})])
    here, there = (panel.result.verdicts for panel in view.panels[:2])
    assert [(row.mark, row.says, row.more) for row in here] == [
        ("holds here", "it is slow", "fails on H200"),
        ("not claimed", "on CUDA it is fast", "claimed only where gate.cuda; holds on H200"),
    ]
    assert [(row.mark, row.more) for row in there] == [
        ("holds here", ""),
        ("fails here", "ratio > 5, but ratio is 0.4; holds on EPYC"),
    ]


def test_a_claim_that_holds_here_also_holds_there(tmp_path):
    """One verdict on two hosts is said as one; a title with a comma is one host, and stands in quotes."""
    view, _, _ = build(
        tmp_path, [speed("epyc"), speed("zen")], hosts=[host("epyc", "EPYC"), host("zen", "EPYC, torch 2.2")]
    )
    assert view.panels[0].result.verdicts[0].more == "also holds on “EPYC, torch 2.2”"


@pytest.mark.parametrize(("count", "more"), [(3, "also holds on H0, H1 and H2"), (4, "also holds on 4 other hosts")])
def test_hosts_are_named_as_long_as_they_are_few(tmp_path, count, more):
    """A card does not grow with every host that agrees."""
    labels = ["epyc", *(f"h{number}" for number in range(count))]
    hosts = [host(label, label.upper()) for label in labels]
    view, _, _ = build(tmp_path, [speed(label) for label in labels], hosts=hosts)
    assert view.panels[0].result.verdicts[0].more == more


def test_a_value_that_cannot_be_read_leaves_its_claim_open(tmp_path):
    """A faulty pattern is `capture check`'s to report; the card still shows the output."""
    view, _, _ = build(tmp_path, [speed("epyc", "nothing\n")])
    assert view.panels[0].result.stdout.indexed == "nothing"
    assert "matches nothing" in view.panels[0].result.verdicts[-1].more


def test_equal_output_is_named_and_indexed_once(tmp_path):
    """The second host with the same text says so, and adds nothing to the search index."""
    view, _, _ = build(tmp_path, [speed("epyc"), speed("h200"), speed("a-laptop", "ratio 9x\n")])
    first, second, third = (panel.result for panel in view.panels[:3])
    assert [first.badge.same_as, second.badge.same_as, third.badge.same_as] == ["", "", "EPYC"]
    assert [first.searchable, second.searchable, third.searchable] == [True, True, False]


def test_a_failure_says_how_it_ended(tmp_path):
    """Exit code, signal and hint stand above the output; nothing is judged."""
    item = speed(
        "epyc", status="crashed", exit_code=None, signal="SIGSEGV", hint="update torch", diagnostics="Thread 1\n"
    )
    result = build(tmp_path, [item])[0].panels[0].result
    assert (result.failure.headline, result.failure.hint) == ("Crashed: signal SIGSEGV", "update torch")
    assert result.opens_stderr


def test_where_threads_stood_is_not_on_the_page(tmp_path):
    """The stack dump of a timeout is for authors: it stays in the record, which the card links."""
    stuck = speed("epyc", status="timeout", exit_code=None, diagnostics="Thread 1 at line 5\n")
    handbook = make_handbook(tmp_path, {"x/speed": SPEED}, HOSTS, [stuck], default_host="epyc")
    html, problems = handbook.page("```capture\nx/speed\n```\n")
    assert not problems
    assert "time limit" in html.lower()
    assert "Thread 1" not in html


def test_another_upstream_source_is_a_note_and_nothing_stale(tmp_path):
    """A newer torch on another host, with another source of the function, leaves the older result current."""
    old = speed("epyc", torch="2.13.0+cpu", upstream={"torch.relu": "a" * 64})
    new = speed("h200", torch="2.14.1+cu130", upstream={"torch.relu": "b" * 64})
    first, second = (panel.result for panel in build(tmp_path, [old, new])[0].panels[:2])
    assert (first.badge.state, second.badge.state) == ("current", "current")
    assert [fact.value for fact in first.facts if fact.name == "upstream"] == [
        "the source of torch.relu is another one in torch 2.14.1+cu130"
    ]
    assert not [fact for fact in second.facts if fact.name == "upstream"]


def test_an_expected_exit_code_is_a_note(tmp_path):
    """A snippet about an uncaught error did not fail, and its stderr is the answer."""
    snippet = script("raise SystemExit(3)\n", exit=3)
    item = record("x/e", stdout="", exit_code=3, stderr="boom\n")
    result = build(tmp_path, [item], {"x/e": snippet}, [host("epyc", "EPYC")])[0].panels[0].result
    assert result.failure is None
    assert result.note == "ends with exit code 3, as it should"
    assert result.opens_stderr


def test_elisions_are_counted(tmp_path):
    """What the record itself left out is said in bytes."""
    result = build(tmp_path, [speed("epyc", elided={"stdout": Elision(900_000, 834_464)})])[0].panels[0].result
    assert result.elisions == ("stdout: 900,000 bytes were printed; the record keeps head and tail, without 834,464",)


def test_a_gate_that_is_not_met_names_gate_answer_and_command(tmp_path):
    """A host without the device says what it answered, and what to run where there is one."""
    cuda = [record("x/c", "h200", gates=GATES | {"cuda": True})]
    snippets = {"x/c": CUDA, "x/speed": SPEED}
    view, _, _ = build(tmp_path, [*cuda, speed("epyc")], snippets)
    absent = next(panel for panel in view.panels if panel.label == "epyc").absence
    assert absent.headline == "Not captured on EPYC: needs cuda."
    assert absent.reasons == ("torch.cuda.is_available() is False on EPYC",)
    assert (absent.advice, absent.command) == ("On a host that has cuda:", "capture run x/c")


@case("render-not-run")
def test_a_missing_result_names_the_command(case, tmp_path):
    """Where only the capture is lacking, the command names that host; on this machine it needs no label."""
    view, _, _ = build(tmp_path, [speed("epyc")])
    absences = {panel.label: panel.absence for panel in view.panels if panel.absence}
    assert absences["a-laptop"].command == "capture run x/speed --host a-laptop"
    assert absences["local"].command == "capture run x/speed"


def test_one_panel_where_no_host_has_it(tmp_path):
    """The reason is given once for all hosts, with each answer once."""
    snippets = {"x/c": CUDA, "x/speed": SPEED}
    hosts = [host("epyc", "EPYC"), host("xeon", "Xeon")]
    view, known, asked = build(tmp_path, [speed("epyc"), speed("xeon")], snippets, hosts)
    assert view.panels == ()
    assert view.nowhere.headline == "Not captured on any host here: needs cuda."
    assert view.nowhere.reasons == ("torch.cuda.is_available() is False on EPYC and Xeon",)
    assert card.broken_promise(known, asked) == "", "a snippet that no host here can run may be shown"


def test_nothing_captured_at_all(tmp_path):
    """A fresh handbook says what to run."""
    view, known, asked = build(tmp_path, [], hosts=[])
    assert view.nowhere.headline == "Not captured yet: no host has captured here."
    assert view.nowhere.command == "capture run x/speed"
    assert card.broken_promise(known, asked) == ""


@pytest.mark.parametrize(
    ("options", "broken"),
    [
        ({}, "no published host has a record of x/speed; capture it: capture run x/speed --host epyc"),
        ({"host": "h200"}, "no record of x/speed on h200; capture it there: capture run x/speed --host h200"),
        ({"show": "source"}, ""),
    ],
)
def test_a_promise_that_no_record_keeps(tmp_path, options, broken):
    """A page that shows a result which nobody has is at fault; one that shows only the source is not."""
    _, known, asked = build(tmp_path, [], **options)
    assert card.broken_promise(known, asked) == broken


def test_lines_drop_blank_ends_and_keep_their_numbers(tmp_path):
    """A highlighter drops blank lines at the ends uncounted, so the card never hands it any."""
    snippet = script("a = 1\n\n\nb = 2\n\n\nc = 3\n")
    view, _, _ = build(tmp_path, [], {"x/l": snippet}, lines="2-6")
    assert (view.source.text, view.source.first) == ("b = 2", 4)


def test_commands_and_environment(tmp_path):
    """The command by hand carries the environment that the snippet sets for itself."""
    snippet = script("print(1)\n", needs=["!cuda", "module:numpy"], env={"LEVEL": "9 9"})
    view, _, _ = build(tmp_path, [], {"x/v": snippet})
    assert view.by_hand == "LEVEL='9 9' python snippets/x/v.py"

    assert view.by_tool == "capture run x/v"
    assert view.sets == "LEVEL='9 9'"
    assert view.needs == "a host without cuda, the module numpy"


def test_by_hand_from_the_folder_of_what_it_reads(tmp_path):
    """A script that opens a file beside it is run from there."""
    (tmp_path / "snippets/x").mkdir(parents=True)
    (tmp_path / "snippets/x/data.txt").write_text("1")
    snippet = script('print(open("data.txt").read())\n', files=["data.txt"], env={"LEVEL": "9"})
    view, _, _ = build(tmp_path, [], {"x/v": snippet})
    assert view.by_hand == "cd snippets/x && LEVEL=9 python v.py"


def test_addresses(tmp_path):
    """Records and scripts are the site's own copies; edits and reports go to the repository, or nowhere."""
    view, known, _ = build(tmp_path, [speed("epyc")])
    assert view.panels[0].result.record == "../captures/epyc/x/speed.yaml"
    assert view.actions.download == "../snippets/x/speed.py"
    assert view.actions.edit_snippet == "https://example.org/r/edit/main/snippets/x/speed.py"
    assert view.actions.report == "https://example.org/r/issues/new?title=x%2Fspeed+on+docs%2Fpage.md"
    away = Links(known.settings)
    assert away.record("epyc", "x/speed") == "https://example.org/r/blob/main/docs/captures/epyc/x/speed.yaml"
    alone = Links(replace(known.settings, repository=None))
    assert alone.record("epyc", "x/speed") is None
    assert alone.actions(known.catalogue.snippets["x/speed"]).report is None
