"""Prove that an inference tensor may join a graph, but not be saved, changed or made trainable."""

import torch
from torch import nn

data = torch.ones(3)
weight = torch.ones(3, requires_grad=True)
moves = {
    "t + weight, backward": lambda t: (t + weight).sum().backward(),
    "t * weight, backward": lambda t: (t * weight).sum().backward(),
    "t * 2 * weight, backward": lambda t: (t * 2 * weight).sum().backward(),
    "t.clone() * weight, backward": lambda t: (t.clone() * weight).sum().backward(),
    "t.detach() * weight, backward": lambda t: (t.detach() * weight).sum().backward(),
    "t.add_(1)": lambda t: t.add_(1),
    "t.requires_grad_()": lambda t: t.requires_grad_(),
    "nn.Parameter(t)": nn.Parameter,
    "t._version": lambda t: t._version,
}
contexts = {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}


def made_in(name):
    with contexts[name]():
        return data * weight


assert torch.equal(made_in("no_grad"), made_in("inference_mode"))
allowed = dict.fromkeys(contexts, 0)
messages = []
print(f"{'a later use of t, made in:':<32}no_grad   inference_mode")
for label, move in moves.items():
    verdicts = []
    for name in contexts:
        tensor = made_in(name)
        try:
            move(tensor)
        except RuntimeError as error:
            verdicts.append("raises")
            messages.append(str(error).split(".")[0])
        else:
            verdicts.append("works")
            allowed[name] += 1
    print(f"{label:<32}{verdicts[0]:<10}{verdicts[1]}")

for name, count in allowed.items():
    print(f"{name} allows {count} of {len(moves)}")
print("\nMessages, each once:")
for message in dict.fromkeys(messages):
    print(f"- {message}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "no_grad against inference_mode, nine later uses"
#
# [tool.capture.values]
# moves = '^no_grad allows \d+ of (\d+)'
# no_grad_allows = '^no_grad allows (\d+)'
# inference_allows = '^inference_mode allows (\d+)'
# add = '^t \+ weight, backward +works +(\w+)'
# multiply = '^t \* weight, backward +works +(\w+)'
# multiply_new = '^t \* 2 \* weight, backward +works +(\w+)'
# multiply_clone = '^t\.clone\(\) \* weight, backward +works +(\w+)'
# multiply_detach = '^t\.detach\(\) \* weight, backward +works +(\w+)'
#
# [tool.capture.claims.no-grad-allows-all]
# says = "a tensor made under no_grad allows every later use tried here"
# holds = "no_grad_allows == moves"
#
# [tool.capture.claims.inference-joins-a-graph]
# says = "an inference tensor may be added to a graph, and may not be saved by a multiplication"
# holds = "add == 'works' and multiply == 'raises'"
#
# [tool.capture.claims.clone-repairs]
# says = "a clone of an inference tensor multiplies, and a detached one does not"
# holds = "multiply_clone == 'works' and multiply_detach == 'raises'"
# ///
