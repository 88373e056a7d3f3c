"""Date, time and process of torch's own log lines go; what a script prints itself stays as it is."""

from __future__ import annotations

import time

import pytest

from capture.record import text_rules
from capture.record.text_rules import Places

LINES = [
    ("USDT:2026-11-29 17:58:41 1010:1010 A.cpp:59] profiler_start", "USDT: A.cpp:59] profiler_start"),
    ("ERROR:2026-11-29 17:58:41 7:8 b.cpp:1] code 35", "ERROR: b.cpp:1] code 35"),
    ("W1129 17:58:41.123456 1010 torch/x.py:12] slow", "W torch/x.py:12] slow"),
    ("W1129 17:58:41.123456 140 torch/x.py:12] [0/8] hit", "W torch/x.py:12] [0/8] hit"),
    # The forms of torch 2.4 and later, with and without a rank and a process.
    ("[W0307 04:05:06.700800900 socket.cpp:752] [c10d] no IPv6", "[W socket.cpp:752] [c10d] no IPv6"),
    ("[rank3]:[E0307 04:05:06.1 ProcessGroupGloo.cpp:144] late", "[rank3]:[E ProcessGroupGloo.cpp:144] late"),
    ("[D0307 04:05:06.700800900 debug.cpp:49] level", "[D debug.cpp:49] level"),
    (
        "[rank1]:V0307 04:05:06.700000 5150 torch/_dynamo/guards.py:2391] [1/0] [__guards] GUARDS:",
        "[rank1]:V torch/_dynamo/guards.py:2391] [1/0] [__guards] GUARDS:",
    ),
    ("C0307 04:05:06.700000 5150 torch/_inductor/x.py:3] stop", "C torch/_inductor/x.py:3] stop"),
    ("V0307 04:05:06.700000 5150 C:\\torch\\x.py:3] stop", "V C:\\torch\\x.py:3] stop"),
    (
        "[default0]:W0307 04:05:06.700000 5150 torch/distributed/run.py:774] ***",
        "[default0]:W torch/distributed/run.py:774] ***",
    ),
    ("I20260307 04:05:06.700800   5150 storage.cc:7] opened", "I storage.cc:7] opened"),
    ("F0000 00:00:1772856306.700800    5150 cuda_dnn.cc:8579] Unable", "F cuda_dnn.cc:8579] Unable"),
    ("2026-03-07 04:05:06.700800: W external/xla/x.cc:93] none", "W external/xla/x.cc:93] none"),
    ("2026-03-07T04:05:06.700800+01:00: W external/xla/x.cc:93] none", "W external/xla/x.cc:93] none"),
    ("WARNING:2026-03-07T04:05:06Z 5150:5151 init.cpp:155] no CUPTI", "WARNING: init.cpp:155] no CUPTI"),
    ("[2026-03-07 04:05:06,700] torch._dynamo.eval_frame: [DEBUG] skip", "torch._dynamo.eval_frame: [DEBUG] skip"),
    ("[2026-03-07 04:05:06,700] [0/0] torch._dynamo.guards: [INFO] x", "[0/0] torch._dynamo.guards: [INFO] x"),
    (
        "2026-03-07 04:05:06,700 c10d_logger.py:83 DEBUG p:MainProcess t:MainThread: {}",
        "c10d_logger.py:83 DEBUG p:MainProcess t:MainThread: {}",
    ),
    (
        "[0] 2026-03-07 04:05:06,700 - torch.distributed.checkpoint - INFO - saved",
        "[0] torch.distributed.checkpoint - INFO - saved",
    ),
    ("function_profiler, line 212, 2026-03-07 04:05:06,700, INFO: run", "function_profiler, line 212, INFO: run"),
    ("gx17:5150:5199 [1] NCCL INFO Channel 00", "[1] NCCL INFO Channel 00"),
    ("[2026-03-07 04:05:06] gx17:5150:5199 [0] init.cc:12 NCCL WARN x", "[0] init.cc:12 NCCL WARN x"),
    (
        "I0307 04:05:06.700000 5150 torch/_dynamo/utils.py:2113] ChromiumEventLogger initialized with id "
        "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
        "I torch/_dynamo/utils.py:2113] ChromiumEventLogger initialized with id <id>",
    ),
]
# What scripts print themselves: dates of a lesson, a logger of their own, words that begin alike.
OTHERS = [
    "E1129 is no log line",
    "epoch 1: 2026-11-29 17:58:41 7:8 later",
    "2026-03-07 04:05:06.700800",
    "2026-03-07T04:05:06+01:00",
    "2026-03-07 04:05:06,700 - train - INFO - epoch 1",
    "INFO 2026-03-07 04:05:06,700 epoch 1",
    "[2026-03-07 04:05:06] epoch 1",
    "[2026-03-07 04:05:06,700] my.module: done",
    "now: [W0307 04:05:06.7 x.cpp:1] quoted",
    "  V0307 04:05:06.7 1 x.py:1] indented",
    "W0307 04:05:06.7",
    "[I 04:05:06 x.cpp:1] no day",
    "id 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
    "shape:3:4 [0] x",
    "2026-03-07: I agree",
]


@pytest.mark.parametrize(("line", "kept"), [*LINES, *((line, line) for line in OTHERS)])
def test_stamps_of_log_lines_go(line: str, kept: str) -> None:
    """log-c10-stamp: what varies and teaches nothing goes; the level, the rank, the place and the words stay."""
    text, changed = text_rules.apply(f"first\n{line}\n", Places())
    assert text == f"first\n{kept}\n"
    assert ("log-stamp" in changed) == (line != kept)


@pytest.mark.parametrize("unit", ["[", "[rank0]:", "I0307 ", "0", "2026-03-07 04:05:06", "a.", "a:1:1 [0] ", "A:"])
def test_no_log_takes_long(unit: str) -> None:
    """64 KiB of any one thing, on one line or on many, are done in seconds at the very most."""
    before = time.process_time()
    for end in ("", "\n"):
        text_rules.apply(f"{unit}{end}" * (65536 // len(unit)), Places())
    assert time.process_time() - before < 10
