"""The first call traces Python into a graph of tensor operations; later calls only look it up."""

import torch

graphs = []


def backend(graph_module, example_inputs):
    """Keep each graph that arrives and run it as it is, so that nothing becomes machine code."""
    graphs.append(graph_module.graph)
    return graph_module.forward


def add_steps(x, steps):
    for step in range(steps):
        if x.shape[0] > 2:
            x = x + step
        else:
            x = x * step
    return x.relu()


compiled = torch.compile(add_steps, backend=backend, dynamic=False)
print(f"{'call':25}graphs")
print(f"{'torch.compile alone':25}{len(graphs):6d}")
calls = {
    "first call": (torch.ones(4), 3),
    "other numbers": (torch.full((4,), 7.0), 3),
    "another loop count": (torch.ones(4), 2),
    "the other branch": (torch.ones(2), 3),
    "like the first again": (torch.ones(4), 3),
}
for name, arguments in calls.items():
    torch.testing.assert_close(compiled(*arguments), add_steps(*arguments))
    print(f"{name:25}{len(graphs):6d}")

print("the first graph")
for node in graphs[0].nodes:
    target = "" if node.op == "output" else getattr(node.target, "__name__", node.target)
    print(f"  {node.op:15}{target}".rstrip())
operations = sum(node.op.startswith("call") for node in graphs[0].nodes)
print(f"{'operations in it':25}{operations:6d}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "When a graph is made, and what is in it"
# needs = ["compile"]
# upstream = ["torch.compile"]
#
# [tool.capture.values]
# wrapped = '^torch.compile alone +(\d+)'
# first = '^first call +(\d+)'
# numbers = '^other numbers +(\d+)'
# loop = '^another loop count +(\d+)'
# branch = '^the other branch +(\d+)'
# again = '^like the first again +(\d+)'
# operations = '^operations in it +(\d+)'
#
# [tool.capture.claims.first-call-traces]
# says = "torch.compile makes no graph; the first call makes one, and other numbers reuse it"
# holds = "wrapped == 0 and first == 1 and numbers == 1"
#
# [tool.capture.claims.python-is-a-guard]
# says = "another loop count and another branch each make a graph of their own"
# holds = "loop == first + 1 and branch == loop + 1 and again == branch"
# ///
