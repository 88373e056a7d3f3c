"""The least that forking a script can cost: import torch once, then fork, exec and wait; no limits, no records."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import torch  # noqa: F401 - the children find it imported


def main(scripts: list[str]) -> int:
    """Run each script in a fork of this process, one after the other, and return how many failed."""
    failed = 0
    for script in scripts:
        pid = os.fork()
        if pid == 0:
            module = types.ModuleType("__main__")
            sys.modules["__main__"] = module
            exec(compile(Path(script).read_bytes(), script, "exec"), module.__dict__)
            sys.stdout.flush()
            os._exit(0)
        failed += os.waitpid(pid, 0)[1] != 0
    return failed


if __name__ == "__main__":
    failures = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(failures)
