"""Prove by CUDA's own counter that a list of losses grows by one step's activations a step."""

import torch
from torch import nn

STEPS = 5
BATCH, WIDTH = 1024, 1024
print("cuda available", torch.cuda.is_available())
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1)).cuda()
batch = torch.randn(BATCH, 64, device="cuda")


def growth(keep, backward):
    """Bytes that memory_allocated gains per step."""
    kept = []
    readings = []
    for _ in range(STEPS):
        loss = model(batch).sum()
        if backward:
            loss.backward()
        kept.append(keep(loss))
        del loss  # otherwise the last step's graph lives on in this name
        readings.append(torch.cuda.memory_allocated())
    return (readings[-1] - readings[0]) / (STEPS - 1)


# One full step first: it allocates the gradients and the matmul library's workspace for good.
growth(lambda loss: loss.item(), backward=True)

print(f"one ReLU output is {BATCH * WIDTH * 4 / 2**20:.0f} MiB; {STEPS} steps")
for backward in (False, True):
    for label, keep in {
        "append(loss)": lambda loss: loss,
        "append(loss.detach())": lambda loss: loss.detach(),
        "append(loss.item())": lambda loss: loss.item(),
    }.items():
        per_step = growth(keep, backward)
        when = "with backward" if backward else "no backward  "
        mib = per_step / 2**20
        print(f"{when}  {label:<21}  grows {mib:5.2f} MiB a step, {per_step:.0f} bytes")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "A loss list that leaks on CUDA"
# needs = ["cuda"]
#
# [tool.capture.values]
# one_mib = 'one ReLU output is (\d+) MiB'
# no_backward_mib = 'no backward +append\(loss\) +grows +([\d.]+) MiB'
# no_backward_item_mib = 'no backward +append\(loss\.item\(\)\) +grows +([\d.]+) MiB'
# with_backward_bytes = 'with backward +append\(loss\) .*step, (\d+) bytes'
# with_backward_detach_bytes = 'with backward +append\(loss\.detach\(\)\) .*step, (\d+) bytes'
# with_backward_item_bytes = 'with backward +append\(loss\.item\(\)\) .*step, (\d+) bytes'
#
# [tool.capture.claims.leak-is-the-activations]
# says = "without backward, memory_allocated grows by at least one ReLU output a step"
# holds = "no_backward_mib >= one_mib and no_backward_item_mib == 0"
#
# [tool.capture.claims.backward-frees-activations]
# says = "with backward, append(loss) costs no more device memory than append(loss.detach())"
# holds = "with_backward_bytes == with_backward_detach_bytes and with_backward_item_bytes == 0"
# ///
