"""One training step four ways on a device: float32, TF32, bfloat16 and scaled float16 autocast."""

import statistics

import torch
from torch import nn

ROWS, WIDTH, LAYERS = 8192, 2048, 6
batch = torch.randn(ROWS, WIDTH, device="cuda")


def measure(precision, dtype):
    """Median ms of a step, peak MiB above the start, and the loss after all steps."""
    torch.set_float32_matmul_precision(precision)
    torch.manual_seed(0)
    layers = []
    for _ in range(LAYERS):
        layers += [nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU()]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler("cuda", enabled=dtype is torch.float16)
    low = dtype is not torch.float32
    times = []
    torch.cuda.reset_peak_memory_stats()
    at_start = torch.cuda.memory_allocated()
    for _ in range(15):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=dtype if low else torch.bfloat16, enabled=low):
            loss = (model(batch) - batch).float().square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    peak = (torch.cuda.max_memory_allocated() - at_start) / 2**20
    return statistics.median(times[5:]), peak, loss.item()  # the first steps warm up


ways = {
    "float32": ("highest", torch.float32),
    "TF32": ("high", torch.float32),
    "bfloat16": ("highest", torch.bfloat16),
    "float16": ("highest", torch.float16),
}
print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
results = {name: measure(*way) for name, way in ways.items()}
for name, (ms, peak, loss) in results.items():
    assert abs(loss - results["float32"][2]) < 0.05 * results["float32"][2]
    speedup = results["float32"][0] / ms
    memory = peak / results["float32"][1]
    row = f"speed-up {speedup:5.2f}x  peak memory {memory:.2f}x  loss {loss:.3f}"
    print(f"{name:9s}{ms:8.2f} ms  {row}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.3"]
#
# [tool.capture]
# title = "The gain of mixed precision on a device"
# needs = ["cuda"]
# timing = true
# upstream = ["torch.autocast", "torch.amp.GradScaler"]
#
# [tool.capture.values]
# tf32_speedup = '^TF32 .*speed-up +([\d.]+)x'
# bfloat16_speedup = '^bfloat16 .*speed-up +([\d.]+)x'
# float16_speedup = '^float16 .*speed-up +([\d.]+)x'
# bfloat16_memory = '^bfloat16 .*peak memory ([\d.]+)x'
# float16_memory = '^float16 .*peak memory ([\d.]+)x'
# float32_loss = '^float32 .*loss ([\d.]+)'
# bfloat16_loss = '^bfloat16 .*loss ([\d.]+)'
#
# [tool.capture.compare]
# ratio = { bfloat16_speedup = 1.5, float16_speedup = 1.5, tf32_speedup = 1.5 }
# spread = 1.25
# volatile = ['\d+\.\d+ ms', 'loss [\d.]+']
#
# [tool.capture.claims.autocast-is-faster]
# says  = "bfloat16 autocast is faster than float32 and than TF32"
# holds = "bfloat16_speedup > 1 and bfloat16_speedup > tf32_speedup"
# where = 'gate.cuda and gpu.capability >= "8.0"'
#
# [tool.capture.claims.autocast-needs-less-memory]
# says  = "with many rows bfloat16 autocast peaks below float32"
# holds = "bfloat16_memory < 1"
# where = "gate.cuda"
# ///
