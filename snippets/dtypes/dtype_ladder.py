"""Range and precision are two budgets: what a dtype holds, and where adding stops working."""

import torch

names = ("float64", "float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
ladder = [(name, getattr(torch, name)) for name in names]


def stops_counting(dtype):
    """The first power of two to which adding one changes nothing."""
    power = 1.0
    while torch.tensor(power + 1, dtype=torch.float64).to(dtype).double() != power:
        power *= 2
    return power


def stored(value, dtype):
    return torch.tensor(value, dtype=torch.float64).to(dtype).double().item()


print(f"{'dtype':14s}bytes    largest      eps  n + 1 == n at  70000 is  1e-8 is")
for name, dtype in ladder:
    limits = torch.finfo(dtype)
    row = f"{dtype.itemsize:5d}{limits.max:11.3g}{limits.eps:9.2g}{stops_counting(dtype):15.3g}"
    # A cast beyond the range gives inf, or the largest value: that is the version's choice.
    large = stored(70000.0, dtype)
    print(f"{name:14s}{row}{large:10.5g}{stored(1e-8, dtype):9.2g}")

values = torch.full((4096,), 2.0**-6)
print(f"{len(values)} values of 2^-6; the true sum is {values.double().sum().item():.0f}")
for name, dtype in ladder[1:4]:
    low = values.to(dtype)
    running = torch.zeros((), dtype=dtype)
    for value in low:
        running = running + value
    assert low.double().sum() == 64  # each value is exact in each of these dtypes
    sums = f"one by one {running.item():5.1f}   torch.sum {low.sum().item():5.1f}"
    print(f"{name:14s}{sums}   sum(dtype=float32) {low.sum(dtype=torch.float32).item():5.1f}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What each dtype can hold"
#
# [tool.capture.values]
# bfloat16_stops = '^bfloat16 +\d+ +\S+ +\S+ +(\S+)'
# float16_stops = '^float16 +\d+ +\S+ +\S+ +(\S+)'
# float32_stops = '^float32 +\d+ +\S+ +\S+ +(\S+)'
# e4m3_stops = '^float8_e4m3fn +\d+ +\S+ +\S+ +(\S+)'
# float16_largest = '^float16 +\d+ +(\S+)'
# e4m3_largest = '^float8_e4m3fn +\d+ +(\S+)'
# bfloat16_large = '^bfloat16 +\d+ +\S+ +\S+ +\S+ +(\S+)'
# float16_large = '^float16 +\d+ +\S+ +\S+ +\S+ +(\S+)'
# e4m3_large = '^float8_e4m3fn +\d+ +\S+ +\S+ +\S+ +(\S+)'
# float16_small = '^float16 +\d+ .* (\S+)$'
# true_sum = 'true sum is (\d+)'
# count = '^(\d+) values of'
# bfloat16_running = '^bfloat16 +one by one +([\d.]+)'
# bfloat16_sum = '^bfloat16 +one by one .*torch.sum +([\d.]+)'
# float16_running = '^float16 +one by one +([\d.]+)'
#
# [tool.capture.claims.range-against-precision]
# says  = "bfloat16 holds what float16 cannot, and stops counting earlier"
# holds = "bfloat16_large > float16_largest and bfloat16_stops < float16_stops and float16_small == 0"
#
# [tool.capture.claims.a-running-sum-sticks]
# says  = "a running sum in bfloat16 or float16 sticks short of the truth, torch.sum does not"
# holds = "bfloat16_running < float16_running and float16_running < true_sum and bfloat16_sum == true_sum"
# ///
