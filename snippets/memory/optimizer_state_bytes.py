"""An optimizer's state can outweigh the model, and it first exists after the first step."""

import torch
from torch import nn

optim = torch.optim
ways = {
    "SGD": lambda p: optim.SGD(p, lr=0.1),
    "SGD, momentum 0.9": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    "RMSprop": lambda p: optim.RMSprop(p),
    "AdamW": lambda p: optim.AdamW(p),
    "AdamW, amsgrad": lambda p: optim.AdamW(p, amsgrad=True),
    "Adafactor": lambda p: optim.Adafactor(p),
}


def size(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def state_bytes(optimizer):
    entries = [value for state in optimizer.state.values() for value in state.values()]
    return size(filter(torch.is_tensor, entries))


def measure(make, dtype):
    """Bytes a parameter: of weights, of gradients, and of state before and after one step."""
    torch.manual_seed(0)
    model = nn.Linear(256, 256).to(dtype)
    optimizer = make(model.parameters())
    model(torch.randn(4, 256, dtype=dtype)).sum().backward()
    before = state_bytes(optimizer)
    optimizer.step()
    weights = size(model.parameters())
    gradients = size(parameter.grad for parameter in model.parameters())
    count = sum(parameter.numel() for parameter in model.parameters())
    return [total / count for total in (weights, gradients, before, state_bytes(optimizer))]


print("bytes a parameter of one Linear(256, 256); state before and after the first step")
print(f"{'optimizer':18s}{'dtype':9s}weights  gradients  before  after    all")
for name, make in ways.items():
    for dtype in (torch.float32, torch.bfloat16):
        weights, gradients, before, after = measure(make, dtype)
        row = f"{weights:7.3g}{gradients:11.3g}{before:8.3g}{after:7.2g}"
        total = weights + gradients + after
        print(f"{name:18s}{str(dtype).removeprefix('torch.'):9s}{row}{total:7.3g}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.5"]
#
# [tool.capture]
# title = "Bytes a parameter, by optimizer and dtype"
# upstream = ["torch.optim.AdamW", "torch.optim.SGD", "torch.optim.Adafactor"]
#
# [tool.capture.values]
# weights = '^AdamW +float32 +([\d.]+)'
# gradients = '^AdamW +float32 +\S+ +([\d.]+)'
# adamw_before = '^AdamW +float32 +\S+ +\S+ +([\d.]+)'
# adamw_state = '^AdamW +float32 +\S+ +\S+ +\S+ +([\d.]+)'
# adamw_all = '^AdamW +float32 .* ([\d.]+)$'
# adamw_low_state = '^AdamW +bfloat16 +\S+ +\S+ +\S+ +([\d.]+)'
# adamw_low_all = '^AdamW +bfloat16 .* ([\d.]+)$'
# sgd_state = '^SGD +float32 +\S+ +\S+ +\S+ +([\d.]+)'
# sgd_all = '^SGD +float32 .* ([\d.]+)$'
# momentum_state = '^SGD, momentum 0.9 +float32 +\S+ +\S+ +\S+ +([\d.]+)'
# amsgrad_state = '^AdamW, amsgrad +float32 +\S+ +\S+ +\S+ +([\d.]+)'
# adafactor_state = '^Adafactor +float32 +\S+ +\S+ +\S+ +([\d.]+)'
#
# [tool.capture.claims.born-in-the-first-step]
# says  = "AdamW's state does not exist before the first step and is twice the weights after it"
# holds = "adamw_before == 0 and adamw_state == 2 * weights"
#
# [tool.capture.claims.whole-copies]
# says  = "gradients are one copy of the weights, momentum is one more, amsgrad's state three"
# holds = "gradients == weights and momentum_state == weights and amsgrad_state == 3 * weights"
#
# [tool.capture.claims.state-follows-the-parameter]
# says  = "the state has the dtype of the parameter: half the bytes in bfloat16"
# holds = "adamw_low_state * 2 == adamw_state"
#
# [tool.capture.claims.factored-state-is-small]
# says  = "Adafactor's state for a matrix is less than a tenth of the weights"
# holds = "adafactor_state * 10 < weights"
# ///
