"""The old cuda_ names: gone from averages, deprecated on events, rewritten in sort_by."""

import warnings

import torch
from torch.profiler import ProfilerActivity, profile

RENAMED = {
    "cuda_time": "device_time",
    "cuda_time_total": "device_time_total",
    "self_cuda_time_total": "self_device_time_total",
    "cuda_memory_usage": "device_memory_usage",
    "self_cuda_memory_usage": "self_device_memory_usage",
}


def verdict(access):
    """What using a name does: works, warns, or the name of the exception."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            access()
        except Exception as error:
            return type(error).__name__
    return caught[0].category.__name__ if caught else "works"


with profile(activities=[ProfilerActivity.CPU]) as profiled:
    torch.ones(4) + 1
averages = profiled.key_averages()
single = profiled.events()[0]


def ask(name):
    return (
        verdict(lambda: getattr(averages[0], name)),
        verdict(lambda: getattr(single, name)),
        verdict(lambda: averages.table(sort_by=name)),
    )


print(f"cuda available {torch.cuda.is_available()}")
print(f"{'name':26}{'key_averages()':16}{'events()':16}table(sort_by=)")
working = {}
for label, names in (("old", RENAMED), ("new", RENAMED.values())):
    answers = {name: ask(name) for name in names}
    for name, row in answers.items():
        print(f"{name:26}{row[0]:16}{row[1]:16}{row[2]}")
    working[label] = [sum(row[i] == "works" for row in answers.values()) for i in range(3)]
for label, counts in working.items():
    print(f"{label} names that work quietly, of {len(RENAMED)}: ", *counts)

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.4"]
#
# [tool.capture]
# title = "From cuda_time to device_time"
# env = { KINETO_LOG_LEVEL = "99" }
# preload = ["profiler"]
# upstream = ["torch.autograd.profiler_util.FunctionEventAvg", "torch.autograd.profiler_util.FunctionEvent"]
#
# [tool.capture.values]
# names = '^old names that work quietly, of (\d+)'
# old_average = '^old names .*: +(\d+) \d+ \d+'
# old_single = '^old names .*: +\d+ (\d+) \d+'
# old_sort = '^old names .*: +\d+ \d+ (\d+)'
# new_average = '^new names .*: +(\d+) \d+ \d+'
# self_average = '^self_cuda_time_total +(\w+)'
# self_single = '^self_cuda_time_total +\w+ +(\w+)'
# self_sort = '^self_cuda_time_total +\w+ +\w+ +(\w+)'
# time_average = '^cuda_time +(\w+)'
# memory_single = '^cuda_memory_usage +\w+ +(\w+)'
#
# [tool.capture.claims.gone-from-averages]
# says  = "averaged events no longer have self_cuda_time_total, single ones warn, and sort_by rewrites it"
# holds = 'self_average == "AttributeError" and self_single == "FutureWarning" and self_sort == "works"'
# where = 'torch >= "2.13"'
#
# [tool.capture.claims.new-names-work]
# says  = "every new name works on averaged events"
# holds = "new_average == names"
# ///
