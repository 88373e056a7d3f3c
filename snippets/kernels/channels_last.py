"""Channels-last changes no number; what it does to the time depends on the layer."""

import copy
import statistics
import time

import torch
from torch import nn

torch.set_num_threads(1)  # so that the ratio does not depend on how many cores are free
torch.manual_seed(0)
LAST = torch.channels_last
images = torch.randn(4, 64, 56, 56)
images_last = images.to(memory_format=LAST)
layers = {
    "conv 3x3": nn.Conv2d(64, 64, 3, padding=1),
    "conv depthwise": nn.Conv2d(64, 64, 3, padding=1, groups=64),
    "max pool": nn.MaxPool2d(2),
    "batch norm": nn.BatchNorm2d(64),
}


def block_ms(function, calls=4):
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls * 1e3


print(f"threads {torch.get_num_threads()}, images {tuple(images.shape)}")
print(f"{'layer':16}{'contiguous':>14}{'channels last':>16}{'converted':>14}  gain")
with torch.inference_mode():
    for name, layer in layers.items():
        layer = layer.eval()
        layer_last = copy.deepcopy(layer).to(memory_format=LAST)
        ways = [
            lambda layer=layer: layer(images),
            lambda layer=layer_last: layer(images_last),
            # What an island costs: one layer in channels-last, its neighbours contiguous.
            lambda layer=layer_last: layer(images.to(memory_format=LAST)).contiguous(),
        ]
        expected = ways[0]()
        for way in ways:
            torch.testing.assert_close(way(), expected, rtol=1e-4, atol=1e-4)
        blocks = [[block_ms(way) for way in ways] for _ in range(12)][2:]
        plain, last, island = (statistics.median(times) for times in zip(*blocks, strict=True))
        print(f"{name:16}{plain:11.2f} ms{last:13.2f} ms{island:11.2f} ms{plain / last:5.1f}x")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What channels-last does to four layers"
# timing = true
# timeout = 120
# upstream = ["torch.nn.Conv2d"]
#
# [tool.capture.values]
# conv = '^conv 3x3 .* ([\d.]+)x$'
# depthwise = '^conv depthwise .* ([\d.]+)x$'
# pool = '^max pool .* ([\d.]+)x$'
# norm = '^batch norm .* ([\d.]+)x$'
# pool_plain = '^max pool +([\d.]+) ms'
# pool_last = '^max pool +[\d.]+ ms +([\d.]+) ms'
# pool_island = '^max pool +(?:[\d.]+ ms +){2}([\d.]+) ms'
# norm_plain = '^batch norm +([\d.]+) ms'
# norm_last = '^batch norm +[\d.]+ ms +([\d.]+) ms'
# norm_island = '^batch norm +(?:[\d.]+ ms +){2}([\d.]+) ms'
#
# [tool.capture.compare]
# ratio = { pool = 2.0, depthwise = 3.0, conv = 2.0, norm = 3.0 }
# spread = 1.3
# volatile = ['[\d.]+ ms']
#
# [tool.capture.claims.pool-gains-most]
# says  = "max pooling in channels-last is more than three times as fast"
# holds = "pool > 3"
# where = 'cpu.isa == "AVX512"'
#
# [tool.capture.claims.depthwise-gains]
# says  = "a depthwise convolution in channels-last is faster"
# holds = "depthwise > 1"
# where = 'cpu.isa == "AVX512"'
#
# [tool.capture.claims.pool-pays-for-its-conversion]
# says  = "max pooling is faster in channels-last even if it converts its input and output"
# holds = "pool_island < pool_plain"
# where = 'cpu.isa == "AVX512"'
#
# [tool.capture.claims.an-island-loses-it]
# says  = "a batch norm that converts its input and output is slower than a contiguous one"
# holds = "norm_island > norm_plain"
# where = 'arch == "x86_64"'
# ///
