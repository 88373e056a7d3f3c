"""A plain int is at first a constant of its graph; a DynamicInt is an input from the start."""

import torch
import torch._dynamo as dynamo
from torch.fx.experimental.sym_node import DynamicInt

int_inputs = []


def backend(graph_module, example_inputs):
    """Note of each graph how many integers it takes as inputs."""
    int_inputs.append(sum(isinstance(value, torch.SymInt) for value in example_inputs))
    return graph_module.forward


def head_sum(values, length):
    return values.sum() * length + values[:length].sum()


values = torch.arange(16.0)
length = DynamicInt(3)
print(f"torch has a DynamicInt  {hasattr(torch, 'DynamicInt')}")
print(f"DynamicInt is an int    {isinstance(length, int)}")
print(f"DynamicInt(3) * 2       {type(length * 2).__name__}")
assert torch.equal(values[:length], values[:3])  # in eager code it is the number 3

ways = {
    "int 3, 4, 5": (3, 4, 5),
    "int, dynamic=False": (3, 4, 5),
    "DynamicInt 3, 4, 5": (DynamicInt(3), DynamicInt(4), DynamicInt(5)),
    "DynamicInt 3, int 4, 5": (DynamicInt(3), 4, 5),
    "int 3, DynamicInt 4, 5": (3, DynamicInt(4), DynamicInt(5)),
    "DynamicInt 1, 4, 5": (DynamicInt(1), DynamicInt(4), DynamicInt(5)),
}
print(f"{'three calls':24}graphs  int inputs of each")
for name, lengths in ways.items():
    dynamo.reset()
    int_inputs.clear()
    options = {"dynamic": False} if "dynamic=False" in name else {}
    compiled = torch.compile(head_sum, backend=backend, **options)
    for length in lengths:
        torch.testing.assert_close(compiled(values, length), head_sum(values, int(length)))
    print(f"{name:24}{len(int_inputs):6d}  {', '.join(map(str, int_inputs))}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "A length that is no constant"
# needs = ["compile"]
# upstream = ["torch.fx.experimental.sym_node.DynamicInt"]
#
# [tool.capture.values]
# top_level = '^torch has a DynamicInt +(\w+)'
# is_int = '^DynamicInt is an int +(\w+)'
# product = '^DynamicInt\(3\) \* 2 +(\w+)'
# plain = '^int 3, 4, 5 +(\d)'
# static = '^int, dynamic=False +(\d)'
# dynamic = '^DynamicInt 3, 4, 5 +(\d)'
# dynamic_inputs = '^DynamicInt 3, 4, 5 +\d +(\d)'
# then_plain = '^DynamicInt 3, int 4, 5 +(\d)'
# too_late = '^int 3, DynamicInt 4, 5 +(\d)'
# from_one = '^DynamicInt 1, 4, 5 +(\d)'
#
# [tool.capture.claims.one-graph]
# says = "three DynamicInts need one graph, three plain ints two, and three without dynamic shapes"
# holds = "dynamic == 1 and plain == 2 and static == 3"
# where = 'torch >= "2.13"'
#
# [tool.capture.claims.first-call-decides]
# says = "a DynamicInt in the first call serves plain ints later; in the second call it is too late"
# holds = "then_plain == 1 and too_late == 2"
# where = 'torch >= "2.13"'
#
# [tool.capture.claims.one-is-not-special]
# says = "starting from 1 a DynamicInt still needs only one graph"
# holds = "from_one == 1"
# where = 'torch >= "2.13"'
#
# [tool.capture.claims.not-top-level]
# says = "the class lives in torch.fx.experimental.sym_node; torch itself has no such name"
# holds = 'top_level == "False"'
# where = 'torch < "2.15"'
# ///
