"""From pinned memory and on a stream of its own, a copy to the device overlaps with compute."""

import statistics
import time

import torch

BATCHES, SIZE = 8, 4096
torch.manual_seed(0)
weight = torch.randn(SIZE, SIZE, device="cuda")
pageable = [torch.randn(SIZE, SIZE) for _ in range(BATCHES)]
pinned = [batch.pin_memory() for batch in pageable]
compute, side = torch.cuda.current_stream(), torch.cuda.Stream()


def one_stream(batches):
    return [(batch.to("cuda", non_blocking=True) @ weight).sum() for batch in batches]


def two_streams(batches):
    """Compute waits for its batch, and record_stream keeps the batch's block until it is done."""
    results = []
    for batch in batches:
        with torch.cuda.stream(side):
            on_device = batch.to("cuda", non_blocking=True)
        compute.wait_stream(side)
        on_device.record_stream(compute)
        results.append((on_device @ weight).sum())
    return results


def epoch(way, batches):
    """Median milliseconds a batch, and the results."""
    times = []
    for _ in range(9):
        torch.cuda.synchronize()
        start = time.perf_counter()
        results = way(batches)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3 / BATCHES)
    return statistics.median(times[2:]), torch.stack(results)  # the first ones warm up


def returns_ms(batch):
    """How long one copy to the device keeps the host."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    batch.to("cuda", non_blocking=True)
    return (time.perf_counter() - start) * 1e3


print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
expected = epoch(one_stream, pageable)[1]
for name, batches in {"pageable": pageable, "pinned": pinned}.items():
    host = statistics.median(returns_ms(batch) for batch in batches)
    print(f"{name:9s}non_blocking copy returns after {host:.3f} ms")
    for way in (one_stream, two_streams):
        milliseconds, results = epoch(way, batches)
        torch.testing.assert_close(results, expected)
        print(f"{name:9s}{way.__name__:12s}{milliseconds:8.3f} ms a batch")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Copies beside compute, on a device"
# needs = ["cuda"]
# timing = true
#
# [tool.capture.values]
# pageable_returns_ms = '^pageable +non_blocking copy returns after ([\d.]+)'
# pinned_returns_ms = '^pinned +non_blocking copy returns after ([\d.]+)'
# pageable_one_ms = '^pageable +one_stream +([\d.]+)'
# pageable_two_ms = '^pageable +two_streams +([\d.]+)'
# pinned_one_ms = '^pinned +one_stream +([\d.]+)'
# pinned_two_ms = '^pinned +two_streams +([\d.]+)'
#
# [tool.capture.compare]
# ratio = { pinned_two_ms = 1.5, pinned_one_ms = 1.5, pageable_one_ms = 1.5 }
# spread = 1.25
# volatile = ['\d+\.\d+ ms']
#
# [tool.capture.claims.pinned-frees-the-host]
# says  = "a non-blocking copy from pinned memory returns in less than a tenth of the time"
# holds = "pinned_returns_ms * 10 < pageable_returns_ms"
# where = "gate.cuda"
#
# [tool.capture.claims.a-second-stream-overlaps]
# says  = "from pinned memory, two streams are faster than one"
# holds = "pinned_two_ms < pinned_one_ms"
# where = "gate.cuda"
# ///
