"""Without a device only CUDA's autocast and scaler switch off; the others say they are on."""

import warnings

import torch

BACKENDS = ("cuda", "mps", "xpu", "xla", "cpu")
rows = torch.ones(4, 4)


def region(backend):
    with torch.autocast(backend, dtype=torch.bfloat16):
        return torch.is_autocast_enabled(backend), (rows @ rows).dtype


def scaled(backend):
    return torch.amp.GradScaler(backend).scale(torch.ones(())).item()


def tensor(backend):
    return torch.ones(1, device=backend).device.type


QUESTIONS = {
    "a tensor on it": tensor,
    "has a table": lambda backend: torch.amp.is_autocast_available(backend),
    "region is on": lambda backend: region(backend)[0],
    "CPU matmul in it": lambda backend: str(region(backend)[1]).removeprefix("torch."),
    "scaler is on": lambda backend: torch.amp.GradScaler(backend).is_enabled(),
    "a CPU 1.0 becomes": scaled,
}


def cell(call, backend):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call(backend)
        except Exception:
            return "raises"
    return str(answer) + ", warns" * bool(caught)


print(f"cuda available {torch.cuda.is_available()}, mps {torch.backends.mps.is_available()}")
print(f"{'question':19}" + "".join(f"{backend:17}" for backend in BACKENDS).rstrip())
for question, call in QUESTIONS.items():
    cells = "".join(f"{cell(call, backend):17}" for backend in BACKENDS)
    print(f"{question:19}{cells}".rstrip())

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Autocast and GradScaler by backend"
# upstream = ["torch.autocast", "torch.amp.GradScaler"]
#
# [tool.capture.values]
# cuda_available = '^cuda available (\w+)'
# tensor_cuda = '^a tensor on it +(\S.*?)(?:  |$)'
# tensor_mps = '^a tensor on it +(?:\S.*?  +){1}(\S.*?)(?:  |$)'
# tensor_xpu = '^a tensor on it +(?:\S.*?  +){2}(\S.*?)(?:  |$)'
# tensor_xla = '^a tensor on it +(?:\S.*?  +){3}(\S.*?)(?:  |$)'
# tensor_cpu = '^a tensor on it +(?:\S.*?  +){4}(\S.*?)(?:  |$)'
# table_cuda = '^has a table +(\S.*?)(?:  |$)'
# table_mps = '^has a table +(?:\S.*?  +){1}(\S.*?)(?:  |$)'
# table_xpu = '^has a table +(?:\S.*?  +){2}(\S.*?)(?:  |$)'
# table_xla = '^has a table +(?:\S.*?  +){3}(\S.*?)(?:  |$)'
# table_cpu = '^has a table +(?:\S.*?  +){4}(\S.*?)(?:  |$)'
# region_cuda = '^region is on +(\S.*?)(?:  |$)'
# region_mps = '^region is on +(?:\S.*?  +){1}(\S.*?)(?:  |$)'
# region_xpu = '^region is on +(?:\S.*?  +){2}(\S.*?)(?:  |$)'
# region_xla = '^region is on +(?:\S.*?  +){3}(\S.*?)(?:  |$)'
# region_cpu = '^region is on +(?:\S.*?  +){4}(\S.*?)(?:  |$)'
# matmul_cuda = '^CPU matmul in it +(\S.*?)(?:  |$)'
# matmul_mps = '^CPU matmul in it +(?:\S.*?  +){1}(\S.*?)(?:  |$)'
# matmul_xpu = '^CPU matmul in it +(?:\S.*?  +){2}(\S.*?)(?:  |$)'
# matmul_xla = '^CPU matmul in it +(?:\S.*?  +){3}(\S.*?)(?:  |$)'
# matmul_cpu = '^CPU matmul in it +(?:\S.*?  +){4}(\S.*?)(?:  |$)'
# scaler_cuda = '^scaler is on +(\S.*?)(?:  |$)'
# scaler_mps = '^scaler is on +(?:\S.*?  +){1}(\S.*?)(?:  |$)'
# scaler_xpu = '^scaler is on +(?:\S.*?  +){2}(\S.*?)(?:  |$)'
# scaler_xla = '^scaler is on +(?:\S.*?  +){3}(\S.*?)(?:  |$)'
# scaler_cpu = '^scaler is on +(?:\S.*?  +){4}(\S.*?)(?:  |$)'
# scaled_cuda = '^a CPU 1\.0 becomes +(\S.*?)(?:  |$)'
# scaled_mps = '^a CPU 1\.0 becomes +(?:\S.*?  +){1}(\S.*?)(?:  |$)'
# scaled_xpu = '^a CPU 1\.0 becomes +(?:\S.*?  +){2}(\S.*?)(?:  |$)'
# scaled_xla = '^a CPU 1\.0 becomes +(?:\S.*?  +){3}(\S.*?)(?:  |$)'
# scaled_cpu = '^a CPU 1\.0 becomes +(?:\S.*?  +){4}(\S.*?)(?:  |$)'
#
# [tool.capture.claims.cuda-switches-off]
# says  = "without a device cuda's autocast region and scaler switch off and warn"
# holds = 'region_cuda == "False, warns" and scaler_cuda == region_cuda'
# where = 'not gate.cuda and not gate.rocm'
#
# [tool.capture.claims.others-say-they-are-on]
# says  = "without a device the regions and scalers of mps and xpu say they are on"
# holds = 'region_mps == "True" and region_xpu == region_mps and scaler_mps == region_mps and scaler_xpu == region_mps'
# where = 'not gate.mps and not gate.xpu'
#
# [tool.capture.claims.a-foreign-region-casts-nothing]
# says  = "a region of another backend leaves a product on the CPU in float32"
# holds = 'matmul_mps == "float32" and matmul_xpu == "float32" and matmul_xla == "float32"'
#
# [tool.capture.claims.a-foreign-scaler-scales]
# says  = "a scaler made for mps scales a CPU tensor"
# holds = 'scaled_mps > 1'
# ///
