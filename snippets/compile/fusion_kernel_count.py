"""Inductor turns a chain of elementwise operations into one loop; a matrix product cuts it."""

import logging

import torch
import torch._inductor.metrics as metrics
from torch.utils._python_dispatch import TorchDispatchMode

# A CUDA build without a driver logs a line about that while inductor loads.
logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
torch.manual_seed(0)
x = torch.randn(64, 256)
weight = torch.randn(256, 256)
bias = torch.randn(256)


class Count(TorchDispatchMode):
    """Count what eager mode dispatches; each operation reads its inputs and writes a result."""

    def __init__(self):
        super().__init__()
        self.operations = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.operations += 1
        return function(*args, **(kwargs or {}))


def chain(x):
    return ((x * 2 + 1).sigmoid() * x - x.square()).clamp(-3, 3)


def chain_and_sum(x):
    return chain(x).sum(-1)


def chain_product_relu(x):
    return torch.relu(chain(x) @ weight + bias)


print(f"{'function':20}{'eager operations':>18}{'inductor loops':>16}")
for function in (chain, chain_and_sum, chain_product_relu):
    with Count() as count:
        expected = function(x)
    metrics.reset()
    result = torch.compile(function)(x)
    torch.testing.assert_close(result, expected)
    loops = metrics.generated_kernel_count
    print(f"{function.__name__:20}{count.operations:18d}{loops:16d}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "How many loops are left"
# needs = ["compile"]
# upstream = ["torch.compile"]
#
# [tool.capture.values]
# chain_eager = '^chain +(\d+)'
# chain_loops = '^chain +\d+ +(\d+)'
# sum_eager = '^chain_and_sum +(\d+)'
# sum_loops = '^chain_and_sum +\d+ +(\d+)'
# product_eager = '^chain_product_relu +(\d+)'
# product_loops = '^chain_product_relu +\d+ +(\d+)'
#
# [tool.capture.claims.chain-is-one-loop]
# says = "a chain of elementwise operations becomes one loop, a sum at its end included"
# holds = "chain_eager > 1 and chain_loops == 1 and sum_loops == 1"
#
# [tool.capture.claims.product-cuts]
# says = "a matrix product in the middle leaves a loop on either side of it"
# holds = "product_loops == 2"
# ///
