"""A graph break is passed over by default; you can forbid it for good, or except where you say."""

import torch
import torch._dynamo as dynamo

graphs = 0


def backend(graph_module, example_inputs):
    global graphs
    graphs += 1
    return graph_module.forward


def breaks(x):
    x = x * 3
    dynamo.graph_break()  # stands for any line that cannot be traced
    return x + 1


def callee_breaks(x):
    return breaks(x + 1) - 1


def allowed_inside(x):
    x = x + 1
    with dynamo.error_on_graph_break(False):
        x = breaks(x)
    return x - 1


def forbidden_inside(x):
    x = x + 1
    with dynamo.error_on_graph_break(True):
        x = breaks(x)
    return x - 1


x = torch.ones(2)
modes = {"default": (False, False), "error_on": (False, True), "fullgraph": (True, False)}
print(f"{'function':19}" + "".join(f"{name:14}" for name in modes).rstrip())
for function in (breaks, callee_breaks, allowed_inside, forbidden_inside):
    answers = []
    for fullgraph, error_on in modes.values():
        dynamo.reset()
        graphs = 0
        compiled = torch.compile(function, backend=backend, fullgraph=fullgraph)
        try:
            with dynamo.error_on_graph_break(error_on):
                torch.testing.assert_close(compiled(x), function(x))
            answers.append(f"{graphs} graphs")
        except Exception as error:
            answers.append(type(error).__name__)
    print(f"{function.__name__:19}" + "".join(f"{answer:14}" for answer in answers).rstrip())

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Three modes for a graph break"
# needs = ["compile"]
# upstream = ["torch._dynamo.error_on_graph_break", "torch._dynamo.graph_break"]
#
# [tool.capture.values]
# default = '^breaks +(\d) graphs'
# error_on = '^breaks +\d graphs +(\w+)'
# fullgraph = '^breaks .* (\w+)$'
# called = '^callee_breaks +(\d) graphs'
# allowed_error_on = '^allowed_inside +\d graphs +(\d) graphs'
# allowed_fullgraph = '^allowed_inside .* (\w+)$'
# forbidden_default = '^forbidden_inside +(\w+)'
#
# [tool.capture.claims.default-goes-on]
# says = "by default a break in the function itself gives two graphs, and in a callee four"
# holds = "default == 2 and called == 4"
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.two-modes-refuse]
# says = "error_on_graph_break and fullgraph refuse a break"
# holds = 'error_on == "Unsupported" and fullgraph == "Unsupported"'
#
# [tool.capture.claims.only-one-can-be-relaxed]
# says = "error_on_graph_break can be relaxed inside the function, fullgraph cannot"
# holds = 'allowed_error_on == called and allowed_fullgraph == "Unsupported"'
#
# [tool.capture.claims.strict-inside]
# says = "error_on_graph_break(True) inside the function refuses in every mode"
# holds = 'forbidden_default == "Unsupported"'
# ///
