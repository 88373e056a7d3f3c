"""Dynamic int8 makes a model almost four times smaller, and one large weight spoils it."""

import copy
import io
import re
import warnings

import torch
from torch import nn
from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 64)).eval()
rows = torch.randn(32, 256)


def stored_bytes(module):
    buffer = io.BytesIO()
    torch.save(module.state_dict(), buffer)
    return buffer.getbuffer().nbytes


def quantized(module, recipe=None):
    """Convert, and keep what the API says about its own future."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = quantize_dynamic(module, recipe or {nn.Linear}, dtype=torch.qint8)
    return result, caught


def error(module, recipe=None):
    """Return the largest error, in percent of the largest output."""
    with torch.inference_mode():
        exact, rounded = module(rows), quantized(module, recipe)[0](rows)
    return 100 * ((exact - rounded).abs().max() / exact.abs().max()).item()


small, said = quantized(model)
engine = torch.backends.quantized.engine
print(f"cuda available {torch.cuda.is_available()}, quantised engine {engine}")
kinds = sorted({warning.category.__name__ for warning in said})
removal = re.search(r"removed in (\d+\.\d+)", " ".join(str(warning.message) for warning in said))
print(f"warned         {', '.join(kinds) or 'nothing'}")
print(f"removal named  {removal[1] if removal else 'none'}, torch is {torch.__version__}")
print(f"float32        {stored_bytes(model) / 1e3:6.0f} kB")
print(f"int8           {stored_bytes(small) / 1e3:6.0f} kB")
print(f"smaller by     {stored_bytes(model) / stored_bytes(small):6.2f}x")
print(f"parameters     {len(list(small.parameters()))} of {len(list(model.parameters()))} are left")

outlier = copy.deepcopy(model)
with torch.no_grad():
    outlier[0].weight[0, 0] = 10.0  # one weight of 131072 sets the step of its whole layer
for name, module in (("random weights", model), ("one outlier", outlier)):
    step = quantized(module)[0][0].weight().q_scale()
    print(f"{name:16}step {step:.4f}, error {error(module):5.2f} % of the largest output")
by_row = error(outlier, {nn.Linear: per_channel_dynamic_qconfig})
print(f"{'one outlier':16}one step a row, error {by_row:5.2f} %")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Dynamic int8: size, error, one outlier"
# upstream = ["torch.ao.quantization.quantize_dynamic"]
#
# [tool.capture.values]
# cuda_available = '^cuda available (\w+)'
# engine = 'quantised engine (\w+)'
# warned = '^warned +(\S.*)'
# removal = '^removal named +([^,]+),'
# float_kb = '^float32 +(\d+) kB'
# int_kb = '^int8 +(\d+) kB'
# smaller = '^smaller by +([\d.]+)x'
# left = '^parameters +(\d+) of'
# plain_error = '^random weights .*error +([\d.]+) %'
# plain_step = '^random weights +step ([\d.]+)'
# outlier_error = '^one outlier +step .*error +([\d.]+) %'
# outlier_step = '^one outlier +step ([\d.]+)'
# by_row_error = 'one step a row, error +([\d.]+) %'
#
# [tool.capture.claims.almost-four-times-smaller]
# says  = "the stored model is almost four times smaller, and none of its parameters is left to train"
# holds = "smaller > 3.5 and smaller < 4 and left == 0"
#
# [tool.capture.claims.one-weight-spoils-the-layer]
# says  = "one large weight makes the error more than ten times larger; one step a row undoes most of it"
# holds = "outlier_error > 10 * plain_error and by_row_error * 5 < outlier_error"
# where = 'arch == "x86_64"'
# ///
