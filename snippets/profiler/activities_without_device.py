"""Asked for a device that is not there, the profiler warns, drops it, and reports 0."""

import textwrap
import warnings

import torch
from torch.profiler import ProfilerActivity, profile, supported_activities

CPU, CUDA = ProfilerActivity.CPU, ProfilerActivity.CUDA
torch.manual_seed(0)
matrix = torch.randn(64, 64)


def ask(activities):
    """Profile one product; return its averages and everything the profiler said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with profile(activities=activities) as profiled:
                matrix @ matrix
        except AssertionError as error:
            return None, f"{type(error).__name__}: {error}"
    said = " ".join(str(item.message) for item in caught) or "nothing"
    return profiled.key_averages(), textwrap.shorten(said, 60, placeholder=" ...")


supported = " ".join(sorted(activity.name for activity in supported_activities()))
print(f"cuda available {torch.cuda.is_available()}, supported activities: {supported}")
calls = {}
for name, activities in {
    "CPU": [CPU],
    "CPU and CUDA": [CPU, CUDA],
    "CUDA": [CUDA],
    "unnamed": None,
}.items():
    averages, said = ask(activities)
    print(f"activities {name}\n  it says       {said}")
    if averages is None:
        continue
    on_device = sum(row.self_device_time_total for row in averages)
    shown = "Self CUDA" in averages.table()
    calls[name] = {row.key: row.count for row in averages if row.key.startswith("aten::")}
    print(f"  device time   {on_device:.0f} us, CUDA columns in the table {shown}")
assert calls["CPU"] == calls["CPU and CUDA"]  # the CPU part is recorded all the same
print(f"CPU rows, with or without the request: {len(calls['CPU'])}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.4"]
#
# [tool.capture]
# title = "Asking for a device that is not there"
# env = { KINETO_LOG_LEVEL = "99" }
# preload = ["profiler"]
# upstream = ["torch.profiler.supported_activities", "torch.profiler.profile"]
#
# [tool.capture.values]
# cuda_available = '^cuda available (\w+)'
# supported = 'supported activities: (.+)'
# both_says = '^activities CPU and CUDA\n +it says +(.+)'
# both_device_us = '^activities CPU and CUDA\n.*\n +device time +(\d+) us'
# both_columns = '^activities CPU and CUDA\n.*\n.* in the table (\w+)'
# alone_says = '^activities CUDA\n +it says +(.+)'
# unnamed_says = '^activities unnamed\n +it says +(.+)'
#
# [tool.capture.claims.a-zero-is-no-measurement]
# says  = "without a device, device time reads 0 and the table has no CUDA columns"
# holds = 'both_device_us == 0 and both_columns == "False"'
# where = "not gate.cuda and not gate.rocm"
#
# [tool.capture.claims.silent-unless-asked]
# says  = "without a device, the profiler speaks only if CUDA was named"
# holds = 'both_says != "nothing" and unnamed_says == "nothing"'
# where = "not gate.cuda and not gate.rocm"
# ///
