"""Asked for a device that is not there, a profiler warns and leaves it out, or refuses."""

import contextlib
import warnings

import torch
from torch.profiler import ProfilerActivity, itt, profile, supported_activities

CPU = ProfilerActivity.CPU
rows = torch.ones(8, 8)


def run(context):
    with context:
        return rows @ rows


def profiled(activities):
    with profile(activities=activities) as recorded:
        run(contextlib.nullcontext())
    averages = [event for event in recorded.key_averages() if event.key.startswith("aten::")]
    device_us = sum(event.device_time_total for event in averages)
    return f"{len(averages)} operators, {device_us:.0f} us on a device"


def ask(name, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call()
        except Exception as error:
            answer = f"raises {type(error).__name__}"
    said = "tensor" if torch.is_tensor(answer) else str(answer)
    print(f"{name:28}{said}{', warns' * bool(caught)}")


print(f"supported activities        {', '.join(sorted(a.name for a in supported_activities()))}")
print(f"cuda available              {torch.cuda.is_available()}")
for name in ("CUDA", "XPU", "MTIA", "HPU"):
    activity = ProfilerActivity.__members__.get(name)
    if activity is None:
        print(f"{name:28}absent")
        continue
    ask(f"CPU and {name}", lambda activity=activity: profiled([CPU, activity]))
    ask(f"{name} alone", lambda activity=activity: profiled([activity]))
for name, call in {
    "CPU": lambda: profiled([CPU]),
    "nvtx.range_push": lambda: torch.cuda.nvtx.range_push("step"),
    "emit_nvtx": lambda: run(torch.autograd.profiler.emit_nvtx()),
    "itt.range_push": lambda: itt.range_push("step"),
    "emit_itt": lambda: run(torch.autograd.profiler.emit_itt()),
    "mps.profiler": lambda: run(torch.mps.profiler.profile()),
}.items():
    ask(name, call)

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Profilers and annotations by backend"
# env = { KINETO_LOG_LEVEL = "99" }
# upstream = ["torch.profiler.profile"]
#
# [tool.capture.values]
# supported = '^supported activities +(\S.*)'
# cuda_available = '^cuda available +(\w+)'
# with_cuda = '^CPU and CUDA +(\S.*)'
# alone_cuda = '^CUDA alone +(\S.*)'
# with_xpu = '^CPU and XPU +(\S.*)'
# alone_xpu = '^XPU alone +(\S.*)'
# with_mtia = '^CPU and MTIA +(\S.*)'
# alone_mtia = '^MTIA alone +(\S.*)'
# with_hpu = '^CPU and HPU +(\S.*)'
# alone_hpu = '^HPU alone +(\S.*)'
# cpu = '^CPU  +(\S.*)'
# cuda_us = '^CPU and CUDA +.*, (\d+) us'
# nvtx = '^nvtx\.range_push +(\S.*)'
# emit_nvtx = '^emit_nvtx +(\S.*)'
# itt = '^itt\.range_push +(\S.*)'
# emit_itt = '^emit_itt +(\S.*)'
# mps = '^mps\.profiler +(\S.*)'
#
# [tool.capture.claims.asked-for-cuda-got-cpu]
# says  = "without CUDA a profile of CPU and CUDA warns, goes on, and counts no device time"
# holds = 'with_cuda == "3 operators, 0 us on a device, warns" and cpu == "3 operators, 0 us on a device"'
# where = 'not gate.cuda and not gate.rocm and torch >= "2.13"'
#
# [tool.capture.claims.cuda-alone-refuses]
# says  = "without CUDA a profile of CUDA alone refuses"
# holds = 'alone_cuda == "raises AssertionError, warns"'
# where = 'not gate.cuda and not gate.rocm and torch >= "2.13"'
# ///
