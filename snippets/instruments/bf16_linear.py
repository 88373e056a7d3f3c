"""Whether bfloat16 pays is decided by the chip: one Linear in float32, autocast and bfloat16."""

import copy
import statistics
import time

import torch

torch.set_num_threads(1)  # so that the ratio does not depend on how many cores are free
torch.manual_seed(0)
linear = torch.nn.Linear(512, 512)
rows = torch.randn(64, 512)
low_linear = copy.deepcopy(linear).bfloat16()
low_rows = rows.bfloat16()


def in_float32():
    return linear(rows)


def under_autocast():
    # One region a call, as in a forward pass: the weight is cast again each time.
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return linear(rows)


def cast_by_hand():
    return low_linear(low_rows)


def block_ms(function, calls=50):
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls * 1e3


ways = {"float32": in_float32, "autocast": under_autocast, "hand-cast": cast_by_hand}
blocks = {name: [] for name in ways}
with torch.no_grad():
    for way in ways.values():
        torch.testing.assert_close(way().float(), in_float32(), rtol=0.05, atol=0.05)
        block_ms(way)  # warm-up
    for _ in range(15):
        for name, way in ways.items():  # in turn, so that a slow moment hits all three
            blocks[name].append(block_ms(way))

medians = {name: statistics.median(times) for name, times in blocks.items()}
takes_bf16 = torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
print(f"ATen capability    {torch.backends.cpu.get_cpu_capability()}")
print(f"oneDNN takes bf16  {takes_bf16}")
print(f"threads            {torch.get_num_threads()}")
for name, median in medians.items():
    print(f"{name:10}{median:8.3f} ms")
for name in ("autocast", "hand-cast"):
    print(f"{name:9} / float32 {medians[name] / medians['float32']:7.2f}x")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Does bfloat16 pay on this chip"
# timing = true
# timeout = 120
# upstream = ["torch.autocast", "torch.nn.Linear"]
#
# [tool.capture.values]
# capability = '^ATen capability +(\S.*)'
# onednn_bf16 = '^oneDNN takes bf16 +(\w+)'
# threads = '^threads +(\d+)'
# float32_ms = '^float32 +([\d.]+) ms'
# autocast_ms = '^autocast +([\d.]+) ms'
# handcast_ms = '^hand-cast +([\d.]+) ms'
# autocast = '^autocast +/ float32 +([\d.]+)x'
# handcast = '^hand-cast +/ float32 +([\d.]+)x'
#
# [tool.capture.compare]
# ratio = { autocast = 2.0, handcast = 2.0 }
# spread = 1.25
# volatile = ['\d+\.\d+ ms']
#
# [tool.capture.claims.faster-with-bf16-arithmetic]
# says = "on AMD chips with bfloat16 arithmetic, autocast is faster than float32"
# holds = "autocast < 1"
# where = 'cpu.vendor == "AMD" and cpu.bf16'
#
# [tool.capture.claims.casting-costs]
# says = "where the chip has bfloat16 arithmetic, casting by hand once beats autocast, which casts in every call"
# holds = "handcast < autocast"
# where = 'arch == "x86_64" and cpu.bf16'
#
# [tool.capture.claims.slower-without]
# says = "where oneDNN declines bfloat16, autocast takes more than twice as long as float32"
# holds = 'onednn_bf16 == "True" or autocast > 2'
# where = 'arch == "x86_64" and cpu.isa == "AVX2" and not cpu.bf16'
# ///
