"""A host clock times the host: a model of a bounded queue shows which line is charged."""

from collections import deque


class Device:
    """Runs queued kernels in order while the host goes on; times are microseconds on one clock."""

    def __init__(self, depth):
        self.now = 0  # the host's clock
        self.depth = depth  # launches that may wait in the queue
        self.ends = deque()  # when each queued kernel will be done
        self.busy_until = 0

    def launch(self, kernel, cost=5):
        self.now += cost
        while self.ends and self.ends[0] <= self.now:
            self.ends.popleft()
        if len(self.ends) == self.depth:
            self.now = self.ends.popleft()  # the queue is full: the launch itself waits
        self.busy_until = max(self.now, self.busy_until) + kernel
        self.ends.append(self.busy_until)

    def synchronize(self):
        self.now = max(self.now, self.busy_until)
        self.ends.clear()

    def item(self, cost=10):
        self.synchronize()  # a number on the host exists only once the device has made it
        self.now += cost


def charged(calls, wait, depth=1000, kernel=2000):
    """Milliseconds that a host clock charges to the loop and to the read after it."""
    device = Device(depth)
    for _ in range(calls):
        device.launch(kernel)
    if wait:
        device.synchronize()
    loop = device.now
    device.item()
    return loop / 1e3, (device.now - loop) / 1e3


print("a model: no device is asked; each kernel takes 2 ms")
print(f"{'ms charged to':22}{'loop':>8}{'item()':>9}{'sum':>9}")
sums = []
for calls in (20, 1020):
    for name, wait in (("no wait", False), ("synchronized", True)):
        loop, read = charged(calls, wait)
        sums.append(loop + read)
        print(f"{calls:4} calls, {name:12}{loop:8.2f}{read:9.2f}{sums[-1]:9.2f}")
assert sums[0] == sums[1] and sums[2] == sums[3]  # waiting moves the time, it adds none

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "Which line pays, as a model"
#
# [tool.capture.values]
# launch_ms = '^ +20 calls, no wait +([\d.]+)'
# read_ms = '^ +20 calls, no wait +[\d.]+ +([\d.]+)'
# done_ms = '^ +20 calls, synchronized +([\d.]+)'
# read_after_ms = '^ +20 calls, synchronized +[\d.]+ +([\d.]+)'
# total_ms = '^ +20 calls, no wait .* ([\d.]+)$'
# waited_total_ms = '^ +20 calls, synchronized .* ([\d.]+)$'
# full_launch_ms = '^1020 calls, no wait +([\d.]+)'
# full_read_ms = '^1020 calls, no wait +[\d.]+ +([\d.]+)'
# full_done_ms = '^1020 calls, synchronized +([\d.]+)'
#
# [tool.capture.claims.the-loop-looks-free]
# says  = "without waiting, the loop is charged less than a tenth of the work, and the read the rest"
# holds = "launch_ms * 10 < done_ms and read_ms > done_ms * 0.9"
#
# [tool.capture.claims.waiting-adds-nothing]
# says  = "one synchronize moves the time to the line that caused it and adds none"
# holds = "waited_total_ms == total_ms"
#
# [tool.capture.claims.a-full-queue-waits]
# says  = "once the queue is full, launches wait too, and the loop is charged part of the work"
# holds = "full_launch_ms > launch_ms * 10 and full_launch_ms < full_done_ms"
# ///
