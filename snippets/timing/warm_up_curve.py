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


def first_to_median(size):
    times = curve(torch.randn(size, 3, 32, 32))
    return times[0] / statistics.median(times)


times = curve(torch.randn(8, 3, 32, 32))
sizes = range(9, 16)  # batch sizes this process has not seen
new = [first_to_median(size) for size in sizes]
again = [first_to_median(size) for size in sizes]  # the control: other numbers, same shapes

print(f"cuda available {torch.cuda.is_available()}, threads {torch.get_num_threads()}")
steady = statistics.median(times[CALLS // 2 :])
print(f"steady, median of calls {CALLS // 2 + 1} to {CALLS}: {steady:.2f} ms")
for number in (1, 2, 3, 5, 10, 20, 50):
    print(f"call {number:<21}{times[number - 1] / steady:8.2f} times steady")
for first in (1, 10):
    mean = statistics.mean(times[first - 1 : first + 9])
    print(f"mean of calls {first:2} to {first + 9:<9}{mean / steady:8.2f} times steady")
print(f"call 1, in units of its own median, middle of {len(sizes)} batch sizes")
print(f"  a new size              {statistics.median(new):8.2f}")
print(f"  the same size again     {statistics.median(again):8.2f}")

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
# new_shape = '^  a new size +([\d.]+)'
# same_shape = '^  the same size again +([\d.]+)'
#
# [tool.capture.compare]
# ratio = { steady_ms = 1.5 }
# relative = { first = 0.84, mean_with = 0.67 }
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
#
# [tool.capture.claims.a-new-size-pays-again]
# says  = "the first call of a new batch size is slower, against its own median, than that of a size seen before"
# holds = "new_shape > same_shape"
# where = 'arch == "x86_64" and not gate.cuda'
# ///
