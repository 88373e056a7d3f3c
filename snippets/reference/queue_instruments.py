"""Without a device most backends refuse a stream or an event; the CPU answers and times nothing."""

import sys
import warnings

import torch

sys.unraisablehook = lambda _: None  # a half-made mps.Event complains when it is collected
BACKENDS = ("cuda", "mps", "xpu", "xla", "cpu", "accelerator")


def timed(module):
    start, end = module.Event(enable_timing=True), module.Event(enable_timing=True)
    start.record()
    end.record()
    module.synchronize()
    return start.elapsed_time(end)


QUESTIONS = {
    "available": lambda module: module.is_available(),
    "synchronize": lambda module: module.synchronize(),
    "Stream": lambda module: module.Stream(),
    "current stream": lambda module: module.current_stream(),
    "Event": lambda module: module.Event(),
    "query, unused": lambda module: module.Event().query(),
    "record": lambda module: module.Event().record(),
    "elapsed time": timed,
}
GENERIC = {
    "torch.Stream": lambda backend: torch.Stream(backend),
    "torch.Event": lambda backend: torch.Event(backend),
}


def cell(call, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call(*arguments)
        except AttributeError as error:
            # The module has no such name; torch's own refusals are other exceptions.
            return "absent" if "has no attribute" in str(error) else "raises"
        except Exception:
            return "raises"
    if caught:
        return "warns"
    return str(answer) if answer is None or isinstance(answer, bool) else "answers"


print(f"{'question':16}" + "".join(f"{backend:10}" for backend in BACKENDS).rstrip())
for question, call in QUESTIONS.items():
    cells = [cell(call, getattr(torch, backend, None)) for backend in BACKENDS]
    print(f"{question:16}" + "".join(f"{item:10}" for item in cells).rstrip())
for question, call in GENERIC.items():
    cells = [cell(call, backend) for backend in BACKENDS[:-1]]
    print(f"{question:16}" + "".join(f"{item:10}" for item in cells).rstrip())

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Streams, events and synchronize by backend"
#
# [tool.capture.values]
# synchronize_cuda = '^synchronize +(\S+)'
# synchronize_mps = '^synchronize +(?:\S+ +){1}(\S+)'
# synchronize_xpu = '^synchronize +(?:\S+ +){2}(\S+)'
# synchronize_xla = '^synchronize +(?:\S+ +){3}(\S+)'
# synchronize_cpu = '^synchronize +(?:\S+ +){4}(\S+)'
# synchronize_accelerator = '^synchronize +(?:\S+ +){5}(\S+)'
# stream_cuda = '^Stream +(\S+)'
# stream_mps = '^Stream +(?:\S+ +){1}(\S+)'
# stream_xpu = '^Stream +(?:\S+ +){2}(\S+)'
# stream_xla = '^Stream +(?:\S+ +){3}(\S+)'
# stream_cpu = '^Stream +(?:\S+ +){4}(\S+)'
# stream_accelerator = '^Stream +(?:\S+ +){5}(\S+)'
# event_cuda = '^Event +(\S+)'
# event_mps = '^Event +(?:\S+ +){1}(\S+)'
# event_xpu = '^Event +(?:\S+ +){2}(\S+)'
# event_xla = '^Event +(?:\S+ +){3}(\S+)'
# event_cpu = '^Event +(?:\S+ +){4}(\S+)'
# event_accelerator = '^Event +(?:\S+ +){5}(\S+)'
# query_cuda = '^query, unused +(\S+)'
# query_mps = '^query, unused +(?:\S+ +){1}(\S+)'
# query_xpu = '^query, unused +(?:\S+ +){2}(\S+)'
# query_xla = '^query, unused +(?:\S+ +){3}(\S+)'
# query_cpu = '^query, unused +(?:\S+ +){4}(\S+)'
# query_accelerator = '^query, unused +(?:\S+ +){5}(\S+)'
# elapsed_cuda = '^elapsed time +(\S+)'
# elapsed_mps = '^elapsed time +(?:\S+ +){1}(\S+)'
# elapsed_xpu = '^elapsed time +(?:\S+ +){2}(\S+)'
# elapsed_xla = '^elapsed time +(?:\S+ +){3}(\S+)'
# elapsed_cpu = '^elapsed time +(?:\S+ +){4}(\S+)'
# elapsed_accelerator = '^elapsed time +(?:\S+ +){5}(\S+)'
# generic_event_cuda = '^torch\.Event +(\S+)'
# generic_event_mps = '^torch\.Event +(?:\S+ +){1}(\S+)'
# generic_event_xpu = '^torch\.Event +(?:\S+ +){2}(\S+)'
# generic_event_xla = '^torch\.Event +(?:\S+ +){3}(\S+)'
# generic_event_cpu = '^torch\.Event +(?:\S+ +){4}(\S+)'
#
# [tool.capture.claims.synchronize-refuses]
# says  = "without a device synchronize refuses for cuda and mps, and returns None for cpu"
# holds = 'synchronize_cuda == "raises" and synchronize_mps == synchronize_cuda and synchronize_cpu == "None"'
# where = 'not gate.cuda and not gate.rocm and not gate.mps and not gate.xpu'
#
# [tool.capture.claims.cpu-event-keeps-no-time]
# says  = "a CPU event is always complete and cannot time"
# holds = 'query_cpu == "True" and elapsed_cpu == "raises"'
#
# [tool.capture.claims.unused-event-is-complete]
# says  = "on a CUDA build without a device an event exists, is complete, and still cannot time"
# holds = 'event_cuda == "answers" and query_cuda == "True" and elapsed_cuda == "raises"'
# where = 'build == "cuda" and not gate.cuda'
# ///
