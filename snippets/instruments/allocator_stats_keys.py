"""memory_allocated() looks up one key of memory_stats() with a default of 0: no key, still a 0."""

import inspect
import itertools
import re
import textwrap

import torch

cuda = torch.cuda


def expand(pattern):
    """Turn "a.{b,c}.{d,e}" into the four names it stands for."""
    parts = [part.strip("{}").split(",") for part in pattern.split(".")]
    return [".".join(choice) for choice in itertools.product(*parts)]


def answer(call):
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__


print(f"cuda available {cuda.is_available()}, built for CUDA {torch.version.cuda}")
print(f"keys before the first CUDA call: {len(cuda.memory_stats())}")

documentation = inspect.getdoc(cuda.memory_stats)
entries = re.findall(r'- ``"([^"]+)"``:\s+(.+?)(?=\n\n|\n- )', documentation, re.DOTALL)
documented = [key for pattern, _ in entries for key in expand(pattern)]
print(f"{'family':24s}keys  meaning, from the docstring of the installed torch")
for pattern, meaning in entries:
    if "{all," in pattern:
        short = textwrap.shorten(meaning, 56, placeholder=" ...")
        print(f"{pattern.partition('.')[0]:24s}{len(expand(pattern)):4d}  {short}")
print(f"documented keys in all: {len(documented)}")

print(f"{'function':24s}{'key it reads':30s}{'default':9s}answer")
for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
    function = getattr(cuda, name)
    key, default = re.search(r'\.get\("([^"]+)", (\w+)\)', inspect.getsource(function)).groups()
    assert key in documented
    assert function() == cuda.memory_stats().get(key, int(default))
    print(f"{name:24s}{key:30s}{default:9s}{function()}")
summary = answer(lambda: type(cuda.memory_summary()).__name__)
print(f"memory_summary(), which gives no default: {summary}")

started = answer(cuda.init)
absent = set(documented) - set(cuda.memory_stats())
print(f"torch.cuda.init(): {started}; documented keys absent after it: {len(absent)}")
accelerator = getattr(torch, "accelerator", None)
print(f"accelerator.current_accelerator(): {answer(lambda: accelerator.current_accelerator())}")
print(f"accelerator.memory_allocated(): {answer(lambda: accelerator.memory_allocated())}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "The keys behind memory_allocated()"
# upstream = ["torch.cuda.memory_stats", "torch.cuda.memory_allocated", "torch.cuda.memory_summary"]
#
# [tool.capture.values]
# keys_before = 'first CUDA call: (\d+)'
# family_keys = '^allocated_bytes +(\d+)'
# documented = 'keys in all: (\d+)'
# key = '^memory_allocated +(\S+)'
# default = '^memory_allocated +\S+ +(\d+)'
# allocated = '^memory_allocated +\S+ +\d+ +(\d+)'
# summary = 'no default: (\w+)'
# init = 'init\(\): (\w+);'
# absent = 'absent after it: (\d+)'
# accelerator = 'current_accelerator\(\): (\S+)'
# accelerator_allocated = 'accelerator\.memory_allocated\(\): (\S+)'
#
# [tool.capture.claims.empty-until-started]
# says  = "memory_stats() has no keys before the first CUDA call, with or without a device"
# holds = "keys_before == 0"
#
# [tool.capture.claims.the-zero-is-a-default]
# says  = "without a device every documented key is absent, and memory_allocated() is its default"
# holds = "absent == documented and allocated == default"
# where = "not gate.cuda and not gate.rocm"
#
# [tool.capture.claims.the-summary-refuses]
# says  = "memory_summary() raises KeyError where memory_allocated() says 0"
# holds = 'summary == "KeyError" and allocated == 0'
# where = "not gate.cuda and not gate.rocm"
#
# [tool.capture.claims.named-not-checked]
# says  = "a CUDA build without a device still names cuda as its accelerator, holding 0 bytes"
# holds = 'accelerator == "cuda" and accelerator_allocated == 0'
# where = 'build == "cuda" and not gate.cuda and torch >= "2.14"'
# ///
