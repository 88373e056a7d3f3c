"""A device of one's own in plain Python: copies and one kernel are enough to add on it."""

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("toy")  # the name, Tensor.toy(), torch.toy, a device guard


class ToyTensor(torch.Tensor):  # the memory of the device is a CPU tensor that nobody else sees
    def __new__(cls, memory):
        empty = torch._C._acc.create_empty_tensor(tuple(memory.shape), memory.dtype)
        empty.__class__ = cls
        empty.memory = memory
        return empty


def kernel(name):
    return lambda function: torch.library.impl(f"aten::{name}", "privateuseone", function)


@kernel("empty_strided")
def allocate_strided(size, stride, dtype=None, **options):
    return ToyTensor(torch.empty_strided(size, stride, dtype=dtype))


@kernel("empty.memory_format")
def allocate(size, dtype=None, **options):
    return ToyTensor(torch.empty(size, dtype=dtype))


@kernel("_copy_from")
def copy(source, target, non_blocking=False):
    memory = [tensor.memory if tensor.is_toy else tensor for tensor in (source, target)]
    memory[1].copy_(memory[0])
    return target


@kernel("add.Tensor")
def add(a, b, *, alpha=1):
    return ToyTensor(torch.add(a.memory, b.memory, alpha=alpha))


def attempt(call):
    try:
        return str(call())
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(' with ')[0]}"


torch.manual_seed(0)
host = torch.tensor([1.0, 2.0, 4.0])
x = host.to("toy")
y = (x + x).cpu()
assert (y == host + host).all()
print(f"device of x: {x.device}, type {type(x).__name__}")
print(f"x + x, copied back: {y.tolist()}")
print(f"a Linear's weight after .to('toy'): {torch.nn.Linear(2, 2).to('toy').weight.device}")
print(f"x * x: {attempt(lambda: (x * x).device)}")
print(f"ones(2, device='toy'): {attempt(lambda: torch.ones(2, device='toy'))}")
print(f"torch.accelerator.current_accelerator(): {attempt(torch.accelerator.current_accelerator)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13"]
#
# [tool.capture]
# title = "A toy device in Python"
#
# [tool.capture.values]
# device = '^device of x: ([\w:]+),'
# sum = 'copied back: (\[.+\])'
# weight = "after .to\\('toy'\\): (\\S+)"
# product = '^x \* x: (\w+)'
# product_message = "^x \\* x: \\w+: (.+)"
# ones = "device='toy'\\): (\\w+)"
# accelerator = 'current_accelerator\(\): (\S+)'
#
# [tool.capture.claims.copies-and-one-kernel]
# says  = "with copies and one kernel a tensor and a model move to the device, and a sum comes back"
# holds = 'device == "toy:0" and weight == "toy:0" and sum == "[2.0, 4.0, 8.0]"'
#
# [tool.capture.claims.no-kernel-no-answer]
# says  = "an operator without a kernel raises NotImplementedError"
# holds = 'product == "NotImplementedError" and ones == product'
# ///
