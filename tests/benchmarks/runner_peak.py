"""`capture` with another limit on what a snippet may print (0: the usual one); prints its own peak memory in bytes."""

from __future__ import annotations

import contextlib
import re
import resource
import sys
from pathlib import Path

from capture.cli import main
from capture.run.engine import fresh, streams


def peak() -> int:
    """Return the highest resident size of this process alone, in bytes."""
    with contextlib.suppress(OSError):  # Linux; what getrusage says there may be the parent's
        found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"), re.MULTILINE)
        if found:
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    limit = int(sys.argv.pop(1))
    if limit:
        fresh.OUTPUT_LIMIT = streams.OUTPUT_LIMIT = limit
    with contextlib.suppress(SystemExit):  # a snippet that is ended makes exit code 1
        main()
    print(peak())
