"""A CUDA GradScaler is inert on a host without CUDA; a CPU GradScaler scales, skips and regrows."""

import math
import warnings

import torch

cuda = torch.cuda.is_available()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    scaler = torch.amp.GradScaler("cuda")
weight = torch.ones(4, device="cuda" if cuda else "cpu", requires_grad=True)
rows = torch.ones(2, 4, device=weight.device)
scaler.scale((rows * weight).sum()).backward()  # unscaled, each gradient is 2.0

print(f"cuda available {cuda}")
print('GradScaler("cuda")')
print(f"  enabled   {scaler.is_enabled()}")
print(f"  scale     {scaler.get_scale()}")
print(f"  gradient  {weight.grad.tolist()}")
print(f"  warnings  {len(caught)}")
for warning in caught:
    first_words = str(warning.message).split()[:8]
    print(f"    {warning.category.__name__}\n    {' '.join(first_words)}")

scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
true_gradients = [1.0, 1.0, math.inf, 1.0, 1.0]
skipped = 0

print('GradScaler("cpu")')
print(f"  enabled   {scaler.is_enabled()}")
print("  gradient  scaled  weight  next scale")
for true_gradient in true_gradients:
    before = weight.item()
    optimizer.zero_grad()
    scaler.scale((weight * true_gradient).sum()).backward()
    scaled = weight.grad.item()
    scaler.step(optimizer)  # divides by the scale, or skips the step
    scaler.update()
    skipped += weight.item() == before
    print(f"{true_gradient:10.1f}{scaled:8.0f}{weight.item():8.1f}{scaler.get_scale():12.0f}")
# SGD without a scaler, fed the finite gradients alone, ends at the same weight.
assert weight.item() == -sum(filter(math.isfinite, true_gradients))
print(f"  skipped   {skipped} of {len(true_gradients)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.3"]
#
# [tool.capture]
# title = "An inert CUDA scaler and a live CPU scaler"
# upstream = ["torch.amp.GradScaler"]
#
# [tool.capture.values]
# cuda_available = '^cuda available (\w+)'
# cuda_enabled = 'GradScaler\("cuda"\)\n  enabled +(\w+)'
# cuda_scale = '^  scale +([\d.]+)'
# cuda_gradient = '^  gradient +\[([\d.]+)'
# warnings = '^  warnings +(\d+)'
# cpu_enabled = 'GradScaler\("cpu"\)\n  enabled +(\w+)'
# steps = '^  skipped +\d+ of (\d+)'
# skipped = '^  skipped +(\d+)'
# scale_after_inf = '^ +inf +inf +\S+ +(\d+)'
# scale_at_end = '(\d+)\n  skipped'
#
# [tool.capture.claims.cuda-scaler-inert]
# says = "without CUDA the scaler is disabled and gradients arrive unscaled, with one warning"
# holds = 'cuda_enabled == "False" and cuda_scale == 1 and cuda_gradient == 2 and warnings == 1'
# where = "not gate.cuda and not gate.rocm and not gate.xla"
#
# [tool.capture.claims.cuda-scaler-scales]
# says = "with CUDA the same scaler multiplies every gradient"
# holds = 'cuda_enabled == "True" and cuda_gradient == 2 * cuda_scale'
# where = "gate.cuda"
#
# [tool.capture.claims.cpu-scaler-alive]
# says = "the CPU scaler skips the step with inf, halves its scale and doubles it again"
# holds = 'cpu_enabled == "True" and skipped == 1 and scale_at_end == 2 * scale_after_inf'
# ///
