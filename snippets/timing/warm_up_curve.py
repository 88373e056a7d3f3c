"""The first calls of a process pay for set-up, and a mean that includes them pays too."""

import statistics
import time

import torch
from torch import nn

CALLS = 60
torch.set_num_threads(1)  # so that the curve does not depend on how many cores are free
torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(16 * 32 * 32, 64),
)


def step(batch):
    model.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    return loss


def curve(batch):
    """Milliseconds of each call, the first one included."""
    times = []
    losses = []
    for _ in range(CALLS):
        start = time.perf_counter()
        losses.append(step(batch).item())
        times.append((time.perf_counter() - start) * 1e3)
    assert abs(losses[0] - losses[-1]) < 1e-5  # the slow call computes nothing else
    return times


times = curve(torch.randn(8, 3, 32, 32))
again = curve(torch.randn(8, 3, 32, 32))  # other numbers, same shape
other = curve(torch.randn(12, 3, 32, 32))  # a batch size this process has not seen

print(f"cuda available {torch.cuda.is_available()}, threads {torch.get_num_threads()}")
steady = statistics.median(times[CALLS // 2 :])
print(f"steady, median of calls {CALLS // 2 + 1} to {CALLS}: {steady:.2f} ms")
for number in (1, 2, 3, 5, 10, 20, 50):
    print(f"call {number:<21}{times[number - 1] / steady:8.2f} times steady")
for first in (1, 10):
    mean = statistics.mean(times[first - 1 : first + 9])
    print(f"mean of calls {first:2} to {first + 9:<9}{mean / steady:8.2f} times steady")
print(f"same shape again, call 1  {again[0] / statistics.median(again):8.2f} times its own median")
print(f"new batch size, call 1    {other[0] / statistics.median(other):8.2f} times its own median")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "The first calls, one by one"
# timing = true
#
# [tool.capture.values]
# steady_ms = '^steady, .*: ([\d.]+) ms'
# first = '^call 1 +([\d.]+) times'
# second = '^call 2 +([\d.]+) times'
# tenth = '^call 10 +([\d.]+) times'
# mean_with = '^mean of calls +1 to 10 +([\d.]+) times'
# mean_without = '^mean of calls 10 to 19 +([\d.]+) times'
# same_shape = '^same shape again, call 1 +([\d.]+) times'
# new_shape = '^new batch size, call 1 +([\d.]+) times'
#
# [tool.capture.compare]
# ratio = { steady_ms = 1.5, first = 6.0, mean_with = 3.0 }
# spread = 1.25
#
# [tool.capture.claims.first-call-pays]
# says  = "the first call takes more than twice as long as a steady one"
# holds = "first > 2"
# where = 'arch == "x86_64"'
#
# [tool.capture.claims.the-mean-inherits-it]
# says  = "a mean over calls 1 to 10 is higher than a mean over calls 10 to 19"
# holds = "mean_with > mean_without"
# where = 'arch == "x86_64"'
# ///
