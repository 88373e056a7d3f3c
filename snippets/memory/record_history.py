"""A recorded history names the function that held memory at the peak, on a real device."""

from collections import Counter

import torch
from torch import nn

torch.manual_seed(0)
MIB, memory = 2**20, torch.cuda.memory
PHASES = ("build", "forward", "backward", "update")


def build():
    layers = [nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(4)]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return model, optimizer, torch.randn(4096, 1024, device="cuda")


def forward():
    return model(rows).square().mean()


def backward(loss):
    loss.backward()


def update():
    optimizer.step()
    optimizer.zero_grad()


def phase(entry):
    """The function above that is on the stack; other threads than Python's own have none."""
    return next((f["name"] for f in entry["frames"] if f["name"] in PHASES), "no frame")


print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
memory._record_memory_history(max_entries=100_000, stacks="python")
model, optimizer, rows = build()
for _ in range(2):
    backward(forward())
    update()
entries = memory._snapshot()["device_traces"][torch.cuda.current_device()]
memory._record_memory_history(enabled=None)
live, peak, unknown = {}, Counter(), 0
for entry in entries:
    if entry["action"] == "alloc":
        live[entry["addr"]] = phase(entry), entry["size"]
    elif entry["action"] == "free_completed":
        unknown += live.pop(entry["addr"], None) is None
    now = Counter()
    for name, size in live.values():
        now[name] += size / MIB
    peak = max(peak, now, key=Counter.total)
for moment, held in {"peak": peak, "end": now}.items():
    parts = [f"{name} {held[name]:.1f}" for name in (*PHASES, "no frame")]
    print(f"{moment:5s}{held.total():7.1f} MiB:  {'  '.join(parts)}")
counted = torch.cuda.memory_stats()["requested_bytes.all.peak"] / MIB
print(f"peak of requested_bytes {counted:.1f} MiB; frees of something unknown: {unknown}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Who held the memory at the peak, on a device"
# needs = ["cuda"]
#
# [tool.capture.values]
# peak_mib = '^peak +([\d.]+) MiB:'
# peak_forward_mib = '^peak .*forward ([\d.]+)'
# peak_no_frame_mib = '^peak .*no frame ([\d.]+)'
# end_mib = '^end +([\d.]+) MiB:'
# end_forward_mib = '^end .*forward ([\d.]+)'
# counted_mib = 'requested_bytes ([\d.]+) MiB'
# unknown = 'something unknown: (\d+)'
#
# [tool.capture.claims.replay-agrees-with-the-counter]
# says  = "the replayed history peaks within one MiB of the allocator's own peak"
# holds = "unknown == 0 and peak_mib < counted_mib + 1 and peak_mib > counted_mib - 1"
# where = "gate.cuda"
#
# [tool.capture.claims.forward-holds-the-peak]
# says  = "at the peak forward's activations outweigh what they leave at the end"
# holds = "peak_forward_mib > end_forward_mib"
# where = "gate.cuda"
# ///
