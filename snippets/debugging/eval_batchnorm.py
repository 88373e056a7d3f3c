"""Prove that a batch norm left in train mode changes its buffers as well as its outputs."""

import torch
from torch import nn

torch.manual_seed(0)
sample = torch.randn(1, 4)
first = torch.cat([sample, torch.randn(7, 4)])
second = torch.cat([sample, torch.randn(7, 4) + 5])
start = nn.BatchNorm1d(4).state_dict()


def observe(mode):
    """Validate on two batches that share one sample; what moved?"""
    norm = nn.BatchNorm1d(4)
    norm.load_state_dict(start)
    norm.train(mode == "train")
    with torch.no_grad():
        in_first = norm(first)[0]
        in_second = norm(second)[0]
    moved = [name for name, buffer in norm.named_buffers() if not torch.equal(buffer, start[name])]
    try:
        norm(sample)
        alone = "works"
    except ValueError:
        alone = "raises ValueError"
    return {
        "same sample, largest change": f"{(in_first - in_second).abs().max():.3f}",
        "buffers changed": f"{len(moved)} of {len(list(norm.buffers()))}",
        "running_mean, largest": f"{norm.running_mean.abs().max():.3f}",
        "a batch of one": alone,
    }


columns = {mode: observe(mode) for mode in ("train", "eval")}
print(f"{'under no_grad':<30}{'train':<20}eval")
for row, value in columns["train"].items():
    print(f"{row:<30}{value:<20}{columns['eval'][row]}")

# In eval mode the output is plain arithmetic on the buffers.
norm = nn.BatchNorm1d(4).eval()
with torch.no_grad():
    by_hand = (first - norm.running_mean) / (norm.running_var + norm.eps).sqrt()
    assert torch.allclose(norm(first), by_hand)
print("eval output equals (x - running_mean) / sqrt(running_var + eps)")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Batch norm without eval()"
#
# [tool.capture.values]
# train_change = '^same sample, largest change +([\d.]+)'
# eval_change = '^same sample, largest change +[\d.]+ +([\d.]+)'
# train_buffers = '^buffers changed +(\d+) of'
# eval_buffers = '^buffers changed +\d+ of \d+ +(\d+) of'
# buffers = '^buffers changed +\d+ of (\d+)'
# train_mean = '^running_mean, largest +([\d.]+)'
# eval_mean = '^running_mean, largest +[\d.]+ +([\d.]+)'
# train_alone = '^a batch of one +(\w+)'
#
# [tool.capture.claims.train-moves-buffers]
# says = "under no_grad, a pass in train mode changes every buffer, one in eval mode none"
# holds = "train_buffers == buffers and eval_buffers == 0"
#
# [tool.capture.claims.train-mixes-samples]
# says = "in train mode a sample's output depends on its batch, in eval mode it does not"
# holds = "train_change > 0.1 and eval_change == 0"
# ///
