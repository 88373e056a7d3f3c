"""gradcheck finds a wrong first derivative, gradgradcheck a wrong second, in float64 only."""

import warnings

import torch
from torch.autograd import Function, gradcheck, gradgradcheck


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, upstream):
        return 3 * ctx.saved_tensors[0] ** 2 * upstream


class WrongFactor(Cube):
    @staticmethod
    def backward(ctx, upstream):
        return 2 * ctx.saved_tensors[0] ** 2 * upstream


class Detaches(Cube):  # right once; its derivative has lost x
    @staticmethod
    def backward(ctx, upstream):
        return 3 * ctx.saved_tensors[0].detach() ** 2 * upstream


def second_derivative(function):
    x = torch.tensor(2.0, requires_grad=True)
    (first,) = torch.autograd.grad(function.apply(x) + x * x, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    return f"{second.item():.0f}"


def verdict(check, function, dtype):
    point = torch.tensor([0.5, 2.0], dtype=dtype, requires_grad=True)
    return "passes" if check(function.apply, (point,), raise_exception=False) else "fails"


torch.manual_seed(0)
print(f"cuda available {torch.cuda.is_available()}; d2(x^3 + x^2)/dx2 is 14 at 2")
print(f"{'Function':13}{'gradcheck':11}{'gradgradcheck':15}{'float32':9}second derivative")
for function in (Cube, WrongFactor, Detaches):
    first = verdict(gradcheck, function, torch.float64)
    second = verdict(gradgradcheck, function, torch.float64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        low = verdict(gradcheck, function, torch.float32)
    found = second_derivative(function)
    print(f"{function.__name__:13}{first:11}{second:15}{low:9}{found}")
print(f"in float32 gradcheck says: {caught[0].category.__name__}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What gradcheck and gradgradcheck catch"
# upstream = ["torch.autograd.gradcheck.gradcheck", "torch.autograd.gradcheck.gradgradcheck"]
#
# [tool.capture.values]
# truth = 'dx2 is (\d+) at'
# cube_first = '^Cube +(\w+)'
# cube_second = '^Cube +\w+ +(\w+)'
# cube_float32 = '^Cube +\w+ +\w+ +(\w+)'
# wrong_first = '^WrongFactor +(\w+)'
# detached_first = '^Detaches +(\w+)'
# detached_second = '^Detaches +\w+ +(\w+)'
# detached_answer = '^Detaches +\w+ +\w+ +\w+ +(\d+)'
# warning = 'gradcheck says: (\w+)'
#
# [tool.capture.claims.one-check-each]
# says  = "gradcheck fails the wrong factor and passes a detached backward, which gradgradcheck fails"
# holds = 'wrong_first == "fails" and detached_first == "passes" and detached_second == "fails"'
#
# [tool.capture.claims.float32-fails-the-right-one]
# says  = "in float32 gradcheck fails a correct Function that it passes in float64"
# holds = 'cube_first == "passes" and cube_float32 == "fails"'
#
# [tool.capture.claims.silent-second-derivative]
# says  = "a detached backward answers a second derivative without an error, and it is wrong"
# holds = "detached_answer != truth"
# ///
