"""Prove that each of eight debugging steps leaves a message or a number to read, with no GPU."""

import textwrap

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


def attempt(label, action, *arguments):
    """Run one step; print what it returned, or its error as type and message."""
    try:
        outcome = action(*arguments)
        if torch.is_tensor(outcome):
            outcome = f"returned {tuple(outcome.shape)} {outcome.dtype} on {outcome.device}"
    except Exception as error:
        message = str(error).splitlines()[0].split(" Hint:")[0]
        outcome = f"{type(error).__name__}: {message}"
    print(textwrap.fill(f"{label}: {outcome}", 86, subsequent_indent="    "))


def gradient_after_write(weight, pick):
    hidden = weight.exp()  # exp keeps its output for backward
    pick(hidden).zero_()
    print("hidden is now", [round(value, 2) for value in hidden.tolist()])
    return torch.autograd.grad(hidden.sum(), weight)[0]


torch.manual_seed(0)
batch = torch.randn(4, 16)
print("cuda available", torch.cuda.is_available())

print("\n1. A shape error: the inner two numbers must be equal")
attempt("Linear(8, 2)", nn.Linear(8, 2), batch)
attempt("Linear(16, 2)", nn.Linear(16, 2), batch)

print("\n2. Trap: a list that keeps graphs")
model = nn.Sequential(nn.Linear(16, 32), nn.Dropout(0.5), nn.Linear(32, 1))
losses = [model(batch).mean() for _ in range(3)]
floats = [loss.item() for loss in losses]
print("append(loss)         keeps graphs:", sum(map(torch.is_tensor, losses)), "of 3")
print("append(loss.item())  keeps graphs:", sum(map(torch.is_tensor, floats)), "of 3")

print("\n3. Trap: a forgotten eval(), which no_grad does not replace")
with torch.no_grad():
    print("two train calls agree:", torch.equal(model(batch), model(batch)))
    model.eval()
    print("two eval calls agree: ", torch.equal(model(batch), model(batch)))

print("\n4. Trap: a view changed in place")
weight = torch.ones(3, requires_grad=True)
attempt("write to a view", gradient_after_write, weight, lambda hidden: hidden[:1])
attempt("write to a copy", gradient_after_write, weight, lambda hidden: hidden[:1].clone())

print("\n5. no_grad against inference_mode")
with torch.no_grad():
    plain = weight * 2
with torch.inference_mode():
    frozen = weight * 2
attempt("no_grad tensor * weight", torch.mul, plain, weight)
attempt("inference tensor + weight", torch.add, frozen, weight)
attempt("inference tensor * weight", torch.mul, frozen, weight)

print("\n6. autocast lowers results, not weights")
layer = nn.Linear(16, 2)
with torch.autocast("cpu", dtype=torch.bfloat16):
    lowered = layer(batch)
assert torch.allclose(lowered.float(), layer(batch), atol=0.05)
print("weight", layer.weight.dtype, " result", lowered.dtype)

print("\n7. The profiler's ranking, without its times")
square = torch.randn(2048, 2048)
with profile(activities=[ProfilerActivity.CPU]) as recorded:
    (square @ square).relu()
top = max(recorded.key_averages(), key=lambda event: event.self_cpu_time_total)
print("most self CPU time:", top.key)
attempt("top.self_cuda_time_total", getattr, top, "self_cuda_time_total")
attempt("top.self_device_time_total", getattr, top, "self_device_time_total")

print("\n8. The two other common errors: float64, and a device mismatch")
attempt("float64 input", layer, batch.double())  # a NumPy array is float64 by default
on_meta = batch.to("meta")  # meta stands in for a second device
for container in (list, nn.ModuleList):
    owner = nn.Module()
    owner.layers = container([nn.Linear(16, 2)])
    attempt(f"layer in a {container.__name__}", owner.to("meta").layers[0], on_meta)
for register in (setattr, nn.Module.register_buffer):
    owner = nn.Module()
    register(owner, "offset", torch.ones(16))
    attempt(f"offset by {register.__name__}", torch.add, on_meta, owner.to("meta").offset)

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "The debugging tour, every error included"
# env = { KINETO_LOG_LEVEL = "99" }
# preload = ["profiler"]
#
# [tool.capture.values]
# inner_left = '\(4x(\d+) and'
# inner_right = 'and (\d+)x2\)'
# graphs_loss = 'append\(loss\) +keeps graphs: (\d+)'
# graphs_item = 'append\(loss.item\(\)\) +keeps graphs: (\d+)'
# train_agree = 'two train calls agree: +(\w+)'
# eval_agree = 'two eval calls agree: +(\w+)'
# written_view = 'hidden is now (\[0.*\])'
# version_now = 'is at\s+version\s+(\d+)'
# version_saved = 'expected\s+version\s+(\d+)'
# inference_advice = 'cannot be saved for\s+backward\. (.+)'
# weight_dtype = 'weight torch\.(\w+)'
# result_dtype = 'result torch\.(\w+)'
# top_op = 'most self CPU time: (\S+)'
# old_name = 'top.self_cuda_time_total: (\w+)'
# new_name = 'top.self_device_time_total: (\w+)'
# double_error = '^float64 input: (\w+)'
# list_layer = '^layer in a list: (\w+)'
# module_list_layer = '^layer in a ModuleList: (\w+)'
# plain_offset = '^offset by setattr: (\w+)'
# buffer_offset = '^offset by register_buffer: (\w+)'
#
# [tool.capture.claims.list-keeps-graphs]
# says = "append(loss) keeps every graph and append(loss.item()) keeps none"
# holds = "graphs_loss == 3 and graphs_item == 0"
#
# [tool.capture.claims.no-grad-is-not-eval]
# says = "under no_grad, dropout still changes the output until eval() is called"
# holds = "train_agree == 'False' and eval_agree == 'True'"
#
# [tool.capture.claims.view-bumps-version]
# says = "a write to a view raises the version of the tensor that backward has saved"
# holds = "version_now == version_saved + 1"
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.device-time-renamed]
# says = "self_cuda_time_total is gone and self_device_time_total answers in its place"
# holds = "old_name == 'AttributeError' and new_name == 0"
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.matmul-first]
# says = "a 2048 by 2048 matmul ranks above relu of its result in self CPU time"
# holds = "top_op == 'aten::mm'"
# where = 'arch == "x86_64"'
#
# [tool.capture.claims.registration-moves]
# says = "a layer in a ModuleList and a registered buffer move with .to()"
# holds = "module_list_layer == 'returned' and buffer_offset == 'returned'"
#
# [tool.capture.claims.unregistered-stays]
# says = "a layer in a plain list and a plain tensor attribute stay behind, and the next use raises"
# holds = "list_layer == 'RuntimeError' and plain_offset == 'RuntimeError'"
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.device-time-not-yet-renamed]
# says = "in torch 2.2 self_cuda_time_total answers, and self_device_time_total does not exist"
# holds = "old_name == 0 and new_name == 'AttributeError'"
# where = 'torch >= "2.2" and torch < "2.3"'
# ///
