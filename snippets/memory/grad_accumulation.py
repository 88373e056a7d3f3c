"""Accumulated gradients equal the big batch's only if each part is weighted by its row count."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
rows, targets = torch.randn(12, 8), torch.randn(12, 1)
linear = nn.Linear(8, 1)
normalised = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
whole = (slice(0, 12),)
even = (slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12))
uneven = (slice(0, 8), slice(8, 11), slice(11, 12))


def gradient(model, parts, weight):
    """One gradient vector, accumulated over the parts; each loss is a mean over its rows."""
    model = copy.deepcopy(model)
    for part in parts:
        loss = nn.functional.mse_loss(model(rows[part]), targets[part])
        (loss * weight(part.stop - part.start)).backward()
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


cases = {
    "3+3+3+3, loss as it is": (linear, even, lambda count: 1),
    "3+3+3+3, loss / 4": (linear, even, lambda count: 1 / 4),
    "8+3+1, loss / 3": (linear, uneven, lambda count: 1 / 3),
    "8+3+1, loss * rows / 12": (linear, uneven, lambda count: count / 12),
    "batch norm, 3+3+3+3, loss / 4": (normalised, even, lambda count: 1 / 4),
}
print(f"{len(rows)} rows; against one batch of all of them")
print(f"{'parts and weight':31s}{'equal':7s}{'length':8s}angle")
for name, (model, parts, weight) in cases.items():
    full = gradient(model, whole, lambda count: 1)
    accumulated = gradient(model, parts, weight)
    equal = torch.allclose(accumulated, full, atol=1e-6)
    length = accumulated.norm() / full.norm()
    cosine = nn.functional.cosine_similarity(accumulated.double(), full.double(), dim=0)
    angle = torch.rad2deg(torch.acos(cosine.clamp(-1, 1)))
    print(f"{name:31s}{equal!s:7s}{length:.2f}x  {angle:6.1f} degrees")

# What a big batch costs is memory: the parts need only the activations of the largest one.
largest = max(part.stop - part.start for part in uneven)
print(f"rows whose activations exist at once: {len(rows)} whole, {largest} in 8+3+1")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Parts of a batch against the whole"
#
# [tool.capture.values]
# rows = '^(\d+) rows'
# plain_length = 'loss as it is +\w+ +([\d.]+)x'
# even_equal = '^3\+3\+3\+3, loss / 4 +(\w+)'
# uneven_equal = '^8\+3\+1, loss / 3 +(\w+)'
# uneven_length = '^8\+3\+1, loss / 3 +\w+ +([\d.]+)x'
# uneven_angle = '^8\+3\+1, loss / 3 .*x +([\d.]+) degrees'
# weighted_equal = 'rows / 12 +(\w+)'
# norm_equal = '^batch norm.*loss / 4 +(\w+)'
# norm_angle = '^batch norm.*x +([\d.]+) degrees'
# at_once = 'at once: \d+ whole, (\d+)'
#
# [tool.capture.claims.equal-parts]
# says  = "equal parts give the big batch's gradient if each loss is divided by the number of parts"
# holds = 'even_equal == "True" and plain_length == 4'
#
# [tool.capture.claims.unequal-parts]
# says  = "for unequal parts dividing by their number turns the gradient; weighting by rows is exact"
# holds = 'uneven_equal == "False" and uneven_angle > 5 and weighted_equal == "True"'
#
# [tool.capture.claims.batch-norm]
# says  = "with batch norm in training mode, equal parts divided by their number turn the gradient"
# holds = 'norm_equal == "False" and norm_angle > 5'
# ///
