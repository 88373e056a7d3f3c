"""8 MiB free in two pieces refuses an 8 MiB request, and the totals of the viewer hide why."""

import re

import torch
from torch.cuda import _memory_viz as viewer

MIB = 2**20
BASE = 0x7F0000000000


def snapshot(layout):
    """Build by hand what torch.cuda.memory._snapshot() returns, with one segment."""
    blocks, address = [], BASE
    for line, (state, mib) in enumerate(layout, start=10):
        frame = {"filename": "train.py", "line": line, "name": "step"}
        size = mib * MIB
        block = {"size": size, "requested_size": size, "address": address, "state": state}
        blocks.append({**block, "frames": [frame]})
        address += size
    used = sum(block["size"] for block in blocks if block["state"] != "inactive")
    segment = {"device": 0, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0)}
    segment |= {"address": BASE, "total_size": address - BASE, "blocks": blocks, "frames": []}
    segment |= {"allocated_size": used, "active_size": used, "requested_size": used}
    return {"segments": [segment], "device_traces": [], "allocator_settings": {}}


def totals(snap):
    return re.findall(r"total_\w+: ([\d.]+\w+)", viewer.segsum(snap))


def free_pieces(snap):
    """One line a block, as the viewer hands them to its flame graph."""
    stacks = viewer.memory(snap, format_flamegraph=str)
    return [int(size) // MIB for size in re.findall(r";inactive;.* (\d+)", stacks)]


use, free = "active_allocated", "inactive"
apart = snapshot([(use, 8), (free, 4), (use, 4), (free, 4)])
together = snapshot([(use, 8), (use, 4), (free, 8)])
refusal = {"action": "oom", "size": 8 * MIB, "device_free": 0, "stream": 0, "frames": []}
apart["device_traces"] = [[refusal]]
assert totals(apart) == totals(together)

print(f"cuda available {torch.cuda.is_available()}: both snapshots below are made by hand")
heading = f"{'free memory':14s}{'reserved':10s}{'allocated':11s}{'free':9s}"
print(f"{heading}pieces  largest  8 MiB request")
for name, snap in {"in two pieces": apart, "in one piece": together}.items():
    reserved, allocated, unused = totals(snap)
    pieces = free_pieces(snap)
    verdict = "fits" if max(pieces) >= 8 else "refused"
    row = f"{name:14s}{reserved:10s}{allocated:11s}{unused:9s}"
    print(f"{row}{len(pieces):6d}{max(pieces):5d} MiB  {verdict}")
print(f"the trace of the refusal: {re.search('raise .*', viewer.trace(apart)).group()}")
print(f"the trace page loads a script from the network: {'https://' in viewer.trace_plot(apart)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Fragmentation, shown by the snapshot viewer without a GPU"
#
# [tool.capture.values]
# reserved = '^in two pieces +([\d.]+)MiB'
# allocated = '^in two pieces +\S+ +([\d.]+)MiB'
# free = '^in two pieces +\S+ +\S+ +([\d.]+)MiB'
# pieces_apart = '^in two pieces.*MiB +(\d+) +\d+ MiB'
# largest_apart = '^in two pieces.* (\d+) MiB'
# largest_together = '^in one piece.* (\d+) MiB'
# trace = 'trace of the refusal: (.+)'
# network = 'from the network: (\w+)'
#
# [tool.capture.claims.free-is-not-one-piece]
# says  = "the free total covers the 8 MiB request, and the largest free piece does not"
# holds = "free >= 8 and largest_apart < 8"
#
# [tool.capture.claims.equal-totals]
# says  = "two layouts with the same totals differ in their largest free piece"
# holds = "largest_apart < largest_together"
# ///
