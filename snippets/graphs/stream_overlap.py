"""Two streams overlap kernels that leave room on the device, and not those that fill it."""

import statistics

import torch

CYCLES = 20_000_000  # a spin of about ten milliseconds in one thread
main, side = torch.cuda.current_stream(), torch.cuda.Stream()
a = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
outputs = [torch.empty_like(a) for _ in range(2)]


def spin(_):
    torch.cuda._sleep(CYCLES)


def multiply(number):
    for _ in range(4):
        torch.mm(a, a, out=outputs[number])


def milliseconds(work, second):
    """Return the median time of two pieces of work, the second of them on another stream."""
    times = []
    for _ in range(7):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        second.wait_stream(main)
        work(0)
        with torch.cuda.stream(second):
            work(1)
        main.wait_stream(second)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
print(f"{'two of each':26s}{'one stream':>14s}{'two streams':>14s}   gain")
for name, work in {"spin of one thread": spin, "matrix products": multiply}.items():
    milliseconds(work, side)  # the first calls set up the stream and the library
    one, two = milliseconds(work, main), milliseconds(work, side)
    print(f"{name:26s}{one:11.2f} ms{two:11.2f} ms{one / two:6.2f}x")
torch.testing.assert_close(*outputs)

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Two streams, small kernels and large"
# needs = ["cuda"]
# timing = true
#
# [tool.capture.values]
# spin_one_ms = '^spin .* ([\d.]+) ms +[\d.]+ ms'
# spin_two_ms = '^spin .* [\d.]+ ms +([\d.]+) ms'
# spin_gain = '^spin .* ([\d.]+)x'
# product_gain = '^matrix .* ([\d.]+)x'
#
# [tool.capture.compare]
# ratio = { spin_gain = 1.3, product_gain = 1.3 }
# volatile = ['\d+\.\d+ ms']
#
# [tool.capture.claims.small-kernels-overlap]
# says  = "two spins of one thread on two streams take little more time than one of them"
# holds = "spin_gain > 1.7"
# where = "gate.cuda"
#
# [tool.capture.claims.full-kernels-do-not]
# says  = "two large matrix products gain little from a second stream"
# holds = "product_gain < 1.2"
# where = "gate.cuda"
# ///
