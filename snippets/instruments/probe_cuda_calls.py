"""Twelve CUDA calls fall into three kinds on this host: some answer, some refuse, some warn."""

import textwrap
import warnings

import torch
from torch.utils.data import DataLoader


def autocast_enabled():
    with torch.autocast("cuda", dtype=torch.float16):
        return torch.is_autocast_enabled()


def short(message, width):
    sentence = str(message).partition("\n")[0].partition(". ")[0]
    return textwrap.shorten(sentence, width, placeholder=" ...")


def ask(call):
    """Return the kind, the answer, and every warning: the first may be about something else."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call()
        except Exception as error:
            return "refuses", f"{type(error).__name__}: {short(error, 52)}", caught
    return "warns" if caught else "answers", answer, caught


torch.manual_seed(0)
loader = DataLoader(torch.arange(4.0), pin_memory=True)
calls = {
    "memory_allocated()": torch.cuda.memory_allocated,
    "memory_stats()": lambda: f"{len(torch.cuda.memory_stats())} keys",
    "manual_seed_all(0)": lambda: torch.cuda.manual_seed_all(0),
    "Event().query()": lambda: torch.cuda.Event().query(),
    "synchronize()": torch.cuda.synchronize,
    "mem_get_info()": lambda: f"{len(torch.cuda.mem_get_info())} numbers",
    "reset_peak_memory_stats()": torch.cuda.reset_peak_memory_stats,
    "tensor.cuda()": lambda: torch.ones(1).cuda().is_cuda,
    'autocast("cuda")': autocast_enabled,
    'amp.GradScaler("cuda")': lambda: torch.amp.GradScaler("cuda").is_enabled(),
    "cuda.amp.GradScaler()": lambda: torch.cuda.amp.GradScaler().is_enabled(),
    "DataLoader(pin_memory=True)": lambda: next(iter(loader)).is_pinned(),
}
asked = {name: ask(call) for name, call in calls.items()}
print(f"cuda available {torch.cuda.is_available()}, built for CUDA {torch.version.cuda}")
for kind in ("answers", "refuses", "warns"):
    rows = [(name, *rest) for name, (its_kind, *rest) in asked.items() if its_kind == kind]
    print(f"{kind:8s}{len(rows):2d}")
    for name, answer, caught in rows:
        print(f"  {name:28s}{answer}")
        for item in caught:
            print(f"    {item.category.__name__}: {short(item.message, 80)}")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("default")
    for _ in range(3):
        autocast_enabled()
print(f"autocast entered 3 times under Python's default filter: {len(caught)} warning(s)")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Twelve CUDA calls, three kinds of answer"
# upstream = ["torch.cuda.memory_allocated", "torch.autocast"]
#
# [tool.capture.values]
# answers = '^answers +(\d+)'
# refuses = '^refuses +(\d+)'
# warns = '^warns +(\d+)'
# allocated = 'memory_allocated\(\) +(\S+)'
# event_query = 'Event\(\)\.query\(\) +(\w+)'
# refusal = 'synchronize\(\) +(.+)'
# reset_peak = 'reset_peak_memory_stats\(\) +(.+)'
# repeats = '3 times .*: (\d+) warning'
# built_for = 'built for CUDA (\S+)'
# scaler = 'amp\.GradScaler\(.cuda.\) +(\w+)'
# after_autocast = 'autocast\("cuda"\) +\w+\n *(.+)'
# after_old_scaler = 'cuda\.amp\.GradScaler\(\) +\w+\n *(.+)'
# after_loader = 'DataLoader\(pin_memory=True\) +\w+\n *(.+)'
#
# [tool.capture.claims.three-kinds]
# says  = "without a CUDA device the twelve calls fall into all three kinds"
# holds = "answers > 0 and refuses > 0 and warns > 0"
# where = "not gate.cuda and not gate.rocm"
#
# [tool.capture.claims.zero-without-a-device]
# says  = "memory_allocated() is 0 where there is no device to ask"
# holds = "allocated == 0"
# where = "not gate.cuda and not gate.rocm"
#
# [tool.capture.claims.unrecorded-event-is-complete]
# says  = "a CUDA build without a device calls an event complete that nobody recorded"
# holds = 'event_query == "True"'
# where = 'build == "cuda" and not gate.cuda'
#
# [tool.capture.claims.event-refused-by-a-cpu-build]
# says  = "a CPU build refuses to make the event"
# holds = 'event_query == "RuntimeError"'
# where = 'build == "cpu"'
#
# [tool.capture.claims.warns-once]
# says  = "three entries into an inert autocast region print one warning"
# holds = "repeats == 1"
# where = "not gate.cuda and not gate.rocm"
#
# [tool.capture.claims.no-amp-scaler-in-2-2]
# says  = "torch 2.2 has no torch.amp.GradScaler"
# holds = 'scaler == "AttributeError"'
# where = 'torch >= "2.2" and torch < "2.3"'
# ///
