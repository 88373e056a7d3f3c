"""Prove which exact message each of eleven dtype, shape and autograd mistakes prints here."""

import textwrap

import torch
from torch import nn

torch.manual_seed(0)
matrix = torch.ones(2, 2)
doubles = matrix.double()
leaf = torch.ones(3, requires_grad=True)
linear = nn.Linear(2, 2)


def saved_then_changed():
    hidden = leaf.exp()
    hidden.add_(1)
    hidden.sum().backward()


def backward_twice():
    loss = (leaf * leaf).sum()
    loss.backward()
    loss.backward()


double_inputs = {
    "float @ double": lambda: matrix @ doubles,
    "Linear(double)": lambda: linear(doubles),
    "bmm(float, double)": lambda: torch.bmm(matrix[None], doubles[None]),
    "Conv1d(double)": lambda: nn.Conv1d(1, 1, 1)(torch.ones(1, 1, 2).double()),
    "LSTM(double)": lambda: nn.LSTM(2, 2)(torch.ones(1, 1, 2).double()),
}
others = {
    "mse_loss, double target": lambda: nn.functional.mse_loss(linear(matrix), doubles).backward(),
    "cross_entropy, float target": lambda: nn.functional.cross_entropy(matrix, torch.ones(2)),
    "shapes do not fit": lambda: torch.ones(4, 8) @ torch.ones(16, 2),
    "leaf changed in place": lambda: leaf.add_(1),
    "saved, then changed": saved_then_changed,
    "backward twice": backward_twice,
}
messages = {}
for label, mistake in (double_inputs | others).items():
    try:
        mistake()
        messages[label] = "no error"
    except Exception as error:
        # Hints after the first sentence are the same in every message of a kind.
        first = str(error).splitlines()[0].split(". ")[0]
        messages[label] = f"{type(error).__name__}: {first}"
    print(label)
    print(textwrap.indent(textwrap.fill(messages[label], 82), "    "))

famous = [label for label in double_inputs if "expected scalar type" in messages[label]]
silent = [label for label in messages if messages[label] == "no error"]
print(f"say expected scalar type: {len(famous)} of {len(double_inputs)}: {', '.join(famous)}")
print(f"raise nothing: {len(silent)} of {len(messages)}: {', '.join(silent) or 'none'}")
print(f"different messages for a double input: {len({messages[k] for k in double_inputs})}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Eleven mistakes and their messages"
#
# [tool.capture.values]
# famous_count = 'say expected scalar type: (\d+) of'
# double_count = 'say expected scalar type: \d+ of (\d+)'
# famous_who = 'say expected scalar type: \d+ of \d+: (\w+)'
# silent_count = 'raise nothing: (\d+) of'
# mistakes = 'raise nothing: \d+ of (\d+)'
# silent_who = 'raise nothing: \d+ of \d+: (\w+)'
# linear_message = '^Linear\(double\)\n +\w+: (.+)'
# bmm_message = '^bmm\(float, double\)\n +\w+: (.+)'
# shape_message = '^shapes do not fit\n +\w+: (.+)'
# different = 'different messages for a double input: (\d+)'
# lstm_message = '^LSTM\(double\)\n +(.+)'
# mse_message = '^mse_loss, double target\n +(.+)'
# entropy_message = '^cross_entropy, float target\n +(.+)'
# saved_node = 'output 0 of\s+(\w+),'
#
# [tool.capture.claims.only-bmm-says-scalar-type]
# says = "of five double-input mistakes only bmm says 'expected scalar type'"
# holds = "famous_count == 1 and famous_who == 'bmm'"
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.mse-double-is-silent]
# says = "mse_loss with a double target is the only one of eleven mistakes that raises nothing"
# holds = "silent_count == 1 and silent_who == 'mse_loss'"
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.every-op-words-it-differently]
# says = "five operations report a double input in five different messages"
# holds = "different == double_count"
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.each-raises-in-2-2]
# says = "in torch 2.2 each of the eleven mistakes raises, and LSTM says what Linear says"
# holds = "silent_count == 0 and different == double_count - 1"
# where = 'torch >= "2.2" and torch < "2.3"'
# ///
