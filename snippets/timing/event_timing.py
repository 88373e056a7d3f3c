"""Events time what lies between them, gaps included: a starved queue looks like slow kernels."""

import statistics
import time

import torch

CALLS = 200
ROUNDS = 9
SLEEP = 100_000_000  # clock cycles that keep the device busy while the host fills the queue
torch.manual_seed(0)
big = torch.randn(4096, 4096, device="cuda")
small = torch.zeros(1, device="cuda")


def per_call_us(work, calls, behind_a_sleep=False):
    """Microseconds a call by two events, and by a host clock that waits for the device."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    if behind_a_sleep:
        torch.cuda._sleep(SLEEP)
    clock = time.perf_counter()
    start.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()  # elapsed_time raises while the end is still queued
    host = time.perf_counter() - clock
    return start.elapsed_time(end) * 1e3 / calls, host * 1e6 / calls


def medians(*arguments):
    per_call_us(*arguments)  # warm-up: the first launch of a kernel also loads it
    pairs = [per_call_us(*arguments) for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*pairs, strict=True)]


def add_one():
    small.add_(1)


print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
before = small.item()
big_event, big_host = medians(lambda: big @ big, 10)
loop_event, loop_host = medians(add_one, CALLS)
queued_event, _ = medians(add_one, CALLS, True)
assert small.item() - before == 2 * (ROUNDS + 1) * CALLS  # both ways ran the same additions
print(f"{'microseconds a call':24}{'by events':>10}{'host clock':>12}")
print(f"{'large product':24}{big_event:10.1f}{big_host:12.1f}")
print(f"{'tiny add, as launched':24}{loop_event:10.2f}{loop_host:12.2f}")
print(f"{'tiny add, queue full':24}{queued_event:10.2f}{'-':>12}")
print(f"as launched / queue full {loop_event / queued_event:8.2f}x")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Timing with CUDA events"
# needs = ["cuda"]
# timing = true
# upstream = ["torch.cuda.Event"]
#
# [tool.capture.values]
# device = ', device (.+)$'
# big_event_us = '^large product +([\d.]+)'
# big_host_us = '^large product +[\d.]+ +([\d.]+)'
# loop_event_us = '^tiny add, as launched +([\d.]+)'
# loop_host_us = '^tiny add, as launched +[\d.]+ +([\d.]+)'
# queued_event_us = '^tiny add, queue full +([\d.]+)'
# gap = '^as launched / queue full +([\d.]+)x'
#
# [tool.capture.compare]
# ratio = { gap = 2.0 }
# spread = 1.4
#
# [tool.capture.claims.clocks-agree-on-large-work]
# says  = "for large kernels, events and a host clock that waits agree within a tenth"
# holds = "big_host_us > big_event_us * 0.9 and big_host_us < big_event_us * 1.1"
# where = "gate.cuda"
#
# [tool.capture.claims.events-count-gaps]
# says  = "for tiny kernels, events around the launches read more than events around a full queue"
# holds = "loop_event_us > queued_event_us"
# where = "gate.cuda"
# ///
