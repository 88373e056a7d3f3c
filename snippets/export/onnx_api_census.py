"""The TorchScript exporter moved: which of its public names are offered, only left, or gone."""

import importlib
import inspect
import logging
import pathlib
import tempfile
import warnings

import torch

# It logs a line for each torchvision operator when torchvision is missing.
logging.getLogger("torch.onnx._internal.exporter._registration").setLevel(logging.ERROR)
names = {
    "torch.onnx": "export ONNXProgram is_in_onnx_export OperatorExportTypes TrainingMode "
    "register_custom_op_symbolic select_model_mode_for_export dynamo_export ExportOptions "
    "ExportOutput enable_fake_mode",
    "torch.onnx.utils": "export model_signature unconvertible_ops export_to_pretty_string",
    "torch.onnx.symbolic_helper": "parse_args quantized_args",
    "torch.onnx.verification": "verify_onnx_program VerificationInfo find_mismatch verify "
    "verify_aten_graph GraphInfo VerificationOptions check_export_model_diff",
}
kinds = {"offered": 0, "left": 0, "gone": 0}  # in __all__; there, but not in it; not there
for module_name, members in names.items():
    module = importlib.import_module(module_name)
    print(module_name)
    for kind in kinds:
        found = []
        for member in members.split():
            there = hasattr(module, member)
            if kind == ("gone" if not there else "offered" if member in module.__all__ else "left"):
                found.append(member)
        kinds[kind] += len(found)
        for member in found:
            print(f"  {kind:9}{member}")
for kind, count in kinds.items():
    print(f"{kind:9}{count:4d}")

default = inspect.signature(torch.onnx.export).parameters["dynamo"].default
home = torch.onnx.utils.export.__module__.rpartition(".")[0]
print(f"export(dynamo=...) defaults to {default}")
print(f"torch.onnx.utils.export lives in {home}")
torch.manual_seed(0)
model = torch.nn.Linear(4, 2).eval()
folder = tempfile.TemporaryDirectory()
path = pathlib.Path(folder.name) / "model.onnx"
for dynamo in (True, False):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.onnx.export(model, (torch.ones(8, 4),), path, dynamo=dynamo, verbose=False)
    deprecated = sum(issubclass(item.category, DeprecationWarning) for item in caught)
    print(f"export(dynamo={dynamo}): deprecation warnings {deprecated}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10", "numpy", "onnx>=1.18", "onnxscript>=0.5"]
#
# [tool.capture]
# title = "Which ONNX names are offered, left, or gone"
# upstream = ["torch.onnx.export"]
#
# [tool.capture.values]
# offered = '^offered +(\d+)'
# left = '^left +(\d+)'
# gone = '^gone +(\d+)'
# default = 'defaults to (\w+)'
# home = 'lives in (\S+)'
# new_warnings = '^export\(dynamo=True\): deprecation warnings (\d+)'
# old_warnings = '^export\(dynamo=False\): deprecation warnings (\d+)'
#
# [tool.capture.claims.old-path-is-deprecated]
# says = "torch.onnx.export takes the new exporter by default; the old one works and warns"
# holds = 'default == "True" and new_warnings == 0 and old_warnings > 0'
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.most-names-are-not-offered]
# says = "of the names checked more are gone than offered"
# holds = "gone > offered"
# where = 'torch >= "2.13"'
# ///
