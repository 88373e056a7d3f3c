"""Autocast casts a weight once per region, not once per program: the cache dies with the region."""

import contextlib

import torch
from torch.profiler import ProfilerActivity, profile

torch.manual_seed(0)
linear = torch.nn.Linear(512, 512)
frozen = torch.nn.Linear(512, 512)
frozen.load_state_dict(linear.state_dict())
frozen.requires_grad_(False)
rows = torch.randn(64, 512)
low_rows = rows.bfloat16()
expected = torch.nn.functional.linear(low_rows, linear.weight.bfloat16(), linear.bias.bfloat16())


def autocast(**options):
    return torch.autocast("cpu", dtype=torch.bfloat16, **options)


def five_calls(layer=linear, batch=rows, mode=contextlib.nullcontext, **options):
    with mode(), autocast(**options):
        for _ in range(5):
            result = layer(batch)
    return result


def five_regions():
    for _ in range(5):
        with autocast():
            result = linear(rows)
    return result


def report(name, work):
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        result = work()
    # Each way multiplies the same bfloat16 numbers. Only the count of casts may differ.
    torch.testing.assert_close(result, expected)
    calls = {event.key: event.count for event in recorded.key_averages()}
    print(f"{name:25}{calls['aten::addmm']:5}{calls['aten::_to_copy']:10}")


print(f"{'five calls of one Linear':25}addmm  _to_copy")
report("one region", five_calls)
with autocast():
    linear(rows)  # a warm-up in a region of its own
report("after a warm-up region", five_calls)
with autocast():
    linear(rows)
    report("inside an open region", five_calls)
report("five regions", five_regions)
report("cache_enabled=False", lambda: five_calls(cache_enabled=False))
report("frozen weights", lambda: five_calls(layer=frozen))
report("under no_grad", lambda: five_calls(mode=torch.no_grad))
report("under inference_mode", lambda: five_calls(mode=torch.inference_mode))
report("input already bfloat16", lambda: five_calls(batch=low_rows))

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What the autocast cache saves, and when it is emptied"
# env = { KINETO_LOG_LEVEL = "99" }
# preload = ["profiler"]
# upstream = ["torch.autocast"]
#
# [tool.capture.values]
# addmm = '^one region +(\d+)'
# one_region = '^one region +\d+ +(\d+)'
# after_warm_up = '^after a warm-up region +\d+ +(\d+)'
# open_region = '^inside an open region +\d+ +(\d+)'
# five_regions = '^five regions +\d+ +(\d+)'
# cache_off = '^cache_enabled=False +\d+ +(\d+)'
# frozen = '^frozen weights +\d+ +(\d+)'
# no_grad = '^under no_grad +\d+ +(\d+)'
# inference = '^under inference_mode +\d+ +(\d+)'
# low_input = '^input already bfloat16 +\d+ +(\d+)'
#
# [tool.capture.claims.weight-cast-once]
# says = "one region casts each input, but the weight and the bias only once"
# holds = "one_region == addmm + 2 and low_input == 2"
#
# [tool.capture.claims.warm-up-saves-nothing]
# says = "a warm-up in a region of its own saves no cast"
# holds = "after_warm_up == one_region"
#
# [tool.capture.claims.open-region-saves-two]
# says = "inside a region that is already warm and open only the inputs are cast"
# holds = "open_region == addmm"
#
# [tool.capture.claims.no-cache-casts-all]
# says = "five regions, cache_enabled=False and frozen weights cast all three tensors in every call"
# holds = "five_regions == 3 * addmm and cache_off == 3 * addmm and frozen == 3 * addmm"
#
# [tool.capture.claims.inference-mode-casts-all]
# says = "inference_mode switches the cache off, no_grad does not"
# holds = "inference == 3 * addmm and no_grad == one_region"
# where = 'torch >= "2.13"'
#
# [tool.capture.claims.inference-mode-cached-in-2-2]
# says = "in torch 2.2 inference_mode keeps the cache, as no_grad does"
# holds = "inference == no_grad and inference == one_region"
# where = 'torch >= "2.2" and torch < "2.3"'
# ///
