"""Binding after torch's thread pool exists moves one thread; binding before moves them all."""

import os
import subprocess
import sys
from pathlib import Path

CODE = """
import os, sys, torch
torch.set_num_threads(2)
torch.manual_seed(0)
x = torch.randn(512, 512)
one_cpu = {min(os.sched_getaffinity(0))}
before = set(os.listdir("/proc/self/task"))
if sys.argv[1] == "bound first":
    os.sched_setaffinity(0, one_cpu)
x @ x  # the first parallel operation starts the pool
pool = set(os.listdir("/proc/self/task")) - before
if sys.argv[1] == "bound late":
    os.sched_setaffinity(0, one_cpu)
if sys.argv[1] == "late, every thread":
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), one_cpu)
masks = [len(os.sched_getaffinity(int(thread))) for thread in sorted(pool)]
print(len(os.sched_getaffinity(0)), ",".join(map(str, masks)) or "none", torch.get_num_threads())
"""
supported = hasattr(os, "sched_setaffinity") and Path("/proc/self/task").is_dir()
print(f"sched_setaffinity and /proc here: {supported}")
print(f"{'CPUs a thread may use':24s}{'main':6s}{'pool':6s}torch's thread count")
for mode in ("not bound", "bound first", "bound late", "late, every thread"):
    row = ["-", "-", "-"]
    if supported:
        command = [sys.executable, "-c", CODE, mode]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = done.stdout.split()
    print(f"{mode:24s}{row[0]:6s}{row[1]:6s}{row[2]}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Binding torch's threads, early and late"
# needs = ["two_cpus"]
#
# [tool.capture.values]
# supported = 'and /proc here: (\w+)'
# free_pool = '^not bound +\S+ +(\S+)'
# first_main = '^bound first +(\S+)'
# first_pool = '^bound first +\S+ +(\S+)'
# first_count = '^bound first +\S+ +\S+ +(\S+)'
# late_main = '^bound late +(\S+)'
# late_pool = '^bound late +\S+ +(\S+)'
# every_pool = '^late, every thread +\S+ +(\S+)'
#
# [tool.capture.claims.late-binding-misses-the-pool]
# says  = "binding after the first parallel operation leaves torch's pool thread as free as before"
# holds = "late_main == 1 and late_pool == free_pool and late_pool > 1"
# where = 'os == "linux" and gate.two_cpus'
#
# [tool.capture.claims.early-binding-is-inherited]
# says  = "binding before it, or each thread by its id, binds the pool thread as well"
# holds = "first_pool == 1 and every_pool == 1"
# where = 'os == "linux" and gate.two_cpus'
#
# [tool.capture.claims.the-count-stays]
# says  = "torch's thread count does not follow a binding made after the import"
# holds = "first_count == 2"
# where = 'os == "linux" and gate.two_cpus'
# ///
