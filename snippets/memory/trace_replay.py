"""A history names who held memory at its peak; the last moment and a short history do not."""

from collections import Counter

from torch.cuda import _memory_viz as viewer

MIB = 2**20


def history():
    """By hand, what _record_memory_history() would record of two training steps, in MiB."""
    yield "alloc", "weights", "build", 16
    for step in (1, 2):
        for layer in range(4):
            yield "alloc", f"activation {layer}", "forward", 12
        for layer in reversed(range(4)):
            yield "alloc", f"gradient {layer}", "backward", 4
            yield "free_completed", f"activation {layer}", "backward", 12
        if step == 1:
            yield "alloc", "momentum", "update", 16
        for layer in range(4):
            yield "free_completed", f"gradient {layer}", "update", 4


entries, addresses = [], {}
for action, tensor, function, mib in history():
    address = addresses.setdefault(tensor, 0x7F0000000000 + len(addresses) * 64 * MIB)
    frame = {"filename": "train.py", "line": 1, "name": function}
    entry = {"action": action, "addr": address, "size": mib * MIB, "stream": 0}
    entries.append({**entry, "frames": [frame]})
seen = viewer.trace({"segments": [], "device_traces": [entries]})
assert seen.count("MEM[") == sum(entry["action"] == "alloc" for entry in entries)


def replay(kept):
    """MiB by function at the peak and at the end, and frees of what was never allocated."""
    live, peak, unknown = {}, Counter(), 0
    for entry in kept:
        if entry["action"] == "alloc":
            live[entry["addr"]] = entry
        else:
            unknown += live.pop(entry["addr"], None) is None
        now = Counter()
        for block in live.values():
            now[block["frames"][0]["name"]] += block["size"] // MIB
        peak = max(peak, now, key=Counter.total)
    return peak, now, unknown


print("made by hand, no device was asked; MiB held by what each function allocated")
print(f"{'entries, moment':20s}total  build  forward  backward  update")
for name, kept in {"all": entries, "last 20": entries[-20:]}.items():
    peak, end, unknown = replay(kept)
    for moment, held in {"peak": peak, "end": end}.items():
        row = f"{held.total():5d}{held['build']:7d}{held['forward']:9d}{held['backward']:10d}"
        print(f"{name + ', ' + moment:20s}{row}{held['update']:8d}")
    print(f"{name} of {len(entries)}: frees of something never seen allocated: {unknown}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Replaying a history made by hand"
# upstream = ["torch.cuda._memory_viz.trace"]
#
# [tool.capture.values]
# peak_mib = '^all, peak +(\d+)'
# peak_forward = '^all, peak +\d+ +\d+ +(\d+)'
# end_mib = '^all, end +(\d+)'
# end_forward = '^all, end +\d+ +\d+ +(\d+)'
# entries = '^all of (\d+):'
# kept = '^last (\d+) of'
# short_peak_mib = '^last 20, peak +(\d+)'
# short_end_mib = '^last 20, end +(\d+)'
# unknown = '^all of .*allocated: (\d+)'
# short_unknown = '^last 20 of .*allocated: (\d+)'
#
# [tool.capture.claims.the-end-does-not-show-the-peak]
# says  = "forward holds most of the peak and nothing of what is left at the end"
# holds = "peak_forward * 2 > peak_mib and end_forward == 0 and end_mib < peak_mib"
#
# [tool.capture.claims.a-short-history-reads-low]
# says  = "a history that lost its start shows a lower peak, and frees of what it never saw allocated"
# holds = "short_peak_mib < peak_mib and unknown == 0 and short_unknown > 0"
# ///
