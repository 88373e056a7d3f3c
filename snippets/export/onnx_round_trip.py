"""An ONNX file carries the name of a size that varies, and no range: run it beside the program."""

import logging
import warnings

import torch
from onnx.reference import ReferenceEvaluator
from torch.export import Dim

# It logs a line for each torchvision operator when torchvision is missing.
logging.getLogger("torch.onnx._internal.exporter._registration").setLevel(logging.ERROR)
# The exporter of torch 2.13 uses a call that torch 2.13 itself deprecates.
warnings.filterwarnings("ignore", message=".*LeafSpec", category=FutureWarning)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU()).eval()
example = torch.randn(8, 4)


def in_torch(program, rows):
    return program.module()(rows)


def in_onnx(evaluator, rows):
    name = evaluator.input_names[0]
    return torch.from_numpy(evaluator.run(None, {name: rows.numpy()})[0])


def answers(run, program):
    """Run three sizes, and compare what is not refused with the model itself."""
    found = []
    for size in (8, 3, 100):
        rows = torch.randn(size, 4)
        try:
            result = run(program, rows)
        except Exception:
            found.append("refused")
            continue
        torch.testing.assert_close(result, model(rows))
        found.append("ok")
    return "".join(f"{answer:9}" for answer in found).rstrip()


ways = {"nothing said": None, "batch, 2 to 64": {0: Dim("batch", min=2, max=64)}}
print(f"{'dimension 0':16}{'runs in':11}{'declared':10}{'8':9}{'3':9}100")
for name, dimension in ways.items():
    shapes = (dimension,)
    program = torch.export.export(model, (example,), dynamic_shapes=shapes)
    exported = torch.onnx.export(
        model, (example,), dynamic_shapes=shapes, dynamo=True, verbose=False
    )
    size = exported.model_proto.graph.input[0].type.tensor_type.shape.dim[0]
    evaluator = ReferenceEvaluator(exported.model_proto)
    bounds = [f"{found.lower}-{found.upper}" for found in program.range_constraints.values()]
    print(f"{name:16}{'torch':11}{(bounds or ['8'])[0]:10}{answers(in_torch, program)}")
    declared = size.dim_param or str(size.dim_value)
    print(f"{name:16}{'reference':11}{declared:10}{answers(in_onnx, evaluator)}")
print(f"operators       {', '.join(node.op_type for node in exported.model_proto.graph.node)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10", "numpy", "onnx>=1.18", "onnxscript>=0.5"]
#
# [tool.capture]
# title = "A size and its range, before and after ONNX"
# needs = ["compile"]
# upstream = ["torch.onnx.export", "torch.export.export"]
#
# [tool.capture.values]
# fixed_declared = '^nothing said +reference +(\w+)'
# fixed_torch_three = '^nothing said +torch +\w+ +ok +(\w+)'
# fixed_onnx_three = '^nothing said +reference +\w+ +ok +(\w+)'
# range_torch = '^batch, 2 to 64 +torch +(\S+)'
# range_declared = '^batch, 2 to 64 +reference +(\w+)'
# range_torch_hundred = '^batch, 2 to 64 +torch .* (\w+)$'
# range_onnx_hundred = '^batch, 2 to 64 +reference .* (\w+)$'
# operators = '^operators +(.*)$'
#
# [tool.capture.claims.the-range-is-lost]
# says = "the program refuses a size beyond its range, the ONNX model declares a name and takes it"
# holds = 'range_torch_hundred == "refused" and range_onnx_hundred == "ok" and range_declared == "batch"'
#
# [tool.capture.claims.the-reference-does-not-check]
# says = "onnx's reference evaluator takes a size other than the declared one"
# holds = 'fixed_torch_three == "refused" and fixed_onnx_three == "ok"'
# ///
