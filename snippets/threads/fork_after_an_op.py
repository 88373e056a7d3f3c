"""A child forked after torch's thread pool has started waits for threads that it does not have."""

import os
import time
import warnings
from pathlib import Path

import torch

LIMIT = 5  # seconds until a child that does not answer is ended
torch.set_num_threads(2)
torch.manual_seed(0)
x = torch.randn(2_000_000)


def forked(prepare=lambda: None):
    """Fork a child that computes in parallel; say how it ended, and do not wait for ever."""
    if not hasattr(os, "fork"):
        return "no fork here"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of this very danger
        child = os.fork()
    if child == 0:
        prepare()
        x.exp().sum()
        os._exit(0)
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "done" if status == 0 else "crashed"
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "no answer"


def openmp_library():
    maps = Path("/proc/self/maps")
    text = maps.read_text() if maps.exists() else ""
    found = [name for name in ("libgomp", "libiomp", "libomp") if f"/{name}" in text]
    return " and ".join(found) or "unknown"


before = forked()
x.exp().sum()  # the parent's first parallel operation starts its pool
print(f"OpenMP library {openmp_library()}, threads {torch.get_num_threads()}")
print(f"{'forked':28s}child, within {LIMIT} s")
print(f"{'before the first operation':28s}{before}")
print(f"{'after it':28s}{forked()}")
print(f"{'after it, child on 1 thread':28s}{forked(lambda: torch.set_num_threads(1))}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Fork after an operation: a deadlock"
#
# [tool.capture.values]
# openmp = '^OpenMP library (.+), threads'
# limit = 'within (\d+) s'
# before = '^before the first operation +(.+)'
# after = '^after it  +(.+)'
# one_thread = 'on 1 thread +(.+)'
#
# [tool.capture.claims.a-pool-is-not-forked]
# says  = "with GNU OpenMP a child that is forked after the first operation never answers"
# holds = 'openmp != "libgomp" or after == "no answer"'
# where = 'os == "linux"'
#
# [tool.capture.claims.before-or-on-one-thread]
# says  = "a child forked before it answers, and so does one that computes on one thread"
# holds = 'before == "done" and one_thread == "done"'
# where = 'os == "linux"'
# ///
