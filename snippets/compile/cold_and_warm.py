"""Compiling takes longer than many calls save: count the calls after which it has paid."""

import logging
import os
import statistics
import tempfile
import time

folder = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder.name  # empty, so that the first call is cold

import torch  # noqa: E402
import torch._dynamo as dynamo  # noqa: E402

# A CUDA build without a driver logs a line about that while inductor loads.
logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
torch.set_num_threads(1)  # so that the ratio does not depend on how many cores are free
torch.empty(6 << 20)  # made and freed at once: Linux's malloc then keeps blocks of our size
x = torch.linspace(-3, 3, 256 * 1024)


def chain(x):
    return ((x * 2 + 1).sigmoid() * x - x.square()).clamp(-3, 3)


def other_chain(x):
    return ((x * 3 - 1).sigmoid() * x + x.square()).clamp(-2, 2)


def seconds(function):
    start = time.perf_counter()
    function(x)
    return time.perf_counter() - start


def first_call(function):
    compiled = torch.compile(function)
    taken = seconds(compiled)
    torch.testing.assert_close(compiled(x), function(x))
    return taken, compiled


loading, _ = first_call(chain)  # also imports the compiler and looks for the C++ toolchain
cold, _ = first_call(other_chain)
dynamo.reset()  # forgets the graphs in memory; what was compiled stays on disk
cached, compiled = first_call(other_chain)

medians = ([], [])
for _ in range(15):
    for block, function in zip(medians, (other_chain, compiled), strict=True):  # in turn
        block.append(statistics.median(seconds(function) for _ in range(10)))
eager_s, compiled_s = map(statistics.median, medians)
print(f"threads                      {torch.get_num_threads():8d}")
print(f"first call in the process    {loading:8.2f} s")
print(f"first call of a function     {cold:8.2f} s")
print(f"the same after a reset       {cached:8.2f} s")
print(f"a later call, eager          {eager_s * 1e3:8.2f} ms")
print(f"a later call, compiled       {compiled_s * 1e3:8.2f} ms")
print(f"speed-up of a later call     {eager_s / compiled_s:8.1f}x")
print(f"compiling has paid after     {cold / max(eager_s - compiled_s, 1e-9):8.0f} calls")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "What the first call costs, and when it has paid"
# needs = ["compile"]
# timing = true
# timeout = 180
# upstream = ["torch.compile"]
#
# [tool.capture.values]
# threads = '^threads +(\d+)'
# loading_s = '^first call in the process +([\d.]+) s'
# cold_s = '^first call of a function +([\d.]+) s'
# cached_s = '^the same after a reset +([\d.]+) s'
# eager_ms = '^a later call, eager +([\d.]+) ms'
# compiled_ms = '^a later call, compiled +([\d.]+) ms'
# speed_up = '^speed-up of a later call +([\d.]+)x'
# paid_after = '^compiling has paid after +(\d+) calls'
#
# [tool.capture.compare]
# ratio = { speed_up = 2.0 }
# relative = { paid_after = 0.67 }
# spread = 1.25
# volatile = ['\d+\.\d+ m?s']
#
# [tool.capture.claims.later-calls-gain]
# says = "a later call of the compiled chain is faster than eager mode"
# holds = "speed_up > 1"
# where = 'arch == "x86_64"'
#
# [tool.capture.claims.many-calls-to-pay]
# says = "compiling this function pays only after more than 100 calls"
# holds = "paid_after > 100"
# where = 'arch == "x86_64"'
#
# [tool.capture.claims.cache-saves]
# says = "a first call that finds its code on disk takes less than half of a cold one"
# holds = "cached_s < 0.5 * cold_s"
#
# [tool.capture.claims.loading-is-most]
# says = "the first call of a process takes longer than the first call of a second function"
# holds = "loading_s > cold_s"
# ///
