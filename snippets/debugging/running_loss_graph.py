"""Prove what a list of losses keeps alive: activations until backward frees them, graphs always."""

import weakref

import torch
from torch import nn

STEPS = 5
BATCH, WIDTH = 1024, 1024
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
batch = torch.randn(BATCH, 64)


def kept_alive(keep, backward):
    """MiB of activations still alive and number of graphs still held, after the steps."""
    storages = []

    def note(module, inputs, output):
        storages.append(weakref.ref(output.untyped_storage()))

    handle = model[1].register_forward_hook(note)
    kept = []
    for _ in range(STEPS):
        loss = model(batch).sum()
        if backward:
            loss.backward()
        kept.append(keep(loss))
        del loss  # otherwise the last step's graph lives on in this name
    handle.remove()
    held = sum(storage().nbytes() for storage in storages if storage() is not None)
    graphs = sum(torch.is_tensor(item) and item.grad_fn is not None for item in kept)
    return held / 2**20, graphs


print(f"one ReLU output is {BATCH * WIDTH * 4 / 2**20:.0f} MiB; {STEPS} steps")
for backward in (False, True):
    for label, keep in {
        "append(loss)": lambda loss: loss,
        "append(loss.detach())": lambda loss: loss.detach(),
        "append(loss.item())": lambda loss: loss.item(),
    }.items():
        held, graphs = kept_alive(keep, backward)
        when = "with backward" if backward else "no backward  "
        print(f"{when}  {label:<21}  activations {held:3.0f} MiB  graphs {graphs} of {STEPS}")

running = 0
for _ in range(STEPS):
    running = running + model(batch).sum()
chain = 0
node = running.grad_fn
while node is not None and node.name().startswith("Add"):
    chain += 1
    node = node.next_functions[0][0]
print(f"running = running + loss: a chain of {chain} Add nodes after {STEPS} steps")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What a list of losses keeps alive"
#
# [tool.capture.values]
# one_mib = 'one ReLU output is (\d+) MiB'
# steps = 'MiB; (\d+) steps'
# no_backward_mib = 'no backward +append\(loss\) +activations +(\d+) MiB'
# no_backward_graphs = 'no backward +append\(loss\) .*graphs (\d+) of'
# no_backward_item_mib = 'no backward +append\(loss\.item\(\)\) +activations +(\d+) MiB'
# with_backward_mib = 'with backward +append\(loss\) +activations +(\d+) MiB'
# with_backward_graphs = 'with backward +append\(loss\) .*graphs (\d+) of'
# item_graphs = 'with backward +append\(loss\.item\(\)\) .*graphs (\d+) of'
# chain = 'a chain of (\d+) Add'
#
# [tool.capture.claims.activations-before-backward]
# says = "without backward, a list of losses keeps the ReLU output of every step"
# holds = "no_backward_mib == steps * one_mib"
#
# [tool.capture.claims.graphs-after-backward]
# says = "with backward the activations are free, and every graph is still held"
# holds = "with_backward_mib == 0 and with_backward_graphs == steps"
#
# [tool.capture.claims.item-keeps-nothing]
# says = "append(loss.item()) keeps neither activations nor graphs"
# holds = "no_backward_item_mib == 0 and item_graphs == 0"
#
# [tool.capture.claims.running-sum-chains]
# says = "a running sum of losses grows by one graph node a step"
# holds = "chain == steps"
# ///
