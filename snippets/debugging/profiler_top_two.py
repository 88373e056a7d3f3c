"""Prove that a profiler's ranking holds where the gap between two shares exceeds their spread."""

from collections import Counter
from statistics import median

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

PROFILES = 12
PASSES = 5
BATCH, WIDTH = 256, 1024
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.Softmax(-1))
batch = torch.randn(BATCH, WIDTH)


def shares():
    """Operators by their share of self CPU time, in percent, largest first."""
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        for _ in range(PASSES):
            model(batch)
    events = recorded.key_averages()
    total = sum(event.self_cpu_time_total for event in events)
    percent = {event.key: 100 * event.self_cpu_time_total / total for event in events}
    return dict(sorted(percent.items(), key=lambda item: item[1], reverse=True))


with torch.no_grad():
    for _ in range(3):  # warm-up: threads, caches and the profiler itself
        shares()
    runs = [shares() for _ in range(PROFILES)]

print("cuda available", torch.cuda.is_available(), " the CPU alone is profiled")
print(f"{PROFILES} profiles of {PASSES} passes, batch {BATCH}, width {WIDTH}")
for place, name in enumerate(("first", "second")):
    ranked = Counter(list(run)[place] for run in runs)
    winner, count = ranked.most_common(1)[0]
    print(f"{name + ' place':<13} {winner} in {count} of {PROFILES}")
for key in ("aten::addmm", "aten::gelu", "aten::_softmax"):
    percents = [run[key] for run in runs]
    low, high = min(percents), max(percents)
    print(f"{key:<15} median {median(percents):3.0f} %  lowest {low:3.0f} %  highest {high:3.0f} %")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "The profiler's first two places"
# timing = true
# env = { KINETO_LOG_LEVEL = "99" }
# preload = ["torch.profiler"]
#
# [tool.capture.values]
# profiles = '^(\d+) profiles of'
# first = '^first place +(\S+) in'
# first_count = '^first place +\S+ in (\d+) of'
# second = '^second place +(\S+) in'
# second_count = '^second place +\S+ in (\d+) of'
# share = '^aten::addmm +median +(\d+) %'
# share_low = '^aten::addmm .*lowest +(\d+) %'
# gelu_share = '^aten::gelu +median +(\d+) %'
# gelu_high = '^aten::gelu .*highest +(\d+) %'
# softmax_share = '^aten::_softmax +median +(\d+) %'
# softmax_high = '^aten::_softmax .*highest +(\d+) %'
#
# [tool.capture.compare]
# ratio = { share = 1.25, first_count = 1.25 }
# spread = 1.25
# volatile = ['^second place .*$', 'lowest .*$', '^aten::(gelu|_softmax) .*$']
#
# [tool.capture.claims.matmul-first]
# says = "on a quiet host the matmul ranks first in every profile"
# holds = "first == 'aten::addmm' and first_count == profiles"
# where = 'arch == "x86_64"'
#
# [tool.capture.claims.gap-exceeds-spread]
# says = "on a quiet host the matmul's lowest share is above the highest of the other two"
# holds = "share_low > gelu_high and share_low > softmax_high"
# where = 'arch == "x86_64"'
# ///
