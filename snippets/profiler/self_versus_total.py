"""Self time adds up to the whole; total time counts nested work once for every level."""

import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function

PAUSE = 0.1  # seconds, long beside everything that the profiler itself costs
torch.manual_seed(0)
linear = torch.nn.Linear(64, 64)
rows = torch.randn(8, 64)


def three_names():
    with record_function("outer"), record_function("middle"):
        linear(rows)
        with record_function("inner"):
            time.sleep(PAUSE)


def one_name(level=1):
    """A region that enters itself twice, as a recursive function would."""
    with record_function("recursive"):
        if level == 3:
            time.sleep(PAUSE / 4)
        else:
            one_name(level + 1)
            one_name(level + 1)


def recorded(work):
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        work()
    return profiled


recorded(three_names)  # warm-up: the first profile of a process is slow
named = recorded(three_names)
exact = 0
for event in named.events():
    children = sum(child.cpu_time_total for child in event.cpu_children)
    exact += abs(event.self_cpu_time_total + children - event.cpu_time_total) < 0.01
print("cuda available", torch.cuda.is_available(), " only the CPU is profiled")
print(f"events where self + children's total = total: {exact} of {len(named.events())}")

averages = named.key_averages()
ranked = sorted(averages, key=lambda row: row.cpu_time_total, reverse=True)
print("ranked by total:", " ".join(row.key for row in ranked[:3]))
ranked = sorted(averages, key=lambda row: row.self_cpu_time_total, reverse=True)
print("ranked by self: ", ranked[0].key)

print(f"{'sum over the rows / elapsed':28}  self  total")
for name, work in (("three names, nested", three_names), ("one name, nested", one_name)):
    profiled = recorded(work)
    (outermost,) = [event for event in profiled.events() if event.cpu_parent is None]
    regions = [row for row in profiled.key_averages() if not row.key.startswith("aten::")]
    own = profiled.key_averages().total_average().self_cpu_time_total
    total = sum(row.cpu_time_total for row in regions)
    elapsed = outermost.cpu_time_total
    print(f"{name:28}{own / elapsed:6.0f}{total / elapsed:7.0f}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Self and total time"
# env = { KINETO_LOG_LEVEL = "99" }
# preload = ["profiler"]
# upstream = ["torch.profiler.profile", "torch.autograd.profiler_util.FunctionEvent"]
#
# [tool.capture.values]
# exact = '= total: (\d+) of'
# events = '= total: \d+ of (\d+)'
# by_total = '^ranked by total: (.+)'
# by_self = '^ranked by self: +(\w+)'
# self_sum = '^three names, nested +(\d+)'
# total_sum = '^three names, nested +\d+ +(\d+)'
# recursive_self = '^one name, nested +(\d+)'
# recursive_total = '^one name, nested +\d+ +(\d+)'
#
# [tool.capture.claims.self-is-total-less-children]
# says  = "every event's total is its self time plus the totals of its children"
# holds = "exact == events"
#
# [tool.capture.claims.self-adds-up]
# says  = "inside one enclosing region on one thread, self time over all rows adds up to its length, once"
# holds = "self_sum == 1 and recursive_self == 1"
#
# [tool.capture.claims.total-counts-levels]
# says  = "total time of regions nested three deep adds up to three times the elapsed time"
# holds = "total_sum == 3 and recursive_total == 3"
# ///
