"""A schedule counts calls of step(): without them it records nothing and says nothing."""

import warnings

import torch
from torch.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule

plan = schedule(wait=1, warmup=1, active=2, repeat=2)
SAVE = ProfilerAction.RECORD_AND_SAVE
# A profile keeps one cycle at a time, and newer versions warn about it.
warnings.filterwarnings("ignore", message=".*clears events at the end of each cycle.*")


def steps_in(profiled):
    """The numbers of the loop's steps that the profile holds."""
    names = {event.name for event in profiled.events()}
    return [int(name.split()[1]) for name in sorted(names) if name.startswith("work ")]


def train(steps, call_step=True, use_plan=True):
    """Run a loop and return what each cycle handed over, and what is left afterwards."""
    handed = []
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=plan if use_plan else None,
        on_trace_ready=lambda profiled: handed.append(steps_in(profiled)),
    ) as profiled:
        for number in range(steps):
            with record_function(f"work {number}"):
                torch.ones(4) + 1
            if call_step:
                profiled.step()
    try:
        left = steps_in(profiled)
    except AssertionError as error:
        left = type(error).__name__
    return handed, left


print(f"cuda available {torch.cuda.is_available()}")
for number in range(9):
    action = plan(number)
    print(f"step {number}  {'RECORD, then hand over' if action is SAVE else action.name}")
print(f"{'ten steps, but':20}{'handed to on_trace_ready':28}held afterwards")
for label, options in {
    "nothing else": {},
    "step() forgotten": {"call_step": False},
    "no schedule": {"use_plan": False},
    "only seven steps": {"steps": 7},
    "only one step": {"steps": 1},
}.items():
    handed, left = train(**{"steps": 10, **options})
    count = sum(len(cycle) for cycle in handed)
    traces = " ".join(f"{cycle[0]}-{cycle[-1]}" for cycle in handed) or "nothing"
    left = left if isinstance(left, str) else f"{len(left)}"
    print(f"{label:20}{traces:10}{count:3} of {options.get('steps', 10):2} steps   {left}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Which steps a schedule records"
# env = { KINETO_LOG_LEVEL = "99" }
# preload = ["profiler"]
# upstream = ["torch.profiler.schedule", "torch.profiler.profile"]
#
# [tool.capture.values]
# handed = '^nothing else +(.+?) +\d+ of'
# recorded = '^nothing else .* (\d+) of'
# left = '^nothing else .* of 10 steps +(.+)'
# forgotten = '^step\(\) forgotten .* (\d+) of'
# forgotten_left = '^step\(\) forgotten .* steps +(\w+)'
# unscheduled = '^no schedule .* (\d+) of'
# short_handed = '^only seven steps +(.+?) +\d+ of'
# short_recorded = '^only seven steps .* (\d+) of'
# one = '^only one step .* (\d+) of'
#
# [tool.capture.claims.the-plan-records-four]
# says  = "the plan records two cycles of two steps, and hands each over"
# holds = 'recorded == 4 and handed == "2-3 6-7"'
#
# [tool.capture.claims.no-step-no-record]
# says  = "the same loop without step() records nothing"
# holds = "forgotten == 0"
#
# [tool.capture.claims.a-short-loop-is-cut]
# says  = "a loop that ends inside a cycle hands over the part it has"
# holds = "short_recorded == 3 and one == 0"
# ///
