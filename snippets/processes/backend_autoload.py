"""`import torch` runs each installed package with an entry point in torch.backends, if allowed."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

# What pip would install: a package, and a folder that names its entry point.
PACKAGE = """
def autoload():
    import torch
    from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
    _setup_privateuseone_for_python_backend("toy")
"""
TORCH_FIRST = "import torch\n" + PACKAGE
USE = "import sys, torch"
USE += "; print('torch_toy' in sys.modules, torch._C._get_privateuse1_backend_name())"
FIRST = f"import torch_toy; {USE}"
BY_HAND = f"import torch, torch_toy; torch_toy.autoload(); {USE}"
SWITCH = "TORCH_DEVICE_BACKEND_AUTOLOAD"
rows = {
    "installed": (PACKAGE, "autoload", USE, None),
    f"{SWITCH}=0": (PACKAGE, "autoload", USE, "0"),
    f"{SWITCH}=true": (PACKAGE, "autoload", USE, "true"),
    "switched off, then called by hand": (PACKAGE, "autoload", BY_HAND, "0"),
    "entry point names no function": (PACKAGE, "missing", USE, None),
    "the same, switched off": (PACKAGE, "missing", USE, "0"),
    "user imports torch_toy first": (PACKAGE, "autoload", FIRST, None),
    "and torch_toy imports torch at its top": (TORCH_FIRST, "autoload", FIRST, None),
}
print(f"{'case':40s}{'loaded':8s}device name")
for case, (package, function, user, switch) in rows.items():
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        (site / "torch_toy.py").write_text(package)
        info = site / "torch_toy-0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-toy\nVersion: 0.1\n")
        (info / "entry_points.txt").write_text(f"[torch.backends]\ntoy = torch_toy:{function}\n")
        paths = os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH"))))
        environment = os.environ | {"PYTHONPATH": paths} | ({SWITCH: switch} if switch else {})
        command = [sys.executable, "-B", "-c", user]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    answer = done.stdout.split() or ["-", done.stderr.strip().splitlines()[-1].partition(". ")[0]]
    print(f"{case:40s}{answer[0]:8s}{answer[1]}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13"]
#
# [tool.capture]
# title = "A backend that import torch loads"
# upstream = ["torch.utils.rename_privateuse1_backend"]
#
# [tool.capture.values]
# installed = '^installed +\w+ +(.+)'
# zero_loaded = '^TORCH_DEVICE_BACKEND_AUTOLOAD=0 +(\w+)'
# zero = '^TORCH_DEVICE_BACKEND_AUTOLOAD=0 +\w+ +(.+)'
# word_loaded = '^TORCH_DEVICE_BACKEND_AUTOLOAD=true +(\w+)'
# by_hand = '^switched off, then called by hand +\w+ +(.+)'
# broken = '^entry point names no function +\S+ +(.+)'
# broken_type = '^entry point names no function +\S+ +(\w+)'
# broken_off = '^the same, switched off +\w+ +(.+)'
# first = '^user imports torch_toy first +\w+ +(.+)'
# first_at_top = '^and torch_toy imports torch at its top +\S+ +(\w+)'
#
# [tool.capture.claims.the-import-runs-it]
# says  = "import torch runs the entry point of an installed package"
# holds = 'installed == "toy"'
#
# [tool.capture.claims.only-1-leaves-it-on]
# says  = "the variable switches it off with 0, and with the word true as well"
# holds = 'zero_loaded == "False" and word_loaded == "False"'
#
# [tool.capture.claims.a-broken-one-stops-torch]
# says  = "a broken entry point makes import torch fail, unless it is switched off"
# holds = 'broken_type == "RuntimeError" and broken_off == "privateuseone"'
#
# [tool.capture.claims.no-torch-at-the-top]
# says  = "a package that imports torch at its top fails when it is imported first"
# holds = 'first == "toy" and first_at_top == "RuntimeError"'
# ///
