"""Prove that anomaly mode names the forward line whose backward made the first NaN."""

import re
import warnings

import torch


def loss_of(x):
    scaled = x * 3
    root = torch.sqrt(scaled)
    return (root * x).sum()


x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
loss = loss_of(x)
loss.backward()
print(f"loss {loss.item():.3f}, NaN gradients {int(x.grad.isnan().sum())} of 3")

# The error names the operation; the forward line comes as a warning, so keep the warnings.
with warnings.catch_warnings(record=True) as caught, torch.autograd.detect_anomaly():
    warnings.simplefilter("always")
    loss = loss_of(x)
    try:
        loss.backward()
        print("anomaly mode: no error")
    except RuntimeError as error:
        print("anomaly mode:", str(error).splitlines()[0])

text = "\n".join(str(warning.message) for warning in caught)
number, code = re.findall(r", line (\d+), in loss_of\n\s*(.+)", text)[-1]
print(f"the warning names line {number}: {code}")
assert int(number) == loss_of.__code__.co_firstlineno + 2

# The repair keeps the square root away from zero, where its slope is infinite.
x.grad = None
safe = torch.sqrt((x * 3).clamp_min(1e-12))
(safe * x).sum().backward()
print(f"clamped before the root: NaN gradients {int(x.grad.isnan().sum())} of 3")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Anomaly mode names the line"
#
# [tool.capture.values]
# loss = '^loss ([\d.]+),'
# nan_gradients = '^loss .*NaN gradients (\d+) of'
# operation = "^anomaly mode: Function '(\\w+)' returned nan"
# line = 'the warning names line (\d+):'
# code = 'the warning names line \d+: (.+)'
# clamped_nan = '^clamped .*NaN gradients (\d+) of'
#
# [tool.capture.claims.finite-loss-nan-gradient]
# says = "the loss is finite while a gradient is NaN, and a clamp before the root repairs it"
# holds = "loss > 0 and nan_gradients == 1 and clamped_nan == 0"
#
# [tool.capture.claims.names-the-square-root]
# says = "anomaly mode names the square root's backward and quotes its forward line"
# holds = "operation == 'SqrtBackward0' and code == 'root = torch.sqrt(scaled)'"
# ///
