"""Which memory recording calls refuse here, and which write a snapshot file about no device."""

import pickle
import tempfile
import textwrap
from pathlib import Path

import torch

memory = torch.cuda.memory


def ask(call):
    try:
        return "answers", call()
    except Exception as error:
        message = textwrap.shorten(str(error), 52, placeholder=" ...")
        return "refuses", f"{type(error).__name__}: {message}"


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "snapshot.pickle"
    calls = {
        "memory_snapshot()": lambda: f"{len(memory.memory_snapshot())} segments",
        "_snapshot()": lambda: f"{len(memory._snapshot()['segments'])} segments",
        "_dump_snapshot(file)": lambda: memory._dump_snapshot(path) or "writes the file",
        "get_allocator_backend()": memory.get_allocator_backend,
        "_record_memory_history()": memory._record_memory_history,
        "stop recording": lambda: memory._record_memory_history(enabled=None),
        "MemPool()": lambda: type(torch.cuda.MemPool()).__name__,
    }
    asked = {name: ask(call) for name, call in calls.items()}
    written = path.read_bytes() if path.exists() else b""
content = pickle.loads(written) if written else {}

print(f"cuda available {torch.cuda.is_available()}, built for CUDA {torch.version.cuda}")
for kind in ("answers", "refuses"):
    names = [name for name in calls if asked[name][0] == kind]
    print(f"{kind:8s}{len(names):2d} of {len(calls)}")
    for name in names:
        print(f"  {name:26s}{asked[name][1]}")
print(f"file on disk: {len(written)} bytes")
print(f"segments in the file: {len(content['segments']) if content else 'no file'}")
for key in content:
    print(f"key in the file: {key}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Recording memory where there is no device"
#
# [tool.capture.values]
# answers = '^answers +(\d+) of'
# refuses = '^refuses +(\d+) of'
# total = '^refuses +\d+ of (\d+)'
# record = '_record_memory_history\(\) +(.+)'
# record_type = '_record_memory_history\(\) +(\w+)'
# file_bytes = 'file on disk: (\d+) bytes'
# segments = 'segments in the file: (.+)'
# mem_pool = '^  MemPool\(\) +(.+)'
#
# [tool.capture.claims.cpu-build-refuses-all]
# says  = "a CPU build refuses every recording call and writes no file"
# holds = "refuses == total and file_bytes == 0"
# where = 'build == "cpu"'
#
# [tool.capture.claims.a-file-about-no-device]
# says  = "a CUDA build without a device writes a snapshot file with no segment in it"
# holds = "file_bytes > 0 and segments == 0"
# where = 'build == "cuda" and not gate.cuda'
#
# [tool.capture.claims.recording-needs-a-device]
# says  = "a CUDA build without a device refuses to start recording, with a RuntimeError"
# holds = 'record_type == "RuntimeError"'
# where = 'build == "cuda" and not gate.cuda'
# ///
