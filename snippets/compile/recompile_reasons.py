"""Each recompile names the guard that failed: a value, a size, a dtype or a gradient."""

import logging
import re

import torch
import torch._dynamo

messages = []


class Keep(logging.Handler):
    def emit(self, record):
        messages.append(record.getMessage())


torch._logging.set_logs(recompiles=True)  # what TORCH_LOGS=recompiles does
log = logging.getLogger("torch._dynamo.guards.__recompiles")
log.handlers = [Keep()]  # instead of standard error
log.propagate = False


def scale(x, double):
    return x * 2 if double else x - 1


# backend="eager" traces and guards as usual, then runs the graph as it is.
compiled = torch.compile(scale, backend="eager", dynamic=False)
calls = [
    ("first call", torch.ones(3), True),
    ("other numbers", torch.zeros(3), True),
    ("other flag", torch.ones(3), False),
    ("other size", torch.ones(5), True),
    ("other dtype", torch.ones(3, dtype=torch.float64), True),
    ("gradient", torch.ones(3, requires_grad=True), True),
    ("first again", torch.ones(3), True),
]
recompiles = 0
for name, x, double in calls:
    before = len(messages)
    torch.testing.assert_close(compiled(x, double), scale(x, double))
    new = messages[before:]
    recompiles += bool(new)
    print(f"{name:15}{'recompiles' if new else 'no recompile'}")
    # One message lists a failed guard of every graph that was tried, the newest first.
    for graph, reason in re.findall(r"- \d+/(\d+): (.*)", "\n".join(new)):
        print(f"  graph {graph}: {reason.split('  #')[0].strip()}")
print(f"recompiles     {recompiles} in {len(calls)} calls")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Which guard failed"
# needs = ["compile"]
# upstream = ["torch.compile"]
#
# [tool.capture.values]
# numbers = '^other numbers +(\w.*)'
# flag = '^other flag +recompiles\n  graph 0: (.*)'
# size = '^other size +recompiles\n  graph \d: (.*)'
# dtype = '^other dtype +recompiles\n  graph \d: (.*)'
# gradient = '^gradient +recompiles\n(?:  graph .*\n)*  graph 0: (.*)'
# again = '^first again +(\w.*)'
# recompiles = '^recompiles +(\d+) in'
# calls = '^recompiles +\d+ in (\d+) calls'
#
# [tool.capture.claims.numbers-are-no-reason]
# says = "other numbers in a tensor of the same kind recompile nothing"
# holds = 'numbers == "no recompile" and again == "no recompile"'
#
# [tool.capture.claims.four-reasons]
# says = "another flag, size, dtype and requires_grad recompile once each"
# holds = "recompiles == 4"
# ///
