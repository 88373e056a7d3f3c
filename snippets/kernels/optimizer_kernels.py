"""Three implementations of Adam do the same arithmetic with very different numbers of calls."""

import torch
from torch.profiler import ProfilerActivity, profile

PARAMETERS = 20


def is_operator(event):
    return event is not None and event.name.startswith("aten::")


def one_step(**options):
    """Return the parameters and the operators that the second step runs."""
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(32, 32)) for _ in range(PARAMETERS)]
    optimizer = torch.optim.Adam(parameters, lr=0.1, **options)
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()  # the first step builds the state
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        optimizer.step()
    events = [event for event in recorded.events() if is_operator(event)]
    return torch.cat([parameter.detach().flatten() for parameter in parameters]), events


print(f"cuda available {torch.cuda.is_available()}, {PARAMETERS} parameters on cpu")
print(
    f"{'implementation':16}{'called by Python':>17}{'run in all':>12}{'per parameter':>15}  lists"
)
expected = None
for name, options in {
    "default": {},
    "for-loop": {"foreach": False},
    "foreach": {"foreach": True},
    "fused": {"fused": True},
}.items():
    values, events = one_step(**options)
    expected = values if expected is None else expected
    torch.testing.assert_close(values, expected)
    # An operator inside another one was called by C++; a list operator takes all parameters.
    outer = sum(not is_operator(event.cpu_parent) for event in events)
    lists = {event.name.removeprefix("aten::") for event in events}
    lists = sum(item.startswith(("_foreach", "_fused")) for item in lists)
    per_parameter = len(events) / PARAMETERS
    print(f"{name:16}{outer:17}{len(events):12}{per_parameter:15.1f}{lists:7}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.4"]
#
# [tool.capture]
# title = "Operators in one step of Adam"
# env = { KINETO_LOG_LEVEL = "99" }
# upstream = ["torch.optim.Adam"]
#
# [tool.capture.values]
# parameters = ', (\d+) parameters'
# default_outer = '^default +(\d+)'
# default_all = '^default +\d+ +(\d+)'
# loop_outer = '^for-loop +(\d+)'
# loop_all = '^for-loop +\d+ +(\d+)'
# loop_each = '^for-loop +\d+ +\d+ +([\d.]+)'
# foreach_outer = '^foreach +(\d+)'
# foreach_all = '^foreach +\d+ +(\d+)'
# foreach_lists = '^foreach .* (\d+)$'
# fused_outer = '^fused +(\d+)'
# fused_all = '^fused +\d+ +(\d+)'
# fused_each = '^fused +\d+ +\d+ +([\d.]+)'
# fused_lists = '^fused .* (\d+)$'
#
# [tool.capture.claims.cpu-default-is-the-loop]
# says  = "for CPU parameters the default is the for-loop"
# holds = "default_outer == loop_outer and default_all == loop_all"
#
# [tool.capture.claims.foreach-hides-the-loop]
# says  = "on a CPU foreach calls less from Python, yet runs almost as many operators as the loop"
# holds = "foreach_outer * 2 < loop_outer and foreach_all > 0.9 * loop_all"
# where = 'torch >= "2.13"'
#
# [tool.capture.claims.fused-runs-least]
# says  = "fused runs less than a third of the operators of the for-loop"
# holds = "fused_all * 3 < loop_all"
# ///
