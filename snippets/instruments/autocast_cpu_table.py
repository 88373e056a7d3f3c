"""Under bfloat16 autocast the CPU lowers few operations, raises few, and leaves the rest alone."""

import torch
import torch.nn.functional as F

torch.manual_seed(0)
weight = torch.randn(64, 64)
kernels = torch.randn(4, 3, 3, 3)
images = torch.randn(2, 3, 16, 16)
rows = torch.randn(8, 64)
low_rows = rows.bfloat16()  # what one layer inside the region hands to the next

operations = [
    ("matmul", rows, lambda x: x @ weight),
    ("linear", rows, lambda x: F.linear(x, weight)),
    ("conv2d", images, lambda x: F.conv2d(x, kernels)),
    ("relu", rows, torch.relu),
    ("relu", low_rows, torch.relu),
    ("sum", low_rows, torch.sum),
    ("softmax", low_rows, lambda x: torch.softmax(x, -1)),
    ("log_softmax", low_rows, lambda x: torch.log_softmax(x, -1)),
    ("layer_norm", low_rows, lambda x: F.layer_norm(x, (64,))),
    ("mse_loss", low_rows, lambda x: F.mse_loss(x, torch.ones_like(x))),
    ("prod", low_rows, lambda x: x.prod(0)),
]

changes = []
print(f"{'operation':13}{'input':10}result under autocast")
for name, given, operation in operations:
    plain = operation(given)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = operation(given)
    assert plain.dtype == given.dtype  # without autocast each result has its input's dtype
    assert torch.allclose(plain.float(), result.float(), rtol=0.05, atol=0.25)
    if result.dtype == given.dtype:
        change = "follows"
    elif result.dtype == torch.bfloat16:
        change = "lowered"
    else:
        change = "raised"
    changes.append(change)
    dtypes = [str(tensor.dtype).removeprefix("torch.") for tensor in (given, result)]
    print(f"{name:13}{dtypes[0]:10}{dtypes[1]:10}{change}")
for change in ("lowered", "raised", "follows"):
    print(f"{change:8}{changes.count(change):3} of {len(changes)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "The CPU autocast table"
# upstream = ["torch.autocast"]
#
# [tool.capture.values]
# lowered = '^lowered +(\d+)'
# raised = '^raised +(\d+)'
# follows = '^follows +(\d+)'
# operations = '^lowered +\d+ of (\d+)'
# matmul = '^matmul +\w+ +(\w+)'
# linear = '^linear +\w+ +(\w+)'
# conv2d = '^conv2d +\w+ +(\w+)'
# softmax = '^softmax +\w+ +(\w+)'
# log_softmax = '^log_softmax +\w+ +(\w+)'
# layer_norm = '^layer_norm +\w+ +(\w+)'
# mse_loss = '^mse_loss +\w+ +(\w+)'
# prod = '^prod +\w+ +(\w+)'
#
# [tool.capture.claims.products-lowered]
# says = "matmul, linear and conv2d run in bfloat16"
# holds = 'matmul == "bfloat16" and linear == "bfloat16" and conv2d == "bfloat16"'
#
# [tool.capture.claims.losses-raised]
# says = "mse_loss and prod are raised to float32"
# holds = 'mse_loss == "float32" and prod == "float32"'
#
# [tool.capture.claims.softmax-not-raised]
# says = "softmax, log_softmax and layer_norm stay in bfloat16 on the CPU"
# holds = 'softmax == "bfloat16" and log_softmax == "bfloat16" and layer_norm == "bfloat16"'
# ///
