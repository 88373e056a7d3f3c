"""torch.export refuses some Python and freezes other Python without a word: make a second call."""

import contextlib
import io
import logging
import random

import torch

# At a refusal torch also logs a line and prints the graph so far; the exception is enough here.
logging.getLogger("torch.fx.experimental.symbolic_shapes").setLevel(logging.CRITICAL)


class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.step = 0
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, *arguments):
        return self.function(self, *arguments)


def counter(self, x):
    self.step += 1
    return x * self.step


def second_result(model, first, second):
    random.seed(0)
    model(*first)
    return model(*second)


functions = {
    "branch": lambda self, x: x.cos() if x.sum() > 0 else x.sin(),
    "cond": lambda self, x: torch.cond(x.sum() > 0, torch.cos, torch.sin, (x,)),
    "number": lambda self, x, factor: x * factor,
    "random": lambda self, x: x * random.random(),
    "counter": counter,
    "buffer": lambda self, x: x * self.steps.add_(1),
}
x = torch.linspace(1, 2, 4)
print(f"{'function':10}{'export':29}second call of the program")
for name, function in functions.items():
    first, second = ((x, 3), (x, 4)) if name == "number" else ((x,), (-x,))
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            program = torch.export.export(Model(function), first).module()
    except Exception as error:
        print(f"{name:10}{type(error).__name__}")
        continue
    try:
        result = second_result(program, first, second)
        same = torch.equal(result, second_result(Model(function), first, second))
        answer = "like eager mode" if same else "frozen"
    except Exception:
        answer = "raises"
    print(f"{name:10}{'ok':29}{answer}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "What an exported program has frozen"
# needs = ["compile"]
# upstream = ["torch.export.export"]
#
# [tool.capture.values]
# branch = '^branch +(\w+)'
# cond = '^cond +ok +(\w.*)'
# number = '^number +ok +(\w.*)'
# random = '^random +ok +(\w.*)'
# counter = '^counter +ok +(\w.*)'
# buffer = '^buffer +ok +(\w.*)'
#
# [tool.capture.claims.a-branch-is-refused]
# says = "a branch on a value is refused, torch.cond is not"
# holds = 'branch != "ok" and cond == "like eager mode"'
#
# [tool.capture.claims.an-argument-is-checked]
# says = "another number as an argument raises when the program runs"
# holds = 'number == "raises"'
#
# [tool.capture.claims.state-is-frozen]
# says = "a random number and a counter in Python are frozen, a buffer is not"
# holds = 'random == "frozen" and counter == "frozen" and buffer == "like eager mode"'
# ///
