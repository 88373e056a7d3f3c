"""What a Function keeps on ctx, not saved, has no version check and may never be freed."""

import gc
import weakref

import torch
from torch.autograd import Function, grad, gradcheck


class Saves(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, upstream):
        return 2 * ctx.saved_tensors[0] * upstream


class Keeps(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x, ctx.y = x, x * x  # output -> node -> ctx -> output: a cycle
        return ctx.y

    @staticmethod
    def backward(ctx, upstream):
        return 2 * ctx.x * upstream


def after_a_change(function):
    leaf = torch.tensor(1.0, requires_grad=True)
    hidden = leaf * 3  # the derivative of (3 * leaf)**2 at 1 is 18
    result = function.apply(hidden)
    hidden.add_(1)
    try:
        return f"{grad(result, leaf)[0].item():.0f}"
    except RuntimeError as error:
        return type(error).__name__


def alive(function):
    output = weakref.ref(function.apply(torch.ones(3, requires_grad=True)))  # no name holds it
    at_once = output() is not None
    gc.collect()
    return f"{at_once} {output() is not None}"


gc.disable()  # so that only reference counts free, until collect() is called
point = torch.tensor([0.5, 2.0], dtype=torch.double, requires_grad=True)
print(f"{'':27}{'Saves':14}Keeps")
for name, test in (
    ("gradcheck passes", lambda function: str(gradcheck(function.apply, (point,)))),
    ("changed input, truth 18", after_a_change),
    ("alive, and once collected", alive),
):
    print(f"{name:27}{test(Saves):14}{test(Keeps)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "save_for_backward against attributes of ctx"
# upstream = ["torch.autograd.Function", "torch.autograd.gradcheck.gradcheck"]
#
# [tool.capture.values]
# check_saves = '^gradcheck passes +(\w+)'
# check_keeps = '^gradcheck passes +\w+ +(\w+)'
# saves = 'truth 18 +(\w+)'
# keeps = 'truth 18 +\w+ +(\w+)'
# truth = 'input, truth (\d+)'
# saves_alive = 'once collected +(\w+)'
# keeps_alive = 'once collected +\w+ \w+ +(\w+)'
# keeps_collected = 'once collected +\w+ \w+ +\w+ (\w+)'
#
# [tool.capture.claims.silently-wrong]
# says  = "after an in-place change, a saved input raises and a kept one gives a wrong gradient"
# holds = 'saves == "RuntimeError" and keeps != truth'
#
# [tool.capture.claims.kept-output-leaks]
# says  = "an output kept on ctx outlives its last name until the cycle collector runs, a saved one does not"
# holds = 'saves_alive == "False" and keeps_alive == "True" and keeps_collected == "False"'
#
# [tool.capture.claims.gradcheck-sees-neither]
# says  = "gradcheck passes both"
# holds = 'check_saves == "True" and check_keeps == "True"'
# ///
