"""os.sched_setaffinity(0, ...) binds the calling thread, not the process; children inherit that."""

import os
import subprocess
import sys
import threading

CHILD = [sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]
NAMES = ("binds to the first CPU", "binds to the second CPU", "binds to nothing")
supported = hasattr(os, "sched_setaffinity")
allowed = sorted(os.sched_getaffinity(0)) if supported else []
enough = len(allowed) >= 2
print(f"sched_setaffinity here: {supported}; two CPUs allowed: {enough}")
all_bound = threading.Barrier(len(NAMES))
seen = {}


def describe(cpus):
    if cpus == allowed:
        return "all"
    return " and ".join({allowed[0]: "first", allowed[1]: "second"}.get(cpu, "?") for cpu in cpus)


def thread(name, cpu):
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    all_bound.wait()  # every binding happens before any reading
    own = sorted(os.sched_getaffinity(0))
    child = subprocess.run(CHILD, capture_output=True, text=True, check=True)
    assert child.stdout.strip() == str(own)
    seen[name] = describe(own)


def late():
    seen["a thread started after that"] = describe(sorted(os.sched_getaffinity(0)))


def run(target, *arguments):
    threads = [threading.Thread(target=target, args=each) for each in arguments]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


if enough:
    run(thread, *zip(NAMES, (allowed[0], allowed[1], None), strict=True))
    seen["the main thread meanwhile"] = describe(sorted(os.sched_getaffinity(0)))
    os.sched_setaffinity(0, {allowed[1]})
    run(late, ())
print(f"{'thread':30s}CPUs it, and a child it starts, may use")
for name in (*NAMES, "the main thread meanwhile", "a thread started after that"):
    print(f"{name:30s}{seen.get(name, 'not run here')}")

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "sched_setaffinity binds a thread"
#
# [tool.capture.values]
# supported = '^sched_setaffinity here: (\w+)'
# first = '^binds to the first CPU +(.+)'
# second = '^binds to the second CPU +(.+)'
# nothing = '^binds to nothing +(.+)'
# main = '^the main thread meanwhile +(.+)'
# late = '^a thread started after that +(.+)'
#
# [tool.capture.claims.a-thread-is-bound]
# says  = "each thread keeps the CPUs that it asked for, and the main thread keeps all"
# holds = 'first == "first" and second == "second" and nothing == "all" and main == "all"'
# where = 'os == "linux" and gate.two_cpus'
#
# [tool.capture.claims.a-new-thread-inherits]
# says  = "a thread inherits the CPUs of the thread that started it"
# holds = 'late == "second"'
# where = 'os == "linux" and gate.two_cpus'
# ///
