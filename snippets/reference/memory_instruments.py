"""Asked for memory, a backend without a device answers zero, refuses, or has no such question."""

import warnings

import torch

BACKENDS = ("cuda", "mps", "xpu", "xla", "cpu", "accelerator")
# A backend may spell a question in its own way.
QUESTIONS = {
    "available": ("is_available",),
    "allocated": ("memory_allocated", "current_allocated_memory"),
    "reserved": ("memory_reserved", "driver_allocated_memory"),
    "peak": ("max_memory_allocated",),
    "statistics": ("memory_stats",),
    "free, total": ("mem_get_info", "get_memory_info", "recommended_max_memory"),
    "summary": ("memory_summary",),
    "reset peak": ("reset_peak_memory_stats",),
    "empty cache": ("empty_cache",),
    "record": ("memory._record_memory_history",),
}


def find(backend, names):
    for name in names:
        found = getattr(torch, backend, None)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return found
    return None


def cell(backend, names):
    call = find(backend, names)
    if call is None:
        return "absent"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call()
        except Exception:
            return "raises"
    if caught:
        return "warns"
    if isinstance(answer, dict):
        return "answers" if answer else "{}"
    # Bytes differ from run to run where there is a device: then only say that one answered.
    return str(answer) if answer in (None, 0, True, False) else "answers"


counts = dict.fromkeys(("absent", "raises", "quiet"), 0)
print(f"{'question':13}" + "".join(f"{backend:10}" for backend in BACKENDS).rstrip())
for question, names in QUESTIONS.items():
    cells = [cell(backend, names) for backend in BACKENDS]
    print(f"{question:13}" + "".join(f"{item:10}" for item in cells).rstrip())
    for item in cells if question != "available" else ():
        counts[item if item in counts else "quiet"] += 1
print(f"quiet answers {counts['quiet']}, raises {counts['raises']}, absent {counts['absent']}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Memory questions by backend"
# upstream = ["torch.cuda.memory_allocated", "torch.accelerator.memory_allocated"]
#
# [tool.capture.values]
# allocated_cuda = '^allocated +(\S+)'
# allocated_mps = '^allocated +(?:\S+ +){1}(\S+)'
# allocated_xpu = '^allocated +(?:\S+ +){2}(\S+)'
# allocated_xla = '^allocated +(?:\S+ +){3}(\S+)'
# allocated_cpu = '^allocated +(?:\S+ +){4}(\S+)'
# allocated_accelerator = '^allocated +(?:\S+ +){5}(\S+)'
# statistics_cuda = '^statistics +(\S+)'
# statistics_mps = '^statistics +(?:\S+ +){1}(\S+)'
# statistics_xpu = '^statistics +(?:\S+ +){2}(\S+)'
# statistics_xla = '^statistics +(?:\S+ +){3}(\S+)'
# statistics_cpu = '^statistics +(?:\S+ +){4}(\S+)'
# statistics_accelerator = '^statistics +(?:\S+ +){5}(\S+)'
# free_cuda = '^free, total +(\S+)'
# free_mps = '^free, total +(?:\S+ +){1}(\S+)'
# free_xpu = '^free, total +(?:\S+ +){2}(\S+)'
# free_xla = '^free, total +(?:\S+ +){3}(\S+)'
# free_cpu = '^free, total +(?:\S+ +){4}(\S+)'
# free_accelerator = '^free, total +(?:\S+ +){5}(\S+)'
# reset_cuda = '^reset peak +(\S+)'
# reset_mps = '^reset peak +(?:\S+ +){1}(\S+)'
# reset_xpu = '^reset peak +(?:\S+ +){2}(\S+)'
# reset_xla = '^reset peak +(?:\S+ +){3}(\S+)'
# reset_cpu = '^reset peak +(?:\S+ +){4}(\S+)'
# reset_accelerator = '^reset peak +(?:\S+ +){5}(\S+)'
# empty_cuda = '^empty cache +(\S+)'
# empty_mps = '^empty cache +(?:\S+ +){1}(\S+)'
# empty_xpu = '^empty cache +(?:\S+ +){2}(\S+)'
# empty_xla = '^empty cache +(?:\S+ +){3}(\S+)'
# empty_cpu = '^empty cache +(?:\S+ +){4}(\S+)'
# empty_accelerator = '^empty cache +(?:\S+ +){5}(\S+)'
# quiet = '^quiet answers (\d+)'
# raises = 'raises (\d+), absent'
# absent = 'absent (\d+)$'
#
# [tool.capture.claims.two-backends-answer-zero]
# says  = "without a device cuda and xpu answer that nothing is allocated, and mps refuses"
# holds = 'allocated_cuda == 0 and allocated_xpu == 0 and allocated_mps == "raises"'
# where = 'not gate.cuda and not gate.rocm and not gate.mps and not gate.xpu'
#
# [tool.capture.claims.cpu-has-no-memory-questions]
# says  = "the cpu module has none of these questions"
# holds = 'allocated_cpu == "absent" and free_cpu == "absent" and reset_cpu == "absent"'
#
# [tool.capture.claims.accelerator-refuses-on-a-cpu-build]
# says  = "on a CPU build of torch 2.13 torch.accelerator refuses where torch.cuda answers"
# holds = 'allocated_accelerator == "raises" and allocated_cuda == 0'
# where = 'build == "cpu" and not gate.mps and not gate.xpu and torch >= "2.13" and torch < "2.14"'
#
# [tool.capture.claims.accelerator-answers-on-a-cuda-build]
# says  = "on a CUDA build without a device torch.accelerator answers zero too"
# holds = 'allocated_accelerator == 0 and allocated_cuda == 0'
# where = 'build == "cuda" and not gate.cuda and torch >= "2.14"'
# ///
