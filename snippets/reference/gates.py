"""For each backend: whether torch has it built in, whether it is available, and a tensor on it."""

import importlib.util

import torch

BACKENDS = ("cuda", "mps", "xpu", "xla", "cpu")


def ask(call):
    """Return an answer in one word, or that the call refuses."""
    try:
        return str(call())
    except Exception as error:
        return f"raises {type(error).__name__}"


def module(name):
    return getattr(torch, name, None)


built = {
    "cuda": lambda: torch.version.cuda is not None,
    "mps": torch.backends.mps.is_built,
    "xpu": lambda: torch.xpu._is_compiled(),
    "xla": lambda: importlib.util.find_spec("torch_xla") is not None,
    "cpu": lambda: True,
}
print(f"{'backend':9}{'module':9}{'built':8}{'available':11}{'devices':9}a tensor on it")
for name in BACKENDS:
    found = module(name)
    cells = [
        "yes" if found else "none",
        ask(built[name]),
        ask(lambda found=found: found.is_available()) if found else "-",
        ask(lambda found=found: found.device_count()) if found else "-",
        ask(lambda name=name: torch.ones(1, device=name).device.type),
    ]
    row = "".join(f"{cell:{width}}" for cell, width in zip(cells, (9, 8, 11, 9, 0), strict=True))
    print(f"{name:9}{row}")

generic = torch.accelerator
current = generic.current_accelerator()
checked = generic.current_accelerator(check_available=True)
print(f"torch.accelerator available       {generic.is_available()}")
print(f"current_accelerator()             {current}")
print(f"current_accelerator(check=True)   {checked}")
try:
    import torch_xla

    print(f"torch_xla                         {torch_xla.__version__}")
except ImportError as error:
    print(f"torch_xla                         {type(error).__name__}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "The gate of each backend"
# upstream = ["torch.accelerator.current_accelerator", "torch.cuda.is_available"]
#
# [tool.capture.values]
# cuda_module = '^cuda +(\S+)'
# cuda_built = '^cuda +(?:\S+ +){1}(\S+)'
# cuda_available = '^cuda +(?:\S+ +){2}(\S+)'
# cuda_devices = '^cuda +(?:\S+ +){3}(\S+)'
# cuda_tensor = '^cuda +(?:\S+ +){4}(\S.*)'
# mps_module = '^mps +(\S+)'
# mps_built = '^mps +(?:\S+ +){1}(\S+)'
# mps_available = '^mps +(?:\S+ +){2}(\S+)'
# mps_devices = '^mps +(?:\S+ +){3}(\S+)'
# mps_tensor = '^mps +(?:\S+ +){4}(\S.*)'
# xpu_module = '^xpu +(\S+)'
# xpu_built = '^xpu +(?:\S+ +){1}(\S+)'
# xpu_available = '^xpu +(?:\S+ +){2}(\S+)'
# xpu_devices = '^xpu +(?:\S+ +){3}(\S+)'
# xpu_tensor = '^xpu +(?:\S+ +){4}(\S.*)'
# xla_module = '^xla +(\S+)'
# xla_built = '^xla +(?:\S+ +){1}(\S+)'
# xla_available = '^xla +(?:\S+ +){2}(\S+)'
# xla_devices = '^xla +(?:\S+ +){3}(\S+)'
# xla_tensor = '^xla +(?:\S+ +){4}(\S.*)'
# cpu_module = '^cpu +(\S+)'
# cpu_built = '^cpu +(?:\S+ +){1}(\S+)'
# cpu_available = '^cpu +(?:\S+ +){2}(\S+)'
# cpu_devices = '^cpu +(?:\S+ +){3}(\S+)'
# cpu_tensor = '^cpu +(?:\S+ +){4}(\S.*)'
# accelerator_available = '^torch\.accelerator available +(\w+)'
# current = '^current_accelerator\(\) +(\w+)'
# current_checked = '^current_accelerator\(check=True\) +(\w+)'
# torch_xla = '^torch_xla +(\S+)'
#
# [tool.capture.claims.no-device-no-tensor]
# says  = "a backend that is not available refuses to make a tensor"
# holds = 'cuda_available == "False" and cuda_tensor != "cuda" and mps_tensor != "mps" and xpu_tensor != "xpu"'
# where = 'not gate.cuda and not gate.rocm and not gate.mps and not gate.xpu'
#
# [tool.capture.claims.xla-is-another-package]
# says  = "torch has no module for xla, whether or not torch_xla is installed"
# holds = 'xla_module == "none"'
#
# [tool.capture.claims.current-without-check]
# says  = "a CUDA build without a device names cuda as its current accelerator, unless asked to check"
# holds = 'current == "cuda" and current_checked == "None"'
# where = 'build == "cuda" and not gate.cuda'
# ///
