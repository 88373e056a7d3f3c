"""Date, time and numbers of process and thread in the lines of torch's own loggers; they vary and teach nothing.

Each form counts only at the start of a line and only before what that logger writes next, so that a date which a script
prints itself stays. Level, rank and place stay.
"""

from __future__ import annotations

import re

_DAY = r"\d{4}-\d\d-\d\d[ T]"
_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_MOMENT = rf"{_DAY}{_TIME}(?:Z|[+-]\d\d:?\d\d)?"
_PLACE = r"(?=(?:[A-Za-z]:)?[\w./\\+-]{1,200}:\d{1,7}\])"  # `file.cpp:59]`
_PYTHON_LEVEL = r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)"
_RANK = r"(?:\[[A-Za-z][\w-]{0,20}\]:)?"  # `[rank0]:`
# A form of line, and what stays of its beginning.
_FORMS = tuple(
    (re.compile(f"^{pattern}", re.MULTILINE), kept)
    for pattern, kept in (
        # Kineto: `USDT:2026-11-29 17:58:41 1010:1010 file.cpp:59] text`.
        (rf"({_RANK}[A-Z]{{1,12}}:){_MOMENT} \d+:\d+ ", r"\1 "),
        # C++ of torch: `[rank0]:[W1129 17:58:41.123456789 file.cpp:59] text`. Its Python, glog and what came of that:
        # `V1129 17:58:41.123456 1010 x.py:1] text`, the time as one number where the zone is not known.
        (rf"({_RANK}\[?[VDIWEFC])(?:\d{{4}}|\d{{8}}) \d\d:\d\d:\d{{2,10}}(?:\.\d{{1,9}})? +(?:\d+ +)?{_PLACE}", r"\1 "),
        # TensorFlow and XLA: `2026-11-29 17:58:41.123456: I file.cc:59] text`.
        (rf"{_MOMENT}: ([VDIWEF] ){_PLACE}", r"\1"),
        # Python parts of torch to 2.2: `[2026-11-29 17:58:41,123] [0/0] torch._dynamo.output_graph: [DEBUG] text`.
        (rf"({_RANK})\[{_MOMENT}\] (?=(?:\[[\w/]{{1,20}}\] )?[\w.]{{1,200}}: \[{_PYTHON_LEVEL}\])", r"\1"),
        # torch.distributed: `2026-11-29 17:58:41,123 c10d_logger.py:83 DEBUG p:MainProcess t:MainThread: text`.
        (rf"{_MOMENT} (?=[\w.-]{{1,200}}:\d{{1,7}} {_PYTHON_LEVEL} p:\S{{1,200}} t:)", ""),
        # Checkpoints and launchers: `[0] 2026-11-29 17:58:41,123 - torch.distributed.checkpoint - INFO - text`.
        (rf"((?:\[\d+\] )?){_MOMENT} - (?=torch[\w.]{{0,200}} - {_PYTHON_LEVEL} - )", r"\1"),
        # Strobelight: `strobelight_function_profiler, line 3, 2026-11-29 17:58:41,123, INFO: text`.
        (rf"([\w.]{{1,200}}, line \d+, ){_MOMENT}, (?={_PYTHON_LEVEL}: )", r"\1"),
        # NCCL, which begins with the node: `node:1010:1011 [0] NCCL INFO text`.
        (rf"(?:\[{_MOMENT}\] )?[\w.-]{{1,200}}:\d+:\d+ (?=\[\d+\] (?:[\w./]{{1,200}}:\d+ )?NCCL [A-Z]{{4,7}} )", ""),
    )
)
# An id that is new in each process, at the end of a line of torch's log.
_EVENT_LOGGER = re.compile(
    r"(?<=ChromiumEventLogger initialized with id )[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.M
)


def without_stamps(text: str) -> str:
    """Return the text with what varies taken out of the lines of torch's loggers."""
    for pattern, kept in _FORMS:
        text = pattern.sub(kept, text)
    return _EVENT_LOGGER.sub("<id>", text)
