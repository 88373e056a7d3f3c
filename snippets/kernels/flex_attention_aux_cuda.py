"""On CUDA flex_attention returns lse and max_scores; the table shows what each costs in TFLOP/s."""

import math
import statistics

import torch
from torch.nn.attention.flex_attention import AuxRequest, flex_attention

torch.set_grad_enabled(False)  # with gradients on, the kernel writes lse whether asked or not
torch.manual_seed(0)
REQUESTS = {
    "none": AuxRequest(),
    "lse": AuxRequest(lse=True),
    "max": AuxRequest(max_scores=True),
    "both": AuxRequest(lse=True, max_scores=True),
}


def inputs(batch, heads, length, width):
    shape = (batch, heads, length, width)
    return [torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3)]


def median_ms(operands, aux, blocks=9, calls=10):
    times = []
    for block in range(blocks + 2):  # the first two blocks compile and warm up
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(calls):
            compiled(*operands, return_aux=aux)
        end.record()
        end.synchronize()
        if block >= 2:
            times.append(start.elapsed_time(end) / calls)
    return statistics.median(times)


# fullgraph: a refusal must raise, not fall back to the unfused path.
compiled = torch.compile(flex_attention, fullgraph=True, dynamic=False)
query, key, value = inputs(1, 4, 256, 64)
scores = query.float() @ key.float().mT / math.sqrt(64)
aux = compiled(query, key, value, return_aux=REQUESTS["both"])[1]
lse_error = (aux.lse - scores.logsumexp(dim=-1)).abs().max().item()
max_error = (aux.max_scores - scores.amax(dim=-1)).abs().max().item()
print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
print(f"largest error: lse {lse_error:.4f}, max_scores {max_error:.4f}")

print(f"{'batch heads length width':26}" + "".join(f"{name:>8}" for name in REQUESTS) + "  TFLOP/s")
for shape in ((8, 16, 1024, 64), (4, 16, 4096, 64), (4, 16, 4096, 128), (1, 16, 16384, 128)):
    torch.compiler.reset()  # one shape and request compile to one kernel; keep under the limit
    operands = inputs(*shape)
    batch, heads, length, width = shape
    work = 4 * batch * heads * length**2 * width  # two products, a multiply and an add each
    rates = (work / median_ms(operands, aux) / 1e9 for aux in REQUESTS.values())
    print(f"{shape!s:26}" + "".join(f"{rate:8.1f}" for rate in rates))

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "lse and max_scores on CUDA, and their price"
# needs = ["cuda", "compile"]
# timing = true
# timeout = 300
# upstream = ["torch.nn.attention.flex_attention.flex_attention"]
#
# [tool.capture.values]
# lse_error = '^largest error: lse ([\d.]+)'
# max_error = '^largest error: .* max_scores ([\d.]+)'
# plain_1024 = '^\(8, 16, 1024, 64\) +([\d.]+)'
# both_1024 = '^\(8, 16, 1024, 64\) +(?:[\d.]+ +){3}([\d.]+)'
# plain_4096 = '^\(4, 16, 4096, 64\) +([\d.]+)'
# both_4096 = '^\(4, 16, 4096, 64\) +(?:[\d.]+ +){3}([\d.]+)'
# plain_wide = '^\(4, 16, 4096, 128\) +([\d.]+)'
# both_wide = '^\(4, 16, 4096, 128\) +(?:[\d.]+ +){3}([\d.]+)'
# plain_16384 = '^\(1, 16, 16384, 128\) +([\d.]+)'
# both_16384 = '^\(1, 16, 16384, 128\) +(?:[\d.]+ +){3}([\d.]+)'
#
# [tool.capture.compare]
# ratio = { plain_4096 = 1.5, both_4096 = 1.5, plain_wide = 1.5, both_wide = 1.5 }
# spread = 1.25
# volatile = ['^\(\d.*', 'largest error.*']
#
# [tool.capture.claims.aux-is-exact]
# says  = "lse equals logsumexp and max_scores equals amax of the scores, within bfloat16 rounding"
# holds = "lse_error < 0.02 and max_error < 0.02"
# where = "gate.cuda"
#
# [tool.capture.claims.aux-is-nearly-free]
# says  = "both auxiliary outputs cost less than a tenth of the rate at length 4096"
# holds = "both_4096 > 0.9 * plain_4096"
# where = "gate.cuda"
# ///
