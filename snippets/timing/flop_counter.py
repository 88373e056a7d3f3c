"""Arithmetic can be counted, not timed, and FlopCounterMode counts what it has a formula for."""

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode, flop_registry

BATCH, LENGTH, WIDTH, HEADS = 2, 128, 64, 4
OUT = 4 * WIDTH
torch.manual_seed(0)
linear = torch.nn.Linear(WIDTH, OUT)
rows = torch.randn(BATCH, LENGTH, WIDTH)
rows_grad = rows.clone().requires_grad_()
heads = torch.randn(BATCH, HEADS, LENGTH, WIDTH // HEADS)
FORWARD = 2 * BATCH * LENGTH * WIDTH * OUT  # a multiply and an add for each weight and row
ATTENTION = 4 * BATCH * LENGTH * LENGTH * WIDTH  # two products: scores, and scores times values


def count(work):
    """FLOPs, and the operators they were counted in."""
    with FlopCounterMode(display=False) as counter:
        work()
    total = counter.get_total_flops()
    names = [str(name) for name in counter.get_flop_counts().get("Global", {})]
    return total, " ".join(name.removeprefix("aten.") for name in names) or "none"


def attention():
    return F.scaled_dot_product_attention(heads, heads, heads)


def attention_by_math():
    with sdpa_kernel(SDPBackend.MATH):
        return attention()


def on_meta():
    return torch.nn.Linear(WIDTH, OUT, device="meta")(rows.to("meta"))


torch.testing.assert_close(attention(), attention_by_math())
print(f"cuda available {torch.cuda.is_available()}, formulas for {len(flop_registry)} operators")
print(f"by hand: linear forward {FORWARD}, attention {ATTENTION}")
cases = {
    "linear forward": (FORWARD, lambda: linear(rows_grad)),
    "forward + backward": (FORWARD, lambda: linear(rows_grad).sum().backward()),
    "the same, input frozen": (FORWARD, lambda: linear(rows).sum().backward()),
    "linear on meta": (FORWARD, on_meta),
    "attention, CPU default": (ATTENTION, attention),
    "attention, MATH": (ATTENTION, attention_by_math),
    "gelu": (FORWARD, lambda: F.gelu(rows)),
}
print(f"{'work':24}{'counted':>9}{'/ by hand':>11}  operators")
for name, (by_hand, work) in cases.items():
    flops, operators = count(work)
    print(f"{name:24}{flops:9}{flops / by_hand:11.1f}  {operators}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.3"]
#
# [tool.capture]
# title = "Counting arithmetic"
# upstream = ["torch.utils.flop_counter.FlopCounterMode"]
#
# [tool.capture.values]
# formulas = 'formulas for (\d+) operators'
# forward = '^linear forward +(\d+)'
# forward_ratio = '^linear forward +\d+ +([\d.]+)'
# both_ratio = '^forward \+ backward +\d+ +([\d.]+)'
# frozen_ratio = '^the same, input frozen +\d+ +([\d.]+)'
# meta_ratio = '^linear on meta +\d+ +([\d.]+)'
# sdpa_default = '^attention, CPU default +(\d+)'
# sdpa_math_ratio = '^attention, MATH +\d+ +([\d.]+)'
# gelu = '^gelu +(\d+)'
#
# [tool.capture.claims.three-times]
# says  = "forward and backward of a Linear count 3.0 times the forward, 2.0 times if the input needs no gradient"
# holds = "forward_ratio == 1 and both_ratio == 3 and frozen_ratio == 2"
#
# [tool.capture.claims.meta-is-enough]
# says  = "meta tensors, which hold no data, give the same count"
# holds = "meta_ratio == forward_ratio"
#
# [tool.capture.claims.cpu-attention-counts-nothing]
# says  = "the CPU's default attention counts 0 and the same attention by matrix products its full arithmetic"
# holds = "sdpa_default == 0 and sdpa_math_ratio == 1"
# where = 'torch >= "2.13"'
#
# [tool.capture.claims.elementwise-counts-nothing]
# says  = "an elementwise operation counts 0"
# holds = "gelu == 0"
# ///
