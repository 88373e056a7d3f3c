"""Checkpointing holds fewer bytes for backward and pays with forwards, which can be counted."""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

BLOCKS, WIDTH, INNER = 4, 128, 512
torch.manual_seed(0)
parts = [(nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH)) for _ in range(BLOCKS)]
blocks = nn.ModuleList(nn.Sequential(*part) for part in parts)
rows = torch.randn(64, WIDTH)


class LinearCounter(TorchDispatchMode):
    """Counts the Linear kernels that run; the products of backward have another name."""

    count = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        self.count += operator is torch.ops.aten.addmm.default
        return operator(*args, **(kwargs or {}))


def step(run_block):
    """KiB held for backward, Linears run before it and in all, and the gradients."""
    parameters = {weight.untyped_storage().data_ptr() for weight in blocks.parameters()}
    held = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            held[storage.data_ptr()] = storage.nbytes()
        return tensor

    blocks.zero_grad()
    out = rows
    with LinearCounter() as linears:
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            for block in blocks:
                out = run_block(block, out)
        in_forward = linears.count
        out.sum().backward()
    gradients = [weight.grad.clone() for weight in blocks.parameters()]
    return sum(held.values()) // 1024, in_forward, linears.count, gradients


def checkpointed(block, inputs):
    return checkpoint(block, inputs, use_reentrant=False)


plain, early = step(lambda block, inputs: block(inputs)), step(checkpointed)
with set_checkpoint_early_stop(False):
    late = step(checkpointed)
print(f"{BLOCKS} blocks of Linear, GELU, Linear; Linears run in forward, and after backward")
for name, result in {"plain": plain, "checkpoint": early, "no early stop": late}.items():
    kib, in_forward, in_all, gradients = result
    torch.testing.assert_close(gradients, plain[-1])
    print(f"{name:15s}held {kib:5d} KiB   Linears {in_forward:2d} then {in_all:2d}")
print(f"plain holds {plain[0] / early[0]:.1f}x as much; the gradients agree")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What checkpointing holds and what it runs again"
# upstream = ["torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.set_checkpoint_early_stop"]
#
# [tool.capture.values]
# blocks = '^(\d+) blocks'
# plain_kib = '^plain +held +(\d+)'
# kib = '^checkpoint +held +(\d+)'
# late_kib = '^no early stop +held +(\d+)'
# forward = '^plain .*Linears +(\d+) then'
# plain_all = '^plain .*then +(\d+)'
# checkpoint_all = '^checkpoint .*then +(\d+)'
# late_all = '^no early stop .*then +(\d+)'
# ratio = 'plain holds ([\d.]+)x'
#
# [tool.capture.claims.holds-less]
# says  = "with a checkpoint around each block, forward holds less than a quarter of the bytes"
# holds = "kib * 4 < plain_kib"
#
# [tool.capture.claims.not-all-runs-again]
# says  = "each block's first Linear runs a second time; its last one only without early stop"
# holds = "plain_all == forward and checkpoint_all == forward + blocks and late_all == 2 * forward"
# ///
