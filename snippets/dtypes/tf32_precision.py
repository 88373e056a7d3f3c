"""What "high" matmul precision does on a device: TF32's error, the emulated one, and the time."""

import statistics

import torch

SIZE = 4096
torch.manual_seed(0)
left, right = torch.randn(2, SIZE, SIZE, device="cuda").unbind()
truth = left.double() @ right.double()


def to_tf32(tensor):
    """Round to 10 bits of mantissa, to nearest, ties to even."""
    bits = tensor.view(torch.int32)
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF).view(torch.float32)


def error(product):
    return ((product.double() - truth).norm() / truth.norm()).item()


def milliseconds(function):
    times = []
    for _ in range(20):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times[5:])  # the first ones warm up


print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
print(f"capability {torch.cuda.get_device_capability()}; TF32 needs (8, 0)")
default = torch.get_float32_matmul_precision()
print(f"default: matmul {default}, convolution TF32 {torch.backends.cudnn.allow_tf32}")
times = {}
for precision in ("highest", "high"):
    torch.set_float32_matmul_precision(precision)
    times[precision] = milliseconds(lambda: left @ right)
    print(f"{precision:9s}error {error(left @ right):.1e}   {times[precision]:.3f} ms")
torch.set_float32_matmul_precision("highest")
print(f"emulated error {error(to_tf32(left) @ to_tf32(right)):.1e}")
print(f"highest / high {times['highest'] / times['high']:.1f}x")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "TF32 on a device"
# needs = ["cuda"]
# timing = true
#
# [tool.capture.values]
# default_matmul = '^default: matmul (\w+)'
# default_conv = 'convolution TF32 (\w+)'
# highest_error = '^highest +error (\S+)'
# high_error = '^high +error (\S+)'
# emulated_error = '^emulated error (\S+)'
# speedup = '^highest / high ([\d.]+)x'
#
# [tool.capture.compare]
# ratio = { speedup = 1.5 }
# spread = 1.25
# volatile = ['\d+\.\d+ ms']
#
# [tool.capture.claims.off-for-products-on-for-convolutions]
# says  = "by default matrix products are full float32 and convolutions may use TF32"
# holds = 'default_matmul == "highest" and default_conv == "True"'
# where = "gate.cuda"
#
# [tool.capture.claims.errs-as-emulated]
# says  = "the device's TF32 errs as the emulation predicts, within a factor of four"
# holds = "high_error < 4 * emulated_error and high_error * 4 > emulated_error"
# where = 'gate.cuda and gpu.capability >= "8.0"'
#
# [tool.capture.claims.high-is-faster]
# says  = "high precision is faster than highest"
# holds = "speedup > 1"
# where = 'gate.cuda and gpu.capability >= "8.0"'
# ///
