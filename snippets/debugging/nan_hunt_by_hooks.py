"""Prove that forward hooks name the module that made the first NaN, not the one that shows it."""

import torch
from torch import nn


class Log(nn.Module):
    def forward(self, x):
        return torch.log(x)  # NaN for a negative input


torch.manual_seed(0)
model = nn.Sequential()
model.add_module("embed", nn.Linear(8, 16))
model.add_module("scale", nn.Sequential(nn.Linear(16, 16), Log()))
model.add_module("norm", nn.LayerNorm(16))
model.add_module("head", nn.Linear(16, 2))
batch = torch.randn(4, 8)
reports = []


def watch(name):
    def hook(module, inputs, output):
        before = all(bool(tensor.isfinite().all()) for tensor in inputs)
        after = bool(output.isfinite().all())
        reports.append((name, before, after))

    return hook


leaves = {name: module for name, module in model.named_modules() if not list(module.children())}
plain = model(batch)
handles = [module.register_forward_hook(watch(name)) for name, module in leaves.items()]
watched = model(batch)
for handle in handles:
    handle.remove()
assert torch.equal(plain.isnan(), watched.isnan())

print(f"{'module':<12}input     output")
for name, before, after in reports:
    print(f"{name:<12}{'finite' if before else 'NaN':<10}{'finite' if after else 'NaN'}")
culprits = [name for name, before, after in reports if before and not after]
bad = [name for name, _, after in reports if not after]
print(f"modules with a NaN output: {len(bad)} of {len(reports)}, the last is {bad[-1]}")
print(f"finite in, NaN out: {len(culprits)} module, {culprits[0]}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "A NaN hunt by forward hooks"
#
# [tool.capture.values]
# bad = '^modules with a NaN output: (\d+) of'
# modules = '^modules with a NaN output: \d+ of (\d+)'
# last = 'the last is (\S+)'
# culprits = '^finite in, NaN out: (\d+) module'
# culprit = '^finite in, NaN out: \d+ module, (\S+)'
#
# [tool.capture.claims.one-culprit]
# says = "several modules show a NaN, and exactly one makes it out of finite input"
# holds = "bad > 1 and culprits == 1 and culprit == 'scale.1'"
# ///
