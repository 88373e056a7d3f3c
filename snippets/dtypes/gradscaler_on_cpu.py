"""A scale saves the gradients that float16 loses, up to a limit; shown by a GradScaler on a CPU."""

import torch

# The true gradients, from 2^-4 down: float16 reaches 2^-24, and no further.
true = 2.0 ** -torch.arange(4.0, 36.0, 4.0)


def step(dtype, scale):
    """One SGD step of length 1 through a layer that computes in dtype."""
    weight = torch.zeros_like(true, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale or 1.0, enabled=scale is not None)
    # The gradient passes through dtype on its way from the loss to the float32 weight.
    loss = (weight.to(dtype).float() * true).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return -weight.detach(), scaler.get_scale()


print(f"cuda available {torch.cuda.is_available()}; every scaler here is a CPU scaler")
print(f"{len(true)} true gradients, 2^-4 to 2^-32; arrived is what the step applied")
cases = {
    "float32": (torch.float32, None),
    "float16": (torch.float16, None),
    "float16, 2^8": (torch.float16, 2.0**8),
    "float16, 2^16": (torch.float16, 2.0**16),
    "float16, 2^24": (torch.float16, 2.0**24),
    "bfloat16": (torch.bfloat16, None),
}
for name, (dtype, scale) in cases.items():
    applied, next_scale = step(dtype, scale)
    arrived = int((applied == true).sum())
    after = f"scale falls to 2^{torch.tensor(next_scale).log2():.0f}"
    note = "step skipped, " + after if arrived == 0 else ""
    print(f"{name:15s}arrived {arrived} of {len(true)}  {note}".rstrip())

# Clipping looks at gradients as they are: scaled, unless unscale_ was called before.
weight = torch.nn.Parameter(torch.zeros(4))
optimizer = torch.optim.SGD([weight], lr=1.0)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for unscaled in (False, True):
    optimizer.zero_grad()
    scaler.scale((weight * 0.25).sum()).backward()  # the true norm is 0.5
    if unscaled:
        scaler.unscale_(optimizer)
    norm = torch.nn.utils.clip_grad_norm_([weight], max_norm=1.0).item()
    before = weight.detach().clone()
    scaler.step(optimizer)
    scaler.update()
    moved = (weight.detach() - before).norm().item()
    print(f"clip to 1, unscale_ before {unscaled!s:6s}norm seen {norm:6.1f}  moved {moved:.5f}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.3"]
#
# [tool.capture]
# title = "Gradients that arrive, by scale"
# upstream = ["torch.amp.GradScaler", "torch.nn.utils.clip_grad_norm_"]
#
# [tool.capture.values]
# gradients = '^(\d+) true gradients'
# float16 = '^float16 +arrived (\d+)'
# float16_scaled = '^float16, 2\^16 +arrived (\d+)'
# float16_too_far = '^float16, 2\^24 +arrived (\d+)'
# falls_to = 'scale falls to 2\^(\d+)'
# bfloat16 = '^bfloat16 +arrived (\d+)'
# norm_scaled = 'before False +norm seen +([\d.]+)'
# moved_scaled = 'before False .*moved ([\d.]+)'
# norm_unscaled = 'before True +norm seen +([\d.]+)'
# moved_unscaled = 'before True .*moved ([\d.]+)'
#
# [tool.capture.claims.the-scale-saves-them]
# says  = "float16 loses small gradients; with the default scale all of them arrive"
# holds = "float16 < gradients and float16_scaled == gradients"
#
# [tool.capture.claims.too-much-skips]
# says  = "with too large a scale the step is skipped and nothing arrives"
# holds = "float16_too_far == 0"
#
# [tool.capture.claims.bfloat16-needs-none]
# says  = "in bfloat16 all of them arrive without a scaler"
# holds = "bfloat16 == gradients"
#
# [tool.capture.claims.unscale-before-clipping]
# says  = "clipping without unscale_ sees a norm 1024 times too large and all but stops the step"
# holds = "norm_scaled == 1024 * norm_unscaled and moved_scaled * 100 < moved_unscaled"
# ///
