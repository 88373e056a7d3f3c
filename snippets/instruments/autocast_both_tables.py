"""The CUDA autocast table can be read without a GPU, and it is not the CPU's table."""

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

operations = [  # name in the dispatcher, and a call that makes its own inputs
    ("matmul", lambda make, low: make(8, 64) @ make(64, 64)),
    ("linear", lambda make, low: F.linear(make(8, 64), make(64, 64))),
    ("conv2d", lambda make, low: F.conv2d(make(2, 3, 16, 16), make(4, 3, 3, 3))),
    ("relu", lambda make, low: torch.relu(make(8, 64))),
    ("relu", lambda make, low: torch.relu(low)),
    ("sum", lambda make, low: low.sum()),
    ("softmax.int", lambda make, low: torch.softmax(low, -1)),
    ("log_softmax.int", lambda make, low: torch.log_softmax(low, -1)),
    ("layer_norm", lambda make, low: F.layer_norm(low, (64,))),
    ("mse_loss", lambda make, low: F.mse_loss(low, torch.ones_like(low))),
    ("prod", lambda make, low: low.prod()),
]


def dtypes_under_autocast(device):
    def make(*shape):
        return torch.ones(*shape, device=device)

    low = make(8, 64).bfloat16()
    # torch.autocast("cuda") switches itself off without CUDA; the flag behind it obeys.
    torch.set_autocast_dtype(device, torch.bfloat16)
    torch.set_autocast_enabled(device, True)
    try:
        return [str(call(make, low).dtype).removeprefix("torch.") for _, call in operations]
    finally:
        torch.set_autocast_enabled(device, False)
        torch.clear_autocast_cache()


def has_rule(name, key):
    return torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", key)


with FakeTensorMode():  # shapes and dtypes only: no kernel runs, no device is asked
    cpu = dtypes_under_autocast("cpu")
    cuda = dtypes_under_autocast("cuda")
assert cpu == dtypes_under_autocast("cpu")  # real tensors agree with fake ones
if torch.cuda.is_available():
    assert cuda == dtypes_under_autocast("cuda")

print(f"cuda available {torch.cuda.is_available()}")
print(f"{'operation':13}{'cpu':10}{'cuda':10}has a rule for")
differ = []
cuda_only = []
for (operation, _), on_cpu, on_cuda in zip(operations, cpu, cuda, strict=True):
    keys = [key for key in ("CPU", "CUDA") if has_rule(operation, f"Autocast{key}")]
    name = operation.removesuffix(".int")
    print(f"{name:13}{on_cpu:10}{on_cuda:10}{' '.join(keys) or '-'}")
    if on_cpu != on_cuda:
        differ.append(name)
    if keys == ["CUDA"]:
        cuda_only.append(name)
print(f"differ {len(differ)} of {len(operations)}\n  {' '.join(differ)}")
print(f"with a rule for CUDA only\n  {' '.join(cuda_only)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.4"]
#
# [tool.capture]
# title = "Both autocast tables, without a GPU"
# upstream = ["torch.autocast"]
#
# [tool.capture.values]
# cuda_available = '^cuda available (\w+)'
# differ_count = '^differ (\d+) of'
# operations = '^differ \d+ of (\d+)'
# differ = '^differ .*\n +(.+)'
# cuda_only = '^with a rule for CUDA only\n +(.+)'
# softmax_cpu = '^softmax +(\w+)'
# softmax_cuda = '^softmax +\w+ +(\w+)'
# layer_norm_cpu = '^layer_norm +(\w+)'
# layer_norm_cuda = '^layer_norm +\w+ +(\w+)'
#
# [tool.capture.claims.four-differ]
# says = "sum, softmax, log_softmax and layer_norm differ between the two tables, the rest agree"
# holds = 'differ == "sum softmax log_softmax layer_norm"'
#
# [tool.capture.claims.softmax-raised-on-cuda]
# says = "softmax and layer_norm are float32 by the CUDA table and bfloat16 by the CPU's"
# holds = 'softmax_cuda == "float32" and softmax_cpu == "bfloat16" and layer_norm_cuda == "float32"'
#
# [tool.capture.claims.rules-explain-it]
# says = "the operations that differ are those with a rule for CUDA and none for the CPU"
# holds = "differ == cuda_only"
# ///
