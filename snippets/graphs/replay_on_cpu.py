"""Recorded calls, replayed on their own tensors, show what a graph repeats and what it freezes."""

from typing import ClassVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Recorder(TorchDispatchMode):
    recorded: ClassVar = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.recorded.append((function, args, kwargs or {}, result))
        return result

    def replay(self):
        for function, args, kwargs, result in self.recorded:
            result.copy_(function(*args, **kwargs))  # the result keeps its address


calls, scale, training = 0, 2.0, True


def work(x):
    global calls
    calls += 1
    y = x * scale
    return y + 100 if training else y


static = torch.zeros(4)
with Recorder() as graph:
    result = work(static)
address = result.data_ptr()
print(f"recorded: {' '.join(str(entry[0].overloadpacket) for entry in graph.recorded)}")


def show(name):
    graph.replay()
    assert result.data_ptr() == address
    eager = work(source)
    print(f"{name:34s}{result[0]:7.0f}{eager[0]:9.0f}   {torch.equal(result, eager)}")


print(f"{'before the replay':34s}{'replay':>7s}{'eager':>9s}   agree")
source = static
show("nothing changed")
static.fill_(5)
show("static.fill_(5)")
source = torch.full((4,), 9.0)
show("a new tensor of 9 is the input")
source = static
scale = 3.0
show("scale = 3.0, a Python number")
scale, training = 2.0, False
show("training = False, a branch")
calls = 0
graph.replay()
print(f"calls of work() during a replay: {calls}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What a replay repeats"
#
# [tool.capture.values]
# recorded = '^recorded: (.+)'
# filled = '^static.fill_\(5\) +(\d+)'
# stale = 'is the input +(\d+)'
# stale_eager = 'is the input +\d+ +(\d+)'
# stale_agree = 'is the input +\d+ +\d+ +(\w+)'
# scale_replay = '^scale = 3.0, a Python number +(\d+)'
# scale_eager = '^scale = 3.0, a Python number +\d+ +(\d+)'
# branch_replay = '^training = False, a branch +(\d+)'
# branch_eager = '^training = False, a branch +\d+ +(\d+)'
# python_calls = 'during a replay: (\d+)'
#
# [tool.capture.claims.fill-do-not-replace]
# says  = "a replay sees what is written into its input, and not a new tensor"
# holds = "filled == 110 and stale == filled and stale != stale_eager"
#
# [tool.capture.claims.python-is-frozen]
# says  = "a Python number and a branch keep the state that they had when the calls were recorded"
# holds = "scale_replay != scale_eager and branch_replay != branch_eager and python_calls == 0"
# ///
