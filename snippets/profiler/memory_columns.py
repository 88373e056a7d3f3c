"""Memory columns charge allocations to operators; what Python frees is in the row [memory]."""

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256))
batch = torch.randn(64, 256)
HIDDEN = 64 * 1024 * 4  # bytes of the output of the first Linear, or of the ReLU


def forward(grad):
    with torch.set_grad_enabled(grad):
        return model(batch).sum()


def report(label, grad):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        loss = forward(grad)  # kept until the profile is over, with what it keeps alive
    rows = [row for row in profiled.key_averages() if row.cpu_memory_usage]
    print(f"{label:18}calls{'total bytes':>13}{'self bytes':>12}")
    for row in sorted(rows, key=lambda row: row.key):
        own = row.self_cpu_memory_usage
        print(f"  {row.key:16}{row.count:5}{row.cpu_memory_usage:13}{own:12}")
    operators = [row.self_cpu_memory_usage for row in rows if row.key != "[memory]"]
    freed = sum(row.self_cpu_memory_usage for row in rows if row.key == "[memory]")
    print(f"  operators alone {sum(operators)}, with [memory] {sum(operators) + freed}")
    return loss.item()


forward(grad=True)  # warm-up
print(f"cuda available {torch.cuda.is_available()}, one hidden activation {HIDDEN} bytes")
with_grad = report("forward, grad", grad=True)
without = report("forward, no_grad", grad=False)
assert with_grad == without  # same arithmetic; only what stays alive differs

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "What the memory columns leave out"
# env = { KINETO_LOG_LEVEL = "99" }
# preload = ["profiler"]
# upstream = ["torch.profiler.profile"]
#
# [tool.capture.values]
# hidden = 'hidden activation (\d+) bytes'
# linear_total = '(?s)forward, grad .*?aten::linear +\d+ +(\d+).*forward, no_grad'
# linear_self = '(?s)forward, grad .*?aten::linear +\d+ +\d+ +(\d+).*forward, no_grad'
# allocated_grad = '(?s)forward, grad .*?operators alone (\d+).*forward, no_grad'
# net_grad = '(?s)forward, grad .*?with \[memory\] (\d+).*forward, no_grad'
# allocated_no_grad = '(?s)forward, no_grad.*operators alone (\d+)'
# net_no_grad = '(?s)forward, no_grad.*with \[memory\] (\d+)'
#
# [tool.capture.claims.operators-say-the-same]
# says  = "the operators' rows are the same with and without gradients"
# holds = "allocated_grad == allocated_no_grad"
#
# [tool.capture.claims.memory-row-tells-them-apart]
# says  = "with [memory], a hidden activation and the loss stay alive under grad, the loss alone under no_grad"
# holds = "net_grad == hidden + 4 and net_no_grad == 4"
# ///
