"""A stream is a queue: nothing orders two of them until one waits, and events time the device."""

import statistics
import time

import torch

SLEEP = 50_000_000  # cycles a stream is kept busy: far longer than any launch takes
main, side = torch.cuda.current_stream(), torch.cuda.Stream()


def read_on_side(wait):
    """Write x behind a sleep on one stream and read it on the other."""
    x = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    torch.cuda._sleep(SLEEP)
    x.fill_(1)
    if wait:
        side.wait_stream(main)
    with torch.cuda.stream(side):
        seen = x.clone()
    torch.cuda.synchronize()
    return seen.mean().item()


def block_reused(record):
    """Free x while the side stream still reads it: does the next tensor get its block?"""
    x = torch.ones(1 << 20, device="cuda")
    address = x.data_ptr()
    side.wait_stream(main)
    with torch.cuda.stream(side):
        torch.cuda._sleep(SLEEP)
        x.sum()
    if record:
        x.record_stream(side)
    del x
    y = torch.empty(1 << 20, device="cuda")
    torch.cuda.synchronize()
    return y.data_ptr() == address


def timed_sleep():
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    clock = time.perf_counter()
    start.record()
    torch.cuda._sleep(SLEEP)
    end.record()
    launched = (time.perf_counter() - clock) * 1000
    end.synchronize()
    return launched, start.elapsed_time(end)


read_on_side(wait=True)  # the first launch on a stream also sets it up
print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
print(f"read: no wait {read_on_side(wait=False):.1f}, waited {read_on_side(wait=True):.1f}")
print(f"block reused, no record_stream    {block_reused(record=False)}")
print(f"block reused, with record_stream  {block_reused(record=True)}")
launched, on_device = zip(*(timed_sleep() for _ in range(7)), strict=True)
host, device = statistics.median(launched), statistics.median(on_device)
print(f"launched after {host:.3f} ms by the host clock, done after {device:.3f} ms by events")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Streams are queues, events are clocks"
# needs = ["cuda"]
# timing = true
#
# [tool.capture.values]
# read_no_wait = 'no wait ([\d.]+)'
# read_waited = 'waited ([\d.]+)'
# reused_plain = 'no record_stream +(\w+)'
# reused_recorded = 'with record_stream +(\w+)'
# launch_ms = 'launched after ([\d.]+) ms'
# device_ms = 'done after ([\d.]+) ms'
#
# [tool.capture.compare]
# ratio = { device_ms = 2.0 }
# volatile = ['launched after [\d.]+ ms']
#
# [tool.capture.claims.race-without-wait]
# says  = "a second stream reads the old value unless it waits for the first"
# holds = "read_no_wait == 0 and read_waited == 1"
# where = "gate.cuda"
#
# [tool.capture.claims.record-stream-holds-the-block]
# says  = "a block still read on another stream is reused at once, unless record_stream was called"
# holds = 'reused_plain == "True" and reused_recorded == "False"'
# where = "gate.cuda"
#
# [tool.capture.claims.host-clock-sees-the-launch]
# says  = "a host clock that does not wait sees less than a tenth of the device time"
# holds = "launch_ms * 10 < device_ms"
# where = "gate.cuda"
# ///
