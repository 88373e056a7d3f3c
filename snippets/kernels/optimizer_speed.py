"""Whether a fused Adam is faster than a loop shows on the clock, on small and on large tensors."""

import statistics
import time

import torch

torch.set_num_threads(1)  # so that the ratio does not depend on how many cores are free
WAYS = {"for-loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}


def prepared(count, size, options):
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(size, size)) for _ in range(count)]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    return torch.optim.Adam(parameters, lr=0.1, **options), parameters


def block_ms(optimizer, steps=5):
    start = time.perf_counter()
    for _ in range(steps):
        optimizer.step()
    return (time.perf_counter() - start) / steps * 1e3


print(f"threads {torch.get_num_threads()}, parameters on cpu")
print(f"{'parameters':20}" + "".join(f"{name:>14}" for name in WAYS) + "  loop / fused")
for count, size in ((200, 32), (2, 1024)):
    ways = {name: prepared(count, size, options) for name, options in WAYS.items()}
    blocks = {name: [] for name in ways}
    for _ in range(13):
        for name, (optimizer, _) in ways.items():  # in turn, so that a slow moment hits all three
            blocks[name].append(block_ms(optimizer))
    # All three have taken the same steps from the same start.
    for _, parameters in ways.values():
        torch.testing.assert_close(parameters, ways["for-loop"][1])
    medians = {name: statistics.median(times[2:]) for name, times in blocks.items()}
    row = "".join(f"{median:11.3f} ms" for median in medians.values())
    label = f"{count} of {size} x {size}"
    print(f"{label:20}{row}{medians['for-loop'] / medians['fused']:13.1f}x")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.4"]
#
# [tool.capture]
# title = "One step of Adam on the clock"
# timing = true
# timeout = 120
# upstream = ["torch.optim.Adam"]
#
# [tool.capture.values]
# small_ratio = '^200 of .* ([\d.]+)x$'
# large_ratio = '^2 of .* ([\d.]+)x$'
# small_loop = '^200 of 32 x 32 +([\d.]+) ms'
# small_foreach = '^200 of 32 x 32 +[\d.]+ ms +([\d.]+) ms'
# small_fused = '^200 of 32 x 32 +(?:[\d.]+ ms +){2}([\d.]+) ms'
# large_loop = '^2 of 1024 x 1024 +([\d.]+) ms'
# large_foreach = '^2 of 1024 x 1024 +[\d.]+ ms +([\d.]+) ms'
# large_fused = '^2 of 1024 x 1024 +(?:[\d.]+ ms +){2}([\d.]+) ms'
#
# [tool.capture.compare]
# ratio = { small_ratio = 1.6, large_ratio = 1.6 }
# spread = 1.3
# volatile = ['[\d.]+ ms']
#
# [tool.capture.claims.fused-is-faster]
# says  = "on one thread a fused step takes less than half the time of the for-loop, small tensors or large"
# holds = "small_ratio > 2 and large_ratio > 2"
# where = 'arch == "x86_64" and torch >= "2.13"'
#
# [tool.capture.claims.foreach-lies-between]
# says  = "on one thread foreach is faster than the loop on small tensors, and slower than fused on both"
# holds = "small_foreach < small_loop and small_fused < small_foreach and large_fused < large_foreach"
# where = 'arch == "x86_64" and torch >= "2.13"'
# ///
