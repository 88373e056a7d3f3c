"""One busy process beside a script can turn a gain from threads into a loss."""

import os
import statistics
import subprocess
import sys
import time

import torch

SECONDS = 0.1  # of each block
BLOCKS = 9
BUSY = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
torch.manual_seed(0)
matrix = torch.randn(512, 512)
threads = torch.get_num_threads()


def product(count):
    torch.set_num_threads(count)
    return matrix @ matrix


def block_ms(count):
    """Mean time of a call within one block."""
    calls = 0
    start = time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        product(count)
        calls += 1
    return (time.perf_counter() - start) / calls * 1e3


def measure(label):
    """Speed-up by threads, from the medians of alternating blocks."""
    times = {"one thread": [], "all threads": []}
    for _ in range(BLOCKS):
        times["one thread"].append(block_ms(1))
        times["all threads"].append(block_ms(threads))
    for name, blocks in times.items():
        low, median, high = statistics.quantiles(blocks, n=4)  # the middle half of the blocks
        spread = (high - low) / median * 100
        print(f"{label:10}{name:12}{median:7.2f} ms  middle half {spread:4.0f} %")
    one, every = (statistics.median(blocks) for blocks in times.values())
    print(f"{label:10}speed-up by threads {one / every:.2f}x")


torch.testing.assert_close(product(1), product(threads))  # also the warm-up
print(f"cpus {os.cpu_count()}, threads {threads}, cuda available {torch.cuda.is_available()}")
measure("alone")
with subprocess.Popen([sys.executable, "-c", BUSY]) as neighbour:
    try:
        measure("neighbour")
    finally:
        neighbour.kill()  # leaving the with block waits until it is gone

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "A busy process next door"
# needs = ["two_cpus"]
# timing = true
#
# [tool.capture.values]
# cpus = '^cpus (\d+)'
# threads = '^cpus \d+, threads (\d+)'
# one_alone_ms = '^alone +one thread +([\d.]+) ms'
# all_alone_ms = '^alone +all threads +([\d.]+) ms'
# one_beside_ms = '^neighbour +one thread +([\d.]+) ms'
# all_beside_ms = '^neighbour +all threads +([\d.]+) ms'
# all_alone_spread = '^alone +all threads .*half +(\d+) %'
# one_beside_spread = '^neighbour +one thread .*half +(\d+) %'
# all_beside_spread = '^neighbour +all threads .*half +(\d+) %'
# alone = '^alone +speed-up by threads ([\d.]+)x'
# beside = '^neighbour +speed-up by threads ([\d.]+)x'
#
# [tool.capture.compare]
# ratio = { alone = 1.5 }
# relative = { beside = 0.8 }
# spread = 1.25
#
# [tool.capture.claims.neighbour-takes-the-gain]
# says  = "on two CPUs, one busy process takes most of what a second thread gains, or more than that"
# holds = "threads < 2 or beside < alone * 0.75"
# where = 'os == "linux" and cpu.count == 2'
# ///
