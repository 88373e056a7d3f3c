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


print("cuda available", torch.cuda.is_available(), " only the CPU is profiled")
print(f"{PROFILES} profiles of {PASSES} passes, batch {BATCH}, width {WIDTH}")
for label, threads in (("all threads", torch.get_num_threads()), ("one thread", 1)):
    torch.set_num_threads(threads)
    with torch.no_grad():
        for _ in range(3):  # warm-up: threads, caches and the profiler itself
            shares()
        runs = [shares() for _ in range(PROFILES)]
    for place, index in (("first", 0), ("second", 1)):
        ranked = Counter(list(run)[index] for run in runs)
        name, count = ranked.most_common(1)[0]
        percents = [run[name] for run in runs]
        low, high = min(percents), max(percents)
        row = f"{label:<11}  {place:<6}  {name:<13}  {count:2d} of {PROFILES}"
        print(f"{row}  share {median(percents):2.0f} %  {low:2.0f} to {high:2.0f} %")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "The profiler's first two places"
# timing = true
# env = { KINETO_LOG_LEVEL = "99" }
# preload = ["profiler"]
#
# [tool.capture.values]
# profiles = '^(\d+) profiles of'
# first = '^all threads +first +(\S+)'
# first_count = '^all threads +first +\S+ +(\d+) of'
# share = '^all threads +first .*share +(\d+) %'
# share_low = '^all threads +first .*% +(\d+) to'
# second = '^all threads +second +(\S+)'
# second_count = '^all threads +second +\S+ +(\d+) of'
# second_share = '^all threads +second .*share +(\d+) %'
# second_high = '^all threads +second .*to +(\d+) %'
# one_first = '^one thread +first +(\S+)'
# one_first_count = '^one thread +first +\S+ +(\d+) of'
# one_share = '^one thread +first .*share +(\d+) %'
# one_share_low = '^one thread +first .*% +(\d+) to'
# one_second_high = '^one thread +second .*to +(\d+) %'
#
# [tool.capture.compare]
# ratio = { share = 1.25, one_share = 1.25, first_count = 1.25, one_first_count = 1.25 }
# spread = 1.25
# volatile = ['^.* second .*$', '\d+ to +\d+ %']
#
# [tool.capture.claims.matmul-first]
# says = "on a quiet host the matmul ranks first in every profile"
# holds = "first == 'aten::addmm' and first_count == profiles"
# where = 'arch == "x86_64"'
#
# [tool.capture.claims.gap-exceeds-spread]
# says = "on a quiet host the matmul's lowest share is above the runner-up's highest"
# holds = "share_low > second_high"
# where = 'arch == "x86_64"'
#
# [tool.capture.claims.one-thread-ranks-too]
# says = "profiled on one thread, the matmul ranks first in every profile"
# holds = "one_first == 'aten::addmm' and one_first_count == profiles"
# where = 'arch == "x86_64"'
# ///
