"""With a block size other than the file's, float8 weights load wrong and nothing is raised."""

import json
import logging
import tempfile
import warnings
from pathlib import Path

import torch
import torch.distributed.checkpoint as dcp
from safetensors.torch import save_file
from torch.distributed.checkpoint.quantized_hf_storage import QuantizedHuggingFaceStorageReader

warnings.filterwarnings("ignore", "torch.distributed is disabled")  # one process is meant
logging.disable(logging.ERROR)  # the reader logs a failure as well as raising it
BLOCK, ROWS, COLUMNS = 4, 8, 12
FILE = "model-00001-of-00001.safetensors"
torch.manual_seed(0)
weight = torch.randn(ROWS, COLUMNS)
# One scale for each block of 4 x 4, so that its largest number becomes the largest of float8.
blocks = weight.reshape(ROWS // BLOCK, BLOCK, COLUMNS // BLOCK, BLOCK)
scales = blocks.abs().amax(dim=(1, 3)) / torch.finfo(torch.float8_e4m3fn).max
low = (blocks / scales[:, None, :, None]).reshape(ROWS, COLUMNS).to(torch.float8_e4m3fn)
by_hand = low.float() * scales.repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1)

folder = Path(tempfile.mkdtemp())
tensors = {"layer.weight": low, "layer.weight_scale_inv": scales}
save_file(tensors, folder / FILE)
index = {"metadata": {}, "weight_map": dict.fromkeys(tensors, FILE)}
(folder / "model.safetensors.index.json").write_text(json.dumps(index))


def load(reader):
    """Return the weight that was read, or the exception: not an Exception, so name it."""
    state = {"layer.weight": torch.zeros(ROWS, COLUMNS)}
    try:
        dcp.load(state, storage_reader=reader)
    except dcp.api.CheckpointException as error:
        return error
    return state["layer.weight"]


print(f"cuda available {torch.cuda.is_available()}, stored blocks {BLOCK} x {BLOCK}")
print(f"{'reader':28}{'largest error':>14}  of the largest weight")
readers = {
    f"block_size={BLOCK}": QuantizedHuggingFaceStorageReader(str(folder), block_size=BLOCK),
    "default block_size": QuantizedHuggingFaceStorageReader(str(folder)),
    "block_size=2": QuantizedHuggingFaceStorageReader(str(folder), block_size=2),
    "plain reader": dcp.HuggingFaceStorageReader(str(folder)),
}
for name, reader in readers.items():
    found = load(reader)
    if isinstance(found, BaseException):
        kinds = ", ".join(kind.__name__ for kind in type(found).__mro__[:2])
        print(f"{name:28}{'raises':>14}  {kinds}")
        continue
    error = (found - weight).abs().max() / weight.abs().max()
    print(f"{name:28}{100 * error.item():12.1f} %  equals by hand {torch.allclose(found, by_hand)}")
print(f"default block_size: {readers['default block_size'].block_size}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10", "safetensors>=0.4"]
#
# [tool.capture]
# title = "A wrong block size loads in silence"
# upstream = ["torch.distributed.checkpoint.quantized_hf_storage.QuantizedHuggingFaceStorageReader"]
#
# [tool.capture.values]
# stored_block = 'stored blocks (\d+) x'
# default_block = '^default block_size: +(\d+)'
# right_error = '^block_size=4 +([\d.]+) %'
# right_same = '^block_size=4 .*by hand (\w+)'
# default_error = '^default block_size +([\d.]+) %'
# default_same = '^default block_size .*by hand (\w+)'
# too_small = '^block_size=2 +raises +(\w+),'
# base = '^block_size=2 +raises +\w+, (\w+)'
# plain_error = '^plain reader +([\d.]+) %'
#
# [tool.capture.claims.right-block-size]
# says  = "with the block size of the file the reader does what the formula does by hand"
# holds = 'right_same == "True" and right_error < 10'
#
# [tool.capture.claims.default-is-silently-wrong]
# says  = "with its default block size it returns wrong weights and raises nothing"
# holds = 'default_same == "False" and default_error > 10 * right_error'
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.refusal-is-no-exception]
# says  = "a block size smaller than the file's raises, and not a subclass of Exception"
# holds = 'base == "BaseException"'
# where = 'torch >= "2.13" and torch < "2.15"'
# ///
