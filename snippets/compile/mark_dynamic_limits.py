"""mark_dynamic is a promise: code that fixes the size breaks it loudly, under maybe_ quietly."""

import logging

import torch
import torch._dynamo as dynamo

# A broken promise is also logged at length; the exception is enough here.
logging.getLogger("torch._guards").setLevel(logging.CRITICAL)
graphs = 0


def backend(graph_module, example_inputs):
    global graphs
    graphs += 1
    return graph_module.forward


def free(rows):
    return rows.sum()


def branch(rows):
    return rows.sum() if rows.shape[0] > 10 else rows.prod()


def equals(rows):
    return rows.prod() if rows.shape[0] == 8 else rows.sum()


def bounded(rows, dim):
    dynamo.mark_dynamic(rows, dim, min=2, max=64)


cases = [
    ("free size", free, dynamo.mark_dynamic),
    ("if size > 10", branch, dynamo.mark_dynamic),
    ("range 2 to 64", free, bounded),
    ("if size == 8", equals, dynamo.mark_dynamic),
    ("if size == 8, maybe", equals, dynamo.maybe_mark_dynamic),
    ("unbacked, free", free, dynamo.decorators.mark_unbacked),
    ("unbacked, if > 10", branch, dynamo.decorators.mark_unbacked),
]
sizes = (8, 9, 16, 24, 128)
print(f"sizes {', '.join(map(str, sizes))}; graphs after each call, until one fails")
for name, function, mark in cases:
    dynamo.reset()
    graphs = 0
    compiled = torch.compile(function, backend=backend)
    answers = []
    for size in sizes:
        rows = torch.ones(size, 4)
        mark(rows, 0)
        try:
            torch.testing.assert_close(compiled(rows), function(rows))
        except Exception as error:
            answers.append(type(error).__name__)
            break
        answers.append(str(graphs))
    print(f"{name:21}{', '.join(answers)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Code that disagrees with a dynamic size"
# needs = ["compile"]
# upstream = ["torch._dynamo.mark_dynamic", "torch._dynamo.maybe_mark_dynamic"]
#
# [tool.capture.values]
# free_all = '^free size +.*(\d)$'
# branch_second = '^if size > 10 +\d, (\d)'
# branch_all = '^if size > 10 +.*(\d)$'
# range_within = '^range 2 to 64 +\d, \d, \d, (\d)'
# range_outside = '^range 2 to 64 +.*, (\w+)$'
# equal_first = '^if size == 8 +(\w+)'
# maybe_first = '^if size == 8, maybe +(\d)'
# maybe_all = '^if size == 8, maybe +.*(\d)$'
# unbacked_free = '^unbacked, free +.*(\d)$'
# unbacked_first = '^unbacked, if > 10 +(\d)'
#
# [tool.capture.claims.inequality-splits]
# says = "a branch on the size splits a marked dimension into two graphs"
# holds = "free_all == 1 and branch_second == 1 and branch_all == 2"
#
# [tool.capture.claims.promise-is-checked]
# says = "a size outside the range and code that fixes the size raise"
# holds = 'range_within == 1 and range_outside == equal_first and equal_first == "ConstraintViolationError"'
#
# [tool.capture.claims.maybe-gives-in]
# says = "under maybe_mark_dynamic the fixed size gets a graph of its own, and nothing raises"
# holds = "maybe_first == 1 and maybe_all == 2"
#
# [tool.capture.claims.unbacked-cannot-branch]
# says = "an unbacked size is one graph until the code branches on it, and then the graph breaks"
# holds = "unbacked_free == 1 and unbacked_first == 2"
# where = 'torch >= "2.13"'
# ///
