"""Channels-last is a stride order that layers pass on, until one of them drops it."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
LAST = torch.channels_last
plain = torch.randn(2, 8, 6, 6)
last = plain.to(memory_format=LAST)
conv = nn.Conv2d(8, 8, 3, padding=1)
conv_last = nn.Conv2d(8, 8, 3, padding=1).to(memory_format=LAST)
conv_last.load_state_dict(conv.state_dict())


def order(tensor):
    contiguous, channels_last = tensor.is_contiguous(), tensor.is_contiguous(memory_format=LAST)
    if contiguous and channels_last:
        return "both"
    return "contiguous" if contiguous else "channels last" if channels_last else "neither"


def refusal(function):
    try:
        return order(function())
    except RuntimeError:
        return "RuntimeError"


print(f"shape {tuple(plain.shape)}: contiguous strides {plain.stride()}")
print(f"shape {tuple(last.shape)}: channels last strides {last.stride()}")
torch.testing.assert_close(last, plain)
torch.testing.assert_close(conv(last), conv_last(plain))
with torch.inference_mode():
    for name, function in {
        "conv, input last": lambda: conv(last),
        "conv, weight last": lambda: conv_last(plain),
        "conv, neither": lambda: conv(plain),
        "max pool": lambda: F.max_pool2d(last, 2),
        "batch norm": lambda: F.batch_norm(last, torch.zeros(8), torch.ones(8)),
        "last + plain": lambda: last + plain,
        "plain + last": lambda: plain + last,
        "cat of last, plain": lambda: torch.cat([last, plain]),
        "flatten and back": lambda: last.reshape(2, 8, 36).reshape(2, 8, 6, 6),
        "view(2, -1)": lambda: last.view(2, -1),
        "layer norm": lambda: F.layer_norm(last, (6, 6)),
        "one channel": lambda: torch.randn(2, 1, 6, 6),
    }.items():
        print(f"{name:20}{refusal(function)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Which layers pass channels-last on"
#
# [tool.capture.values]
# plain_strides = 'contiguous strides (.+)'
# last_strides = 'channels last strides (.+)'
# conv_input = '^conv, input last +(\S.*)'
# conv_weight = '^conv, weight last +(\S.*)'
# add_last = '^last \+ plain +(\S.*)'
# add_plain = '^plain \+ last +(\S.*)'
# cat = '^cat of last, plain +(\S.*)'
# flatten = '^flatten and back +(\S.*)'
# view = '^view\(2, -1\) +(\S.*)'
# layer_norm = '^layer norm +(\S.*)'
# one_channel = '^one channel +(\S.*)'
#
# [tool.capture.claims.view-refuses]
# says  = "view refuses to flatten a channels-last tensor, and layer norm returns a contiguous one"
# holds = 'view == "RuntimeError" and layer_norm == "contiguous"'
#
# [tool.capture.claims.first-operand-decides]
# says  = "a sum of both orders has the order of its first operand"
# holds = 'add_last == "channels last" and add_plain == "contiguous"'
#
# [tool.capture.claims.either-side-of-a-convolution-is-enough]
# says  = "a convolution answers in channels-last if its input or its weight is"
# holds = 'conv_input == "channels last" and conv_weight == "channels last"'
# where = 'arch == "x86_64"'
# ///
