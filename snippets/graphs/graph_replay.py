"""A replay runs the captured kernels on the captured addresses, with one launch instead of many."""

import statistics
import time

import torch

LAYERS = 100
calls = 0


def work(x):
    global calls
    calls += 1
    for _ in range(LAYERS):
        x = x + 1
    return x


def microseconds(function):
    """Return the median time of a call by the host's clock, with the device idle at both ends."""
    blocks = []
    for _ in range(7):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(20):
            function()
        torch.cuda.synchronize()
        blocks.append((time.perf_counter() - start) / 20 * 1e6)
    return statistics.median(blocks)


static = torch.zeros(1024, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):  # warm up on a side stream: first calls may synchronise
    work(static)
torch.cuda.current_stream().wait_stream(side)
eager_us = microseconds(lambda: work(static))

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    result = work(static)
calls_before = calls
address = static.data_ptr()
static.copy_(torch.full_like(static, 5.0))
graph.replay()
copied = result[0].item()
replaced = torch.full_like(static, 9.0)  # another tensor: the graph does not know it
graph.replay()
stale = result[0].item()
assert torch.equal(work(static), result) and replaced.data_ptr() != address
replay_us = microseconds(graph.replay)

print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
print(f"input filled with 5: result {copied:.0f}; a new tensor of 9 instead: result {stale:.0f}")
print(f"Python ran during the replays: {calls - calls_before - 1} times")
print(f"{LAYERS} kernels: eager {eager_us:.0f} us, replay {replay_us:.0f} us")
print(f"eager takes {eager_us / replay_us:.1f}x the time of a replay")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "A CUDA graph: one launch, fixed addresses"
# needs = ["cuda"]
# timing = true
# upstream = ["torch.cuda.graph", "torch.cuda.CUDAGraph"]
#
# [tool.capture.values]
# copied = 'filled with 5: result (\d+)'
# stale = 'of 9 instead: result (\d+)'
# python_runs = 'during the replays: (\d+)'
# eager_us = 'eager (\d+) us'
# replay_us = 'replay (\d+) us'
# ratio = 'eager takes ([\d.]+)x'
#
# [tool.capture.compare]
# ratio = { ratio = 2.0 }
# volatile = ['\d+ us']
#
# [tool.capture.claims.fixed-addresses]
# says  = "a replay reads the captured input, whatever other tensor you have made since"
# holds = "copied == 105 and stale == copied"
# where = "gate.cuda"
#
# [tool.capture.claims.no-python]
# says  = "a replay runs no Python"
# holds = "python_runs == 0"
# where = "gate.cuda"
#
# [tool.capture.claims.cheaper-launches]
# says  = "for many small kernels a replay takes less time than the eager calls"
# holds = "ratio > 1"
# where = "gate.cuda"
# ///
