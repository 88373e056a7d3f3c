"""Torch takes its thread count from the environment and the CPU mask, once, while it starts."""

import os
import subprocess
import sys

CASES = ("as started", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "OMP_NUM_THREADS=64")
CASES += ("bound before import", "bound after import", "set_num_threads(5)")
CASES += ("in a DataLoader worker", "inter-op set twice")


def bind_to_one_cpu():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def counts(_=None):
    import torch

    return [torch.get_num_threads(), torch.get_num_interop_threads()]


def answer(case):
    if case == "bound before import":
        bind_to_one_cpu()
    import torch
    from torch.utils.data import DataLoader

    if case == "bound after import":
        bind_to_one_cpu()
    elif case == "set_num_threads(5)":
        torch.set_num_threads(5)
    elif case == "in a DataLoader worker":
        return next(iter(DataLoader([0], num_workers=1, collate_fn=counts)))
    elif case == "inter-op set twice":
        torch.set_num_interop_threads(1)
        try:
            torch.set_num_interop_threads(2)
        except RuntimeError as error:
            return ["-", type(error).__name__]
    return counts()


if __name__ == "__main__" and len(sys.argv) > 1:  # a child that runs one case
    print(*answer(sys.argv[1]))
elif __name__ == "__main__":
    masks = hasattr(os, "sched_setaffinity")
    print(f"CPUs this process may use: {len(os.sched_getaffinity(0)) if masks else os.cpu_count()}")
    print(f"{'threads of torch':26s}{'intra-op':10s}inter-op")
    for case in CASES:
        command = [sys.executable, __file__, case]
        extra = dict([case.split("=")] if "=" in case else [])
        row = ["no masks", "here"]
        if masks or not case.startswith("bound"):
            done = subprocess.run(command, env=os.environ | extra, capture_output=True, text=True)
            row = done.stdout.split()
        print(f"{case:26s}{row[0]:10s}{row[1]}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Where torch's thread count comes from"
#
# [tool.capture.values]
# cpus = 'may use: (\d+)'
# started = '^as started +(\d+)'
# started_inter = '^as started +\d+ +(\d+)'
# omp_one = '^OMP_NUM_THREADS=1 +(\d+)'
# omp_one_inter = '^OMP_NUM_THREADS=1 +\d+ +(\d+)'
# mkl_one = '^MKL_NUM_THREADS=1 +(\d+)'
# omp_many = '^OMP_NUM_THREADS=64 +(\d+)'
# bound_before = '^bound before import +(\S+)'
# bound_before_inter = '^bound before import +.*?(\S+)$'
# bound_after = '^bound after import +(\S+)'
# bound_after_inter = '^bound after import +.*?(\S+)$'
# set_five = '^set_num_threads\(5\) +(\d+)'
# worker = '^in a DataLoader worker +(\d+)'
# twice = '^inter-op set twice +- +(\S+)'
#
# [tool.capture.claims.bind-before-the-import]
# says  = "torch starts with one thread where the process is bound to one CPU before the import"
# holds = "bound_before == 1"
# where = 'os == "linux" and arch == "x86_64"'
#
# [tool.capture.claims.a-later-binding-is-not-seen]
# says  = "a binding after the import leaves the intra-op count as it was"
# holds = "bound_after == started"
# where = 'os == "linux" and arch == "x86_64"'
#
# [tool.capture.claims.the-environment-is-read]
# says  = "OMP_NUM_THREADS=1 gives one intra-op thread"
# holds = "omp_one == 1"
#
# [tool.capture.claims.one-thread-in-a-worker]
# says  = "a DataLoader worker computes on one thread"
# holds = "worker == 1"
#
# [tool.capture.claims.a-count-may-exceed-the-cpus]
# says  = "set_num_threads takes any count, set_num_interop_threads only the first"
# holds = 'set_five == 5 and twice == "RuntimeError"'
# ///
