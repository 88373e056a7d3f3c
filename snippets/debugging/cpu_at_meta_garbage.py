"""Prove that cpu @ meta raises nothing and returns memory that no kernel has written."""

import torch
from torch import nn

torch.manual_seed(0)
cpu = torch.ones(2, 2)
meta = torch.ones(2, 2, device="meta")
layer = nn.Linear(2, 2, bias=False).to("meta")
cases = {
    "cpu + meta": lambda: cpu + meta,
    "cpu @ meta": lambda: cpu @ meta,
    "meta @ cpu": lambda: meta @ cpu,
    "Linear on meta, cpu in": lambda: layer(cpu),
}


def untouched(tensor):
    """True if every element is the NaN that deterministic mode puts into fresh memory."""
    return tensor.device.type == "cpu" and bool(tensor.isnan().all())


# In this mode torch.empty is filled with NaN, so a NaN that survives was never written.
torch.use_deterministic_algorithms(True)
assert untouched(torch.empty(2, 2))
assert torch.equal(cpu @ cpu, torch.full((2, 2), 2.0))

raised = 0
garbage = 0
for label, product in cases.items():
    try:
        result = product()
    except RuntimeError as error:
        raised += 1
        print(f"{label:<22}  raises: {str(error).splitlines()[0]}")
    else:
        garbage += untouched(result)
        state = "no kernel has written it" if untouched(result) else "no data to read"
        print(f"{label:<22}  returns a {result.device} tensor: {state}")

print(f"raised {raised} of {len(cases)}, unwritten memory returned {garbage} of {len(cases)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "A device mismatch that raises nothing"
# upstream = ["torch._meta_registrations.meta_mm"]
#
# [tool.capture.values]
# cpu_at_meta = '^cpu @ meta +(\w+)'
# meta_at_cpu = '^meta @ cpu +(\w+)'
# add_message = '^cpu \+ meta +raises: (.+)'
# raised = '^raised (\d+) of'
# garbage = 'unwritten memory returned (\d+) of'
# cases = 'unwritten memory returned \d+ of (\d+)'
#
# [tool.capture.claims.matmul-returns-garbage]
# says = "cpu @ meta raises nothing and returns unwritten CPU memory"
# holds = "cpu_at_meta == 'returns' and garbage >= 1"
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.addition-raises]
# says = "cpu + meta raises"
# holds = "raised >= 1"
# where = 'torch >= "2.13" and torch < "2.15"'
# ///
