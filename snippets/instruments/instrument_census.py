"""Of 29 CUDA instruments, some return a value on this host, some return None, some raise."""

import os
import textwrap
import warnings

import torch

cuda = torch.cuda
instruments = {
    "is_available": cuda.is_available,
    "device_count": cuda.device_count,
    "is_bf16_supported": cuda.is_bf16_supported,
    "memory_allocated": cuda.memory_allocated,
    "memory_reserved": cuda.memory_reserved,
    "max_memory_allocated": cuda.max_memory_allocated,
    "memory_stats": cuda.memory_stats,
    "memory_summary": cuda.memory_summary,
    "memory_snapshot": cuda.memory_snapshot,
    "mem_get_info": cuda.mem_get_info,
    "reset_peak_memory_stats": cuda.reset_peak_memory_stats,
    "empty_cache": cuda.empty_cache,
    "get_allocator_backend": cuda.get_allocator_backend,
    "_record_memory_history": lambda: cuda.memory._record_memory_history(enabled=None),
    "_dump_snapshot": lambda: cuda.memory._dump_snapshot(os.devnull),
    "synchronize": cuda.synchronize,
    "current_stream": cuda.current_stream,
    "Stream": cuda.Stream,
    "Event": lambda: cuda.Event(enable_timing=True),
    "Event.record": lambda: cuda.Event().record(),
    "Event.query": lambda: cuda.Event().query(),
    "Event.synchronize": lambda: cuda.Event().synchronize(),
    "CUDAGraph": cuda.CUDAGraph,
    "manual_seed_all": lambda: cuda.manual_seed_all(0),
    "get_rng_state": cuda.get_rng_state,
    "nvtx.range_push": lambda: cuda.nvtx.range_push("census"),
    "cudnn.version": torch.backends.cudnn.version,
    "tensor.cuda": lambda: torch.ones(1).cuda(),
    "tensor.pin_memory": lambda: torch.ones(1).pin_memory(),
}
census, exception_types = {"value": [], "None": [], "raises": []}, set()
warnings.simplefilter("ignore")
for name, instrument in instruments.items():
    try:
        answer = instrument()
    except Exception as error:
        message = textwrap.shorten(str(error), 52, placeholder=" ...")
        exception_types.add(type(error).__name__)
        census["raises"].append(f"{name:24s}{type(error).__name__}: {message}")
        continue
    # Objects are named by their type: their contents hold addresses and byte counts.
    shown = answer if isinstance(answer, (bool, int)) else type(answer).__name__
    census["None" if answer is None else "value"].append(f"{name:24s}{shown}")

print(f"cuda available {cuda.is_available()}, built for CUDA {torch.version.cuda}")
for kind, rows in census.items():
    print(f"{kind:8s}{len(rows):2d} of {len(instruments)}")
    for row in rows:
        print("  " + row)
print(f"exception types {len(exception_types)}: {', '.join(sorted(exception_types))}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "A census of 29 CUDA instruments"
#
# [tool.capture.values]
# value = '^value +(\d+) of'
# nothing = '^None +(\d+) of'
# raises = '^raises +(\d+) of'
# total = '^raises +\d+ of (\d+)'
# types = '^exception types (\d+)'
# type_names = '^exception types \d+: (.+)'
# stream = '^  Stream +(.+)'
# pin_memory = '^  tensor\.pin_memory +(.+)'
# is_bf16_supported = '^  is_bf16_supported +(\w+)'
# nvtx = '^  nvtx\.range_push +(.+)'
# cudnn = '^  cudnn\.version +(\w+)'
#
# [tool.capture.claims.cpu-build-refuses-most]
# says  = "a CPU build refuses more than half of the instruments"
# holds = "raises * 2 > total"
# where = 'build == "cpu"'
#
# [tool.capture.claims.cuda-build-refuses-fewer]
# says  = "a CUDA build without a device refuses less than half of them"
# holds = "raises * 2 < total"
# where = 'build == "cuda" and not gate.cuda'
#
# [tool.capture.claims.more-than-one-exception-type]
# says  = "without a device no single exception type covers the refusals"
# holds = "types > 1"
# where = "not gate.cuda and not gate.rocm"
#
# [tool.capture.claims.bf16-question-refused-in-2-2]
# says  = "in torch 2.2 a CUDA build without a device refuses to say whether bfloat16 is supported"
# holds = 'is_bf16_supported == "RuntimeError"'
# where = 'build == "cuda" and not gate.cuda and torch >= "2.2" and torch < "2.3"'
#
# [tool.capture.claims.bf16-question-answered]
# says  = "from torch 2.13 on, both builds answer without a device that bfloat16 is not supported"
# holds = 'is_bf16_supported == "False"'
# where = 'not gate.cuda and not gate.rocm and torch >= "2.13" and torch < "2.15"'
# ///
