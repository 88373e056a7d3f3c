"""Four ordinary lines that break a graph, the reason given, and a form that does not break."""

import logging

import torch
import torch._dynamo as dynamo

# item() also logs its break; explain() reports it below.
logging.getLogger("torch._dynamo.variables.tensor").setLevel(logging.ERROR)


def branch(x):
    return x.cos() if x.sum() > 0 else x.sin()


def where(x):
    return torch.where(x.sum() > 0, x.cos(), x.sin())


def item(x):
    return x / x.max().item()


def tensor(x):
    return x / x.max()


def select(x):
    return x[x > 0].sum() + 1


def mask(x):
    return torch.where(x > 0, x, 0).sum() + 1


def write(x):
    y = x.sin()
    print(end="")
    return y + 1


def write_later(x):
    return x.sin() + 1


x = torch.linspace(-1, 2, 5)
print("function    graphs  breaks  reason")
for broken, whole in ((branch, where), (item, tensor), (select, mask), (write, write_later)):
    torch.testing.assert_close(broken(x), whole(x))
    for function in (broken, whole):
        dynamo.reset()
        found = dynamo.explain(function)(x)
        # The first line is the kind of break; help and a traceback follow it.
        reasons = [item.reason.splitlines()[0] for item in found.break_reasons] or ["-"]
        counts = f"{found.graph_count:8d}{found.graph_break_count:8d}"
        print(f"{function.__name__:12}{counts[2:]}  {reasons[0]}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Lines that break a graph"
# needs = ["compile"]
# upstream = ["torch._dynamo.explain"]
#
# [tool.capture.values]
# branch = '^branch +\d+ +(\d+)'
# branch_reason = '^branch +\d+ +\d+  (.*)'
# where = '^where +\d+ +(\d+)'
# item = '^item +\d+ +(\d+)'
# item_reason = '^item +\d+ +\d+  (.*)'
# tensor = '^tensor +\d+ +(\d+)'
# select = '^select +\d+ +(\d+)'
# select_reason = '^select +\d+ +\d+  (.*)'
# mask = '^mask +\d+ +(\d+)'
# write = '^write +\d+ +(\d+)'
# write_reason = '^write +\d+ +\d+  (.*)'
# write_later = '^write_later +\d+ +(\d+)'
#
# [tool.capture.claims.four-lines-break]
# says = "a branch on a value, item(), a boolean index and print break the graph once each"
# holds = "branch == 1 and item == 1 and select == 1 and write == 1"
#
# [tool.capture.claims.four-forms-do-not]
# says = "the four other forms do not break"
# holds = "where == 0 and tensor == 0 and mask == 0 and write_later == 0"
# ///
