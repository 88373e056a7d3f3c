"""CPU columns hold launches, device columns kernels; a sum over all rows counts kernels twice."""

import statistics

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

CALLS = 10
ROUNDS = 5
CPU, CUDA = ProfilerActivity.CPU, ProfilerActivity.CUDA
torch.manual_seed(0)
matrix = torch.randn(4096, 4096, device="cuda")


def work():
    for _ in range(CALLS):
        matrix @ matrix
    torch.cuda.synchronize()


def by_events():
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def columns(activities):
    """Milliseconds: the product's own CPU and device time, kernel rows, all rows."""
    with profile(activities=activities) as profiled:
        work()
    rows = profiled.key_averages()
    (product,) = [row for row in rows if row.key == "aten::mm"]
    kernels = [row for row in rows if row.device_type == DeviceType.CUDA]
    microseconds = (
        product.self_cpu_time_total,
        product.self_device_time_total,
        sum(row.self_device_time_total for row in kernels if not row.is_user_annotation),
        sum(row.self_device_time_total for row in rows),
    )
    return [value / 1e3 for value in microseconds]


print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
work()  # warm-up of the kernels; each first profile below warms up its tracer
print(f"events around the loop     {statistics.median(by_events() for _ in range(ROUNDS)):9.3f} ms")
for name, activities in (("CPU only", [CPU]), ("CPU and CUDA", [CPU, CUDA])):
    columns(activities)
    runs = [columns(activities) for _ in range(ROUNDS)]
    cpu, device, kernels, everything = (statistics.median(run) for run in zip(*runs, strict=True))
    print(f"{name}\n  aten::mm, self CPU       {cpu:9.3f} ms")
    print(f"  aten::mm, self device    {device:9.3f} ms")
    print(f"  kernel rows              {kernels:9.3f} ms")
    print(f"  all rows                 {everything:9.3f} ms")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.4"]
#
# [tool.capture]
# title = "Launches and kernels in one table"
# needs = ["cuda"]
# timing = true
# env = { KINETO_LOG_LEVEL = "99" }
# upstream = ["torch.profiler.profile"]
#
# [tool.capture.values]
# events_ms = '^events around the loop +([\d.]+)'
# cpu_only_device_ms = '^CPU only\n.*\n +aten::mm, self device +([\d.]+)'
# mm_cpu_ms = '^CPU and CUDA\n +aten::mm, self CPU +([\d.]+)'
# mm_device_ms = '^CPU and CUDA\n.*\n +aten::mm, self device +([\d.]+)'
# kernels_ms = '^CPU and CUDA\n.*\n.*\n +kernel rows +([\d.]+)'
# all_rows_ms = '^CPU and CUDA\n.*\n.*\n.*\n +all rows +([\d.]+)'
#
# [tool.capture.compare]
# ratio = { mm_device_ms = 1.5, events_ms = 1.5 }
# spread = 1.25
#
# [tool.capture.claims.device-column-is-the-work]
# says  = "self device time of the product agrees with events around the loop within a fifth"
# holds = "mm_device_ms > events_ms * 0.8 and mm_device_ms < events_ms * 1.2"
# where = "gate.cuda"
#
# [tool.capture.claims.cpu-column-is-the-launch]
# says  = "self CPU time of the product is less than a tenth of its device time"
# holds = "mm_cpu_ms * 10 < mm_device_ms"
# where = "gate.cuda"
#
# [tool.capture.claims.cpu-only-sees-no-kernel]
# says  = "profiled with the CPU activity alone, the device time is 0"
# holds = "cpu_only_device_ms == 0"
# where = "gate.cuda"
#
# [tool.capture.claims.all-rows-count-twice]
# says  = "a sum of self device time over all rows is twice that of the kernel rows"
# holds = "all_rows_ms > kernels_ms * 1.8 and all_rows_ms < kernels_ms * 2.2"
# where = "gate.cuda"
# ///
