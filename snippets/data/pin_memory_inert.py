"""pin_memory=True without an accelerator is accepted, warned about once and does nothing."""

import textwrap
import threading
import warnings

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
dataset = TensorDataset(torch.arange(8.0))


def load(pin):
    """One epoch: are the batches pinned, does a thread pin them, what was warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        iterator = iter(DataLoader(dataset, batch_size=4, num_workers=1, pin_memory=pin))
        threads = [thread.name for thread in threading.enumerate()]
        batches = [batch for (batch,) in iterator]
    assert torch.equal(torch.cat(batches), dataset.tensors[0])
    pinned = all(batch.is_pinned() for batch in batches)
    return pinned, any("_pin_memory_loop" in name for name in threads), caught


def answer(call):
    try:
        return f"pinned {call().is_pinned()}"
    except Exception as error:
        first = str(error).partition("\n")[0].partition(". ")[0]
        return f"{type(error).__name__}: {textwrap.shorten(first, 52, placeholder=' ...')}"


if __name__ == "__main__":
    print(f"cuda available {torch.cuda.is_available()}, built for CUDA {torch.version.cuda}")
    for pin in (False, True):
        pinned, thread, caught = load(pin)
        row = f"batches pinned {pinned!s:6s}pinning thread {thread!s:6s}warnings {len(caught)}"
        print(f"DataLoader, pin_memory={pin!s:6s}{row}")
        for warning in caught:
            message = textwrap.shorten(str(warning.message), 68, placeholder=" ...")
            print(f"  {warning.category.__name__}: {message}")
    print(f"tensor.pin_memory()     {answer(lambda: torch.ones(2).pin_memory())}")
    print(f"empty(pin_memory=True)  {answer(lambda: torch.empty(2, pin_memory=True))}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "pin_memory where there is nothing to pin for"
# upstream = ["torch.utils.data.DataLoader"]
#
# [tool.capture.values]
# pinned = '^DataLoader, pin_memory=True +batches pinned (\w+)'
# thread = '^DataLoader, pin_memory=True .*thread (\w+)'
# warnings_plain = '^DataLoader, pin_memory=False .*warnings (\d+)'
# warnings = '^DataLoader, pin_memory=True .*warnings (\d+)'
# tensor = '^tensor.pin_memory\(\) +(.+)$'
# tensor_type = '^tensor.pin_memory\(\) +(\w+)'
# empty_type = '^empty\(pin_memory=True\) +(\w+)'
#
# [tool.capture.claims.the-loader-goes-on]
# says  = "without an accelerator the loader warns once, pins nothing and starts no pinning thread"
# holds = 'pinned == "False" and thread == "False" and warnings == 1'
# where = 'build != "rocm" and not gate.cuda and not gate.mps and not gate.xpu and torch >= "2.6"'
#
# [tool.capture.claims.the-tensor-refuses]
# says  = "without an accelerator pinning a tensor directly raises a RuntimeError"
# holds = 'tensor_type == "RuntimeError" and empty_type == "RuntimeError"'
# where = 'build != "rocm" and not gate.cuda and not gate.mps and not gate.xpu and torch >= "2.13"'
#
# [tool.capture.claims.cuda-pins]
# says  = "with CUDA the batches are pinned, by a thread, without a warning"
# holds = 'pinned == "True" and thread == "True" and warnings == 0'
# where = "gate.cuda"
# ///
