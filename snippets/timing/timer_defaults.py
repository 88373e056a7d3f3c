"""timeit and Timer disagree about one statement until threads, warm-up and units agree."""

import statistics
import timeit

import torch
from torch.utils.benchmark import Timer

CALLS = 10
ROUNDS = 9
torch.manual_seed(0)
matrix = torch.randn(768, 768)
names = {"matrix": matrix}


def with_timeit():
    # timeit returns the total, runs no warm-up, and leaves the thread count alone.
    return timeit.timeit("matrix @ matrix", globals=names, number=CALLS) / CALLS


def with_timer(threads=None):
    # Timer returns seconds per run, warms up first, and sets the thread count itself.
    options = {} if threads is None else {"num_threads": threads}
    return Timer("matrix @ matrix", globals=names, **options).timeit(CALLS).median


def threads_seen(run):
    """What the statement itself sees, and how often it runs, when asked for once."""
    seen = []
    run(lambda: seen.append(torch.get_num_threads()))
    return seen


in_timeit = threads_seen(lambda note: timeit.timeit(note, number=1))
in_timer = threads_seen(lambda note: Timer("note()", globals={"note": note}).timeit(1))
process = torch.get_num_threads()
print(f"cuda available {torch.cuda.is_available()}, threads in this process {process}")
print("asked for one run    runs  threads")
print(f"timeit             {len(in_timeit):6}  {in_timeit[0]:7}")
print(f"Timer              {len(in_timer):6}  {in_timer[0]:7}")

ways = {
    "timeit": with_timeit,
    "Timer, its default": with_timer,
    "Timer, all threads": lambda: with_timer(process),
}
runs = {name: [] for name in ways}
with_timer(process)  # the first product of the process is slow, whoever times it
for _ in range(ROUNDS):
    for name, way in ways.items():  # in turn, so that a slow moment hits all three
        runs[name].append(way() * 1e3)
medians = {name: statistics.median(times) for name, times in runs.items()}
for name, median in medians.items():
    print(f"{name:19}{median:8.2f} ms a run{median / medians['timeit']:8.2f} times timeit")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What two timers assume"
# timing = true
# upstream = ["torch.utils.benchmark.Timer"]
#
# [tool.capture.values]
# process_threads = 'threads in this process (\d+)'
# timeit_runs = '^timeit +(\d+) +\d+$'
# timer_runs = '^Timer +(\d+) +\d+$'
# timeit_threads = '^timeit +\d+ +(\d+)$'
# timer_threads = '^Timer +\d+ +(\d+)$'
# timeit_ms = '^timeit +([\d.]+) ms'
# timer_ms = '^Timer, its default +([\d.]+) ms'
# default_ratio = '^Timer, its default .*run +([\d.]+) times'
# equal_ratio = '^Timer, all threads .*run +([\d.]+) times'
#
# [tool.capture.compare]
# ratio = { default_ratio = 1.5, equal_ratio = 1.5 }
# spread = 1.25
#
# [tool.capture.claims.timer-sets-one-thread]
# says  = "Timer runs the statement on one thread, whatever the process is set to; timeit leaves it alone"
# holds = "timer_threads == 1 and timeit_threads == process_threads"
#
# [tool.capture.claims.timer-warms-up]
# says  = "asked for one run, timeit runs the statement once and Timer more than once"
# holds = "timeit_runs == 1 and timer_runs > 1"
#
# [tool.capture.claims.one-thread-takes-longer]
# says  = "in a process of several threads, Timer's default takes longer than timeit for the same matrix product"
# holds = "default_ratio > 1.2 or process_threads == 1"
# where = 'arch == "x86_64" and os == "linux" and gate.two_cpus'
#
# [tool.capture.claims.agree-on-equal-terms]
# says  = "with the process's thread count given to Timer, the two agree within a quarter"
# holds = "equal_ratio > 0.8 and equal_ratio < 1.25"
# where = 'os == "linux"'
# ///
