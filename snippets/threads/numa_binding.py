"""torch.numa binds every thread of a process to the CPUs that stand beside its device."""

import inspect
import os
import shutil
from pathlib import Path

import torch
from torch.numa import binding

lookup = binding._get_logical_cpus_to_bind_to
index = next(iter(inspect.signature(lookup).parameters))  # named device_index or gpu_index


def beside_device_0(mode):
    options = binding.NumaOptions(affinity_mode=mode)
    try:
        return lookup(**{index: 0}, numa_options=options)
    except (RuntimeError, OSError) as error:  # a virtual machine may hide the topology
        print(f"{mode.value}: {type(error).__name__}")
        return set()


def masks():
    """Return how many CPUs each thread of this process may use, without repetitions."""
    tasks = Path("/proc/self/task").iterdir()
    return sorted({len(os.sched_getaffinity(int(task.name))) for task in tasks})


torch.manual_seed(0)
x = torch.randn(1024, 1024)
expected = x @ x  # the thread pool exists from here on
allowed = os.sched_getaffinity(0)
print(f"cuda available {torch.cuda.is_available()}, {torch.cuda.device_count()} devices")
print(f"numactl, which torchrun --numa-binding calls: {shutil.which('numactl') is not None}")
print(f"CPUs allowed: {len(allowed)}")
for mode in binding.AffinityMode:
    cpus = beside_device_0(mode)
    assert cpus <= allowed
    print(f"CPUs in mode {mode.value:14s}{len(cpus)}")
node = beside_device_0(binding.AffinityMode.NODE) or allowed
print(f"masks of the threads before: {' and '.join(map(str, masks()))}")
binding._bind_all_threads_in_current_process_to_logical_cpus(logical_cpu_indices=node)
print(f"masks of the threads after: {' and '.join(map(str, masks()))}")
torch.testing.assert_close(x @ x, expected)

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13"]
#
# [tool.capture]
# title = "torch.numa beside a device"
# needs = ["cuda"]
#
# [tool.capture.values]
# numactl = 'numa-binding calls: (\w+)'
# allowed = '^CPUs allowed: (\d+)'
# node = '^CPUs in mode node +(\d+)'
# socket = '^CPUs in mode socket +(\d+)'
# exclusive = '^CPUs in mode exclusive +(\d+)'
# core_complex = '^CPUs in mode core-complex +(\d+)'
# masks_before = 'threads before: (.+)'
# masks_after = 'threads after: (.+)'
#
# [tool.capture.claims.modes-narrow]
# says  = "the exclusive mode gives no more CPUs than the node mode, and that no more than the socket mode"
# holds = "exclusive <= node and node <= socket"
# where = 'gate.cuda and os == "linux"'
#
# [tool.capture.claims.all-threads-are-bound]
# says  = "after the binding all threads have one mask"
# holds = "masks_after == node or node == 0"
# where = 'gate.cuda and os == "linux"'
# ///
