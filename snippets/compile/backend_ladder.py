"""Swap the backend to find the stage that changes a number: here inductor, and for the better."""

import logging

import torch
import torch._dynamo as dynamo
import torch._inductor.config as inductor_config

# A CUDA build without a driver logs a line about that while inductor loads.
logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
torch.manual_seed(0)
x = torch.randn(4096).bfloat16()


def chain(x):
    return ((x * 1.1 + 0.3) * x - x * 0.7).sigmoid() * x


exact = chain(x.double())  # the same input, with float64 arithmetic
uncompiled = chain(x)
print(f"{'backend':12}{'adds':18}{'differ':>8}{'mean error':>12}")


def report(name, stage, result):
    torch.testing.assert_close(result, uncompiled, rtol=0.05, atol=0.05)
    differ = int((result != uncompiled).sum())
    error = (result.double() - exact).abs().mean().item()
    print(f"{name:12}{stage:18}{differ:8d}{error:12.5f}")


report("no compile", "-", uncompiled)
for name, stage in (
    ("eager", "tracing, guards"),
    ("aot_eager", "autograd graph"),
    ("inductor", "generated code"),
):
    dynamo.reset()
    report(name, stage, torch.compile(chain, backend=name)(x))
dynamo.reset()
with inductor_config.patch(emulate_precision_casts=True):
    report("inductor", "code that rounds", torch.compile(chain)(x))
print(f"elements    {x.numel()}, {x.dtype}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Which stage changed the number"
# needs = ["compile"]
# upstream = ["torch.compile"]
#
# [tool.capture.values]
# eager_differ = '^eager .*? (\d+) +[\d.]+$'
# aot_differ = '^aot_eager .*? (\d+) +[\d.]+$'
# inductor_differ = '^inductor +generated code +(\d+)'
# rounding_error = '^inductor +code that rounds .* ([\d.]+)$'
# rounding_differ = '^inductor +code that rounds +(\d+)'
# plain_error = '^no compile .* ([\d.]+)$'
# inductor_error = '^inductor +generated code .* ([\d.]+)$'
# elements = '^elements +(\d+)'
#
# [tool.capture.claims.tracing-changes-nothing]
# says = "tracing and the autograd graph leave every element as it was"
# holds = "eager_differ == 0 and aot_differ == 0"
#
# [tool.capture.claims.inductor-changes]
# says = "inductor changes some elements, and its mean error is smaller"
# holds = "inductor_differ > 0 and inductor_error < plain_error"
# where = 'arch == "x86_64"'
#
# [tool.capture.claims.rounding-brings-it-back]
# says = "told to round like eager mode, inductor changes fewer elements and errs more"
# holds = "rounding_differ < inductor_differ and rounding_error > inductor_error"
# where = 'arch == "x86_64"'
# ///
