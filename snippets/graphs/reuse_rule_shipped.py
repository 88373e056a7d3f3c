"""Which rule for reuse the installed torch contains shows in what its CUDA library calls."""

from pathlib import Path

import torch

names = {  # a name that the library must contain in order to do what stands beside it
    "free_safe_blocks_in_capture": "give blocks back during a capture",
    "cudaStreamGetCaptureInfo": "ask a stream for its terminals",
    "cudaGraphNodeGetDependencies": "walk from a node to those before it",
    "cudaGraphAddEmptyNode": "add an empty node to a graph",
    "cudaGraphAddNode": "add a node of any kind to a graph",
}
folder = Path(torch.__file__).parent / "lib"
libraries = [path for path in folder.iterdir() if "c10_cuda" in path.name]
content = b"".join(path.read_bytes() for path in libraries)
print(f"cuda available {torch.cuda.is_available()}, built for CUDA {torch.version.cuda}")
print(f"libraries of the CUDA allocator here: {len(libraries)}")
print(f"{'can it':40s}{'here':6s}by")
for name, purpose in names.items():
    here = "no" if libraries else "-"
    if name.encode() in content:
        here = "yes"
    print(f"{purpose:40s}{here:6s}{name}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.9"]
#
# [tool.capture]
# title = "The rule that is installed"
#
# [tool.capture.values]
# libraries = 'allocator here: (\d+)'
# reuse = '^give blocks back during a capture +(\S+)'
# terminals = '^ask a stream for its terminals +(\S+)'
# walk = '^walk from a node to those before it +(\S+)'
# empty_node = '^add an empty node to a graph +(\S+)'
# any_node = '^add a node of any kind to a graph +(\S+)'
#
# [tool.capture.claims.no-marker-nodes]
# says  = "the allocator walks the graph and adds no nodes to it"
# holds = 'walk == "yes" and empty_node == "no" and any_node == "no"'
# where = 'build == "cuda" and os == "linux" and torch >= "2.13"'
# ///
