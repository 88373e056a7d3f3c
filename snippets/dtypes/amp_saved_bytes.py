"""What autocast can win, without a clock: products lowered, and bytes saved for backward."""

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

WIDTH, LAYERS = 256, 4


class ProductCounter(TorchDispatchMode):
    """Adds up multiplications of the matrix products that run, by dtype."""

    def __init__(self):
        super().__init__()
        self.by_dtype = {torch.float32: 0, torch.bfloat16: 0}

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        if operator in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
            left, right = args[-2:]
            self.by_dtype[left.dtype] += left.shape[0] * left.shape[1] * right.shape[1]
        return operator(*args, **(kwargs or {}))


def step(rows, low):
    """MiB saved for backward, percent of multiplications in bfloat16, and the gradients."""
    torch.manual_seed(0)
    layers = []
    for _ in range(LAYERS):
        layers += [nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU()]
    model = nn.Sequential(*layers)
    batch = torch.randn(rows, WIDTH)
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    saved = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor)
    with ProductCounter() as products:
        with hooks, torch.autocast("cpu", dtype=torch.bfloat16, enabled=low):
            loss = model(batch).float().square().mean()
        loss.backward()
    gradient = torch.cat([weight.grad.flatten() for weight in model.parameters()])
    assert gradient.dtype == torch.float32
    counted = products.by_dtype
    share = 100 * counted[torch.bfloat16] / sum(counted.values())
    return sum(saved.values()) / 2**20, share, gradient


print(f"cuda available {torch.cuda.is_available()}: counted on a CPU; weights stay float32")
for rows in (64, 2048):
    plain_mib, _, plain = step(rows, low=False)
    low_mib, share, low = step(rows, low=True)
    cosine = nn.functional.cosine_similarity(plain, low, dim=0).item()
    print(f"{rows} rows: float32 saves {plain_mib:.2f} MiB, autocast {low_mib:.2f} MiB")
    print(f"  autocast / float32 {low_mib / plain_mib:.2f}x, products in bfloat16 {share:.0f} %")
    print(f"  cosine of the gradients {cosine:.2f}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What autocast saves, counted"
# upstream = ["torch.autocast"]
#
# [tool.capture.values]
# small_float32_mib = '^64 rows: float32 saves ([\d.]+)'
# small_autocast_mib = '^64 rows: .*autocast ([\d.]+) MiB'
# small_ratio = '^64 rows: .*\n +autocast / float32 ([\d.]+)x'
# large_float32_mib = '^2048 rows: float32 saves ([\d.]+)'
# large_autocast_mib = '^2048 rows: .*autocast ([\d.]+) MiB'
# large_ratio = '^2048 rows: .*\n +autocast / float32 ([\d.]+)x'
# share = '^2048 rows: .*\n.*in bfloat16 (\d+) %'
# cosine = '^2048 rows: .*\n.*\n +cosine of the gradients ([\d.]+)'
#
# [tool.capture.claims.saves-where-rows-dominate]
# says  = "with 2048 rows autocast saves less than three quarters of the bytes for backward"
# holds = "large_ratio < 0.75"
#
# [tool.capture.claims.costs-where-weights-dominate]
# says  = "with 64 rows it saves more bytes than float32: the low copies of the weights count too"
# holds = "small_ratio > 1"
#
# [tool.capture.claims.every-product-is-lowered]
# says  = "every matrix product of forward and backward runs in bfloat16, and the gradients agree"
# holds = "share == 100 and cosine > 0.99"
# ///
