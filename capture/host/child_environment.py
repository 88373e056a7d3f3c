"""The environment of a child process: an allow-list of what is inherited, and pins that make output stable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# What decides which devices PJRT drives behind torch_xla, how it sees them, and how XLA compiles: each changes results,
# so that records keep it. Folders and the names of other machines are none of these.
XLA_SETTINGS = frozenset(
    [
        "PJRT_DEVICE",
        "PJRT_LOCAL_PROCESS_COUNT",
        "CPU_NUM_DEVICES",
        "GPU_NUM_DEVICES",
        "TPU_NUM_DEVICES",
        "NEURON_NUM_DEVICES",
        "TPU_VISIBLE_CHIPS",
        "TPU_VISIBLE_DEVICES",
        "TPU_CHIPS_PER_PROCESS_BOUNDS",
        "TPU_CHIPS_PER_HOST_BOUNDS",
        "TPU_PROCESS_BOUNDS",
        "TPU_ACCELERATOR_TYPE",
        "NEURON_RT_NUM_CORES",
        "NEURON_RT_VISIBLE_CORES",
        "XLA_FLAGS",
        "LIBTPU_INIT_ARGS",
        "XLA_USE_SPMD",
        "XLA_USE_BF16",
        "XLA_DOWNCAST_BF16",
        "XLA_USE_EAGER_DEBUG_MODE",
        "XLA_DISABLE_FUNCTIONALIZATION",
        "XLA_NO_SPECIAL_SCALARS",
    ]
)
# What decides where libraries and devices are found, and how many threads compute. Nothing else is passed on, so
# that no token can be printed; see PINS for what is set instead.
ALLOWED = (
    frozenset(
        [
            "PATH",
            "LD_LIBRARY_PATH",
            "DYLD_LIBRARY_PATH",
            "DYLD_FALLBACK_LIBRARY_PATH",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "CUDA_VISIBLE_DEVICES",
            "CUDA_DEVICE_ORDER",
            "CUDA_HOME",
            "CUDA_PATH",
            "CUDA_MODULE_LOADING",
            "NVIDIA_VISIBLE_DEVICES",
            "NVIDIA_DRIVER_CAPABILITIES",
            "HIP_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES",
            "ROCM_PATH",
            "ROCM_HOME",
            "HSA_OVERRIDE_GFX_VERSION",
            "ZE_AFFINITY_MASK",
            "ONEAPI_DEVICE_SELECTOR",
            "TPU_LIBRARY_PATH",
            "OMP_NUM_THREADS",
            "MKL_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "OPENBLAS_CORETYPE",
            "OPENBLAS_L2_SIZE",
            "SYSTEMROOT",
            "SYSTEMDRIVE",
            "WINDIR",
            "COMSPEC",
            "PATHEXT",
            "PROCESSOR_ARCHITECTURE",
            "PROCESSOR_IDENTIFIER",
            "NUMBER_OF_PROCESSORS",
            "CC",
            "CXX",
            "INCLUDE",
            "LIB",
            "LIBPATH",
            "SDKROOT",
        ]
    )
    | XLA_SETTINGS
)
# PYTHONUNBUFFERED keeps what was printed before a hard exit; the rest makes text the same wherever it is captured.
PINS: Mapping[str, str] = {
    "COLUMNS": "80",
    "LINES": "24",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "PYTHON_COLORS": "0",
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8",
    "PYTHONNOUSERSITE": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTHONUTF8": "1",
    "TERM": "dumb",
    "TZ": "UTC",
    "LOGNAME": "user",
    "USER": "user",
    "USERNAME": "user",
}


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what a child inherits of an environment."""
    return {name: value for name, value in environ.items() if name.upper() in ALLOWED}


def xla_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return of an environment what decides how PJRT and XLA compute, sorted by name."""
    return {name: value for name, value in sorted(environ.items()) if name in XLA_SETTINGS and value}


def of_snippet(
    environ: Mapping[str, str], own: Mapping[str, str], home: Path, temporary: Path, compiled: Path | None = None
) -> dict[str, str]:
    """Return the whole environment of a snippet: inherited, pinned, private folders, then what it sets for itself.

    `compiled` is the folder for what it compiles, where that is not to be gone with the temporary one.
    """
    folders = {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "TMPDIR": str(temporary),
        "TEMP": str(temporary),
        "TMP": str(temporary),
        "TORCHINDUCTOR_CACHE_DIR": str((compiled or temporary) / "inductor"),
        "TRITON_CACHE_DIR": str((compiled or temporary) / "triton"),
    }
    return inherited(environ) | dict(PINS) | folders | dict(own)
