"""On a device, x's block comes back during a capture in exactly the cases that the model allows."""

import torch

SIZE = 8 << 20  # elements of float32: blocks of 32 MiB, each in a segment of its own


def capture(flag, steps):
    """Return how often a block was given out again, and the MiB that the capture reserved."""
    torch._C._accelerator_setAllocatorSettings(f"graph_capture_record_stream_reuse:{flag}")
    f, g, h = (torch.zeros(SIZE, device="cuda") for _ in range(3))
    s1, s2 = torch.cuda.Stream(), torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.empty_cache()
    reserved = torch.cuda.memory_reserved()
    addresses = []
    with torch.cuda.graph(graph, stream=s1):
        for step in steps:
            if step == "use x":
                x = torch.ones(SIZE, device="cuda")
                addresses.append(x.data_ptr())
                s2.wait_stream(s1)
                torch.add(x, 1, out=f)
                with torch.cuda.stream(s2):
                    torch.add(x, 2, out=g)
                x.record_stream(s2)
            elif step == "free x":
                del x
            elif step == "s1 waits s2":
                s1.wait_stream(s2)
            elif step == "s2 waits s1":
                s2.wait_stream(s1)
            else:
                with torch.cuda.stream(s1 if step == "s1 h" else s2):
                    h.add_(1)
        y = torch.full((SIZE,), 7.0, device="cuda")
        addresses.append(y.data_ptr())
        s1.wait_stream(s2)  # every stream has to come back before the capture ends
    grown = (torch.cuda.memory_reserved() - reserved) >> 20
    graph.replay()
    torch.cuda.synchronize()
    assert f.eq(2).all() and g.eq(3).all() and y.eq(7).all()  # reuse has spoilt nothing
    return len(addresses) - len(set(addresses)), grown


round_trip = ["use x", "free x", "s1 waits s2"]
cases = {"0 no join": ["use x", "free x"], "1 s1 waits for s2": round_trip}
cases |= {"2 s2 waits for s1": ["use x", "free x", "s2 waits s1"]}
cases |= {"3 both wait": [*round_trip, "s2 waits s1"]}
cases |= {"4 join, then free": ["use x", "s1 waits s2", "s1 h", "free x"]}
cases |= {"5 join, s2 goes on": ["use x", "s1 waits s2", "s2 h", "free x"]}
cases |= {"eight rounds of case 1": round_trip * 8}
print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
print(f"{'blocks reused, and MiB':26s}{'flag off':16s}flag on")
for name, steps in cases.items():
    (off, off_mib), (on, on_mib) = (capture(flag, steps) for flag in ("False", "True"))
    print(f"{name:24s}{off:4d}{off_mib:6d} MiB{on:4d}{on_mib:6d} MiB")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13"]
#
# [tool.capture]
# title = "Reuse during capture, on a device"
# needs = ["cuda"]
# upstream = ["torch.cuda.graph"]
#
# [tool.capture.values]
# case_0_on = '^0 .* +\d+ MiB +(\d+) +\d+ MiB$'
# case_1_on = '^1 .* +\d+ MiB +(\d+) +\d+ MiB$'
# case_2_on = '^2 .* +\d+ MiB +(\d+) +\d+ MiB$'
# case_3_on = '^3 .* +\d+ MiB +(\d+) +\d+ MiB$'
# case_4_on = '^4 .* +\d+ MiB +(\d+) +\d+ MiB$'
# case_5_on = '^5 .* +\d+ MiB +(\d+) +\d+ MiB$'
# rounds_off = '^eight rounds of case 1 +(\d+) +\d+ MiB'
# rounds_off_mib = '^eight rounds of case 1 +\d+ +(\d+) MiB'
# rounds_on = '^eight rounds of case 1 +\d+ +\d+ MiB +(\d+)'
# rounds_on_mib = '^eight rounds of case 1 +\d+ +\d+ MiB +\d+ +(\d+) MiB'
#
# [tool.capture.claims.the-model-is-right]
# says  = "with the flag on, cases 1, 3 and 4 reuse the block, and cases 0, 2 and 5 do not"
# holds = "case_1_on + case_3_on + case_4_on == 3 and case_0_on + case_2_on + case_5_on == 0"
# where = "gate.cuda"
#
# [tool.capture.claims.rounds-stop-growing]
# says  = "eight rounds reserve less with the flag on, and reuse nothing with it off"
# holds = "rounds_on_mib < rounds_off_mib and rounds_off == 0 and rounds_on > 0"
# where = "gate.cuda"
# ///
