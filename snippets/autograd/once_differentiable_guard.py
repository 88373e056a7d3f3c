"""once_differentiable raises only if a second backward reaches its node, else a term is lost."""

import torch
from torch.autograd import Function, grad
from torch.autograd.function import once_differentiable


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, upstream):
        return 3 * ctx.saved_tensors[0] ** 2 * upstream


class Guarded(Cube):
    backward = staticmethod(once_differentiable(Cube.backward))


def plain(cube, x):
    return cube(x) + x**2


def squared(cube, x):
    return cube(x) ** 2 + x**2


def second_derivative(function, formula, by_backward):
    x = torch.tensor(2.0, requires_grad=True)
    (first,) = grad(formula(function.apply, x), x, create_graph=True)
    try:
        if by_backward:
            first.backward()
            return f"{x.grad.item():.0f}"
        return f"{grad(first, x)[0].item():.0f}"
    except RuntimeError as error:
        return type(error).__name__


print(f"{'second derivative at 2':24}{'taken by':16}{'Cube':7}Guarded")
for name, formula in (("x^3 + x^2", plain), ("(x^3)^2 + x^2", squared)):
    for way, by_backward in (("autograd.grad", False), ("backward()", True)):
        answers = [second_derivative(kind, formula, by_backward) for kind in (Cube, Guarded)]
        print(f"{name:24}{way:16}{answers[0]:7}{answers[1]}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "When once_differentiable raises"
# upstream = ["torch.autograd.function.once_differentiable"]
#
# [tool.capture.values]
# truth = '^x\^3 \+ x\^2 +backward\(\) +(\d+)'
# plain_grad = '^x\^3 \+ x\^2 +autograd\.grad +\d+ +(\w+)'
# plain_backward = '^x\^3 \+ x\^2 +backward\(\) +\d+ +(\w+)'
# squared_truth = '^\(x\^3\)\^2 \+ x\^2 +autograd\.grad +(\d+)'
# squared_grad = '^\(x\^3\)\^2 \+ x\^2 +autograd\.grad +\d+ +(\w+)'
# squared_backward = '^\(x\^3\)\^2 \+ x\^2 +backward\(\) +\d+ +(\w+)'
#
# [tool.capture.claims.silent-behind-a-constant]
# says  = "behind a constant upstream gradient the guard is silent and the answer wrong, both ways"
# holds = "plain_grad != truth and plain_backward != truth"
#
# [tool.capture.claims.grad-passes-it-by]
# says  = "autograd.grad passes the guard by, backward() runs into it"
# holds = 'squared_grad != squared_truth and squared_grad == plain_grad and squared_backward == "RuntimeError"'
# ///
