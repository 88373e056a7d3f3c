"""Leaving the graph out saves time per operation: small tensors gain by it, large ones do not."""

import statistics
import time

import torch
from torch import nn

BLOCKS = 21
torch.set_num_threads(1)  # so that the ratio does not depend on how many cores are free
torch.manual_seed(0)
weight = torch.randn(8, requires_grad=True)
vector = torch.randn(8)
small = nn.Sequential(*(nn.Linear(16, 16) for _ in range(8)))
large = nn.Sequential(*(nn.Linear(512, 512) for _ in range(4)))
few, many = torch.randn(4, 16), torch.randn(128, 512)


def chain():
    result = vector
    for _ in range(20):
        result = result * weight + vector
    return result


# Each work, and how many calls make a block long enough to time.
works = {
    "40 ops on 8 numbers": (chain, 100),
    "8 Linear(16, 16)": (lambda: small(few), 100),
    "4 Linear(512, 512)": (lambda: large(many), 2),
}
modes = {
    "grad": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
}


def block_us(work, calls):
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls * 1e6


print(f"cuda available {torch.cuda.is_available()}, threads {torch.get_num_threads()}")
print(f"{'us a call':22}{'grad':>8}{'no_grad':>9}{'inference':>11}  grad/no_grad  no_grad/inf.")
for name, (work, calls) in works.items():
    expected = work().detach()
    blocks = {mode: [] for mode in modes}
    for _ in range(BLOCKS + 1):
        for mode, enter in modes.items():  # in turn, so that a slow moment hits all three
            with enter():
                blocks[mode].append(block_us(work, calls))
                assert torch.equal(work(), expected)
    grad, no_grad, inference = (statistics.median(times[1:]) for times in blocks.values())
    times = f"{grad:8.1f}{no_grad:9.1f}{inference:11.1f}"
    print(f"{name:22}{times}{grad / no_grad:12.2f}x{no_grad / inference:12.2f}x")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What no_grad and inference_mode save"
# timing = true
# upstream = ["torch.no_grad", "torch.inference_mode"]
#
# [tool.capture.values]
# chain_us = '^40 ops on 8 numbers +([\d.]+)'
# chain_grad = '^40 ops on 8 numbers .* ([\d.]+)x +[\d.]+x'
# chain_inference = '^40 ops on 8 numbers .*x +([\d.]+)x'
# small_grad = '^8 Linear\(16, 16\) .* ([\d.]+)x +[\d.]+x'
# small_inference = '^8 Linear\(16, 16\) .*x +([\d.]+)x'
# large_us = '^4 Linear\(512, 512\) +([\d.]+)'
# large_grad = '^4 Linear\(512, 512\) .* ([\d.]+)x +[\d.]+x'
# large_inference = '^4 Linear\(512, 512\) .*x +([\d.]+)x'
#
# [tool.capture.compare]
# ratio = { chain_grad = 1.4, small_grad = 1.4, large_grad = 1.4 }
# spread = 1.25
#
# [tool.capture.claims.small-work-gains]
# says  = "a chain of tiny operations takes more than 1.2 times as long with gradients as under no_grad"
# holds = "chain_grad > 1.2"
# where = 'os == "linux"'
#
# [tool.capture.claims.large-work-does-not]
# says  = "large products take the same time in all three modes, within a sixth"
# holds = "large_grad < 1.17 and large_grad > 0.85 and large_inference < 1.17 and large_inference > 0.85"
# where = 'os == "linux"'
#
# [tool.capture.claims.no-grad-is-the-larger-step]
# says  = "from grad to no_grad is a larger gain than from no_grad to inference_mode"
# holds = "chain_grad > chain_inference and small_grad > small_inference"
# where = 'os == "linux"'
# ///
