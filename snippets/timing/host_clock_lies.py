"""A host clock that does not wait times launches and charges the work to the line that reads."""

import statistics
import time

import torch

CALLS = 20
ROUNDS = 7
torch.manual_seed(0)
matrix = torch.randn(4096, 4096, device="cuda")


def milliseconds(start):
    return (time.perf_counter() - start) * 1e3


def loop():
    for _ in range(CALLS):
        result = matrix @ matrix
    return result


def without_waiting():
    """The loop, then the line that reads one number of its result."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = loop()
    launched = milliseconds(start)
    start = time.perf_counter()
    value = result[0, 0].item()
    return launched, milliseconds(start), value


def waiting():
    """The same two lines with a synchronize between them."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = loop()
    torch.cuda.synchronize()
    done = milliseconds(start)
    start = time.perf_counter()
    value = result[0, 0].item()
    return done, milliseconds(start), value


print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
print(f"{'milliseconds charged to':26}{'the loop':>10}{'item()':>10}")
values = set()
for name, way in (("no synchronize", without_waiting), ("synchronize in between", waiting)):
    way()  # warm-up
    loops, reads, seen = zip(*(way() for _ in range(ROUNDS)), strict=True)
    values.update(seen)
    print(f"{name:26}{statistics.median(loops):10.3f}{statistics.median(reads):10.3f}")
assert len(values) == 1  # both ways compute the same number

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Which line pays for the work"
# needs = ["cuda"]
# timing = true
# upstream = ["torch.cuda.synchronize"]
#
# [tool.capture.values]
# device = ', device (.+)$'
# launch_ms = '^no synchronize +([\d.]+)'
# read_ms = '^no synchronize +[\d.]+ +([\d.]+)'
# done_ms = '^synchronize in between +([\d.]+)'
# read_after_ms = '^synchronize in between +[\d.]+ +([\d.]+)'
#
# [tool.capture.compare]
# ratio = { done_ms = 1.5, read_ms = 1.5 }
# spread = 1.25
#
# [tool.capture.claims.the-loop-looks-free]
# says  = "without waiting, the loop seems to take less than a tenth of its true time"
# holds = "launch_ms * 10 < done_ms"
# where = "gate.cuda"
#
# [tool.capture.claims.item-pays]
# says  = "without waiting, item() is charged with most of the loop's time"
# holds = "read_ms > done_ms * 0.5 and read_after_ms * 10 < read_ms"
# where = "gate.cuda"
# ///
