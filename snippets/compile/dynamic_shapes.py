"""How many graphs four sizes cost depends on what you say about the size, and 1 is special."""

import torch
import torch._dynamo as dynamo

sizes = (8, 16, 24, 1)
graphs = 0


def backend(graph_module, example_inputs):
    global graphs
    graphs += 1
    return graph_module.forward


def total(rows):
    return (rows * 2).sum()


def unmarked(rows, dim):
    """Say nothing about the size."""


ways = {
    "nothing said": (unmarked, {}),
    "dynamic=False": (unmarked, {"dynamic": False}),
    "dynamic=True": (unmarked, {"dynamic": True}),
    "mark_dynamic": (dynamo.mark_dynamic, {}),
    "maybe_mark_dynamic": (dynamo.maybe_mark_dynamic, {}),
    "mark_unbacked": (dynamo.decorators.mark_unbacked, {}),
}
print("graphs after size   " + "".join(f"{size:5d}" for size in sizes))
for name, (mark, options) in ways.items():
    dynamo.reset()
    graphs = 0
    compiled = torch.compile(total, backend=backend, **options)
    counts = []
    for size in sizes:
        rows = torch.ones(size, 4)
        mark(rows, 0)  # marks this one tensor, so a new tensor is marked again
        torch.testing.assert_close(compiled(rows), total(rows))
        counts.append(graphs)
    print(f"{name:20}" + "".join(f"{count:5d}" for count in counts))

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Four sizes, six ways to announce them"
# needs = ["compile"]
# upstream = ["torch._dynamo.mark_dynamic", "torch._dynamo.maybe_mark_dynamic"]
#
# [tool.capture.values]
# default_first = '^nothing said +(\d+)'
# default_second = '^nothing said +\d+ +(\d+)'
# default_third = '^nothing said +\d+ +\d+ +(\d+)'
# default_all = '^nothing said +\d+ +\d+ +\d+ +(\d+)'
# static_all = '^dynamic=False +\d+ +\d+ +\d+ +(\d+)'
# dynamic_third = '^dynamic=True +\d+ +\d+ +(\d+)'
# dynamic_all = '^dynamic=True +\d+ +\d+ +\d+ +(\d+)'
# marked_third = '^mark_dynamic +\d+ +\d+ +(\d+)'
# marked_all = '^mark_dynamic +\d+ +\d+ +\d+ +(\d+)'
# maybe_all = '^maybe_mark_dynamic +\d+ +\d+ +\d+ +(\d+)'
# unbacked_all = '^mark_unbacked +\d+ +\d+ +\d+ +(\d+)'
#
# [tool.capture.claims.second-size-generalises]
# says = "with nothing said the second size makes a second graph, and the third size reuses it"
# holds = "default_first == 1 and default_second == 2 and default_third == 2"
#
# [tool.capture.claims.static-never-generalises]
# says = "dynamic=False makes a graph for each size"
# holds = "static_all == 4"
#
# [tool.capture.claims.marked-is-one-graph]
# says = "mark_dynamic and dynamic=True serve the three larger sizes with one graph"
# holds = "marked_third == 1 and dynamic_third == 1"
#
# [tool.capture.claims.one-is-special]
# says = "size 1 costs a graph of its own, except after mark_unbacked"
# holds = "default_all == 3 and dynamic_all == 2 and marked_all == 2 and maybe_all == 2 and unbacked_all == 1"
# where = 'torch >= "2.13"'
# ///
