"""Lets `python -m capture` work from a bare checkout."""

import sys
from pathlib import Path

# `-m` puts the current folder before all others, where a branch's own `yaml.py` would be taken for the library. It
# stays where this package lies in it, as in a checkout, which then brings the whole tool anyway.
if sys.path and sys.path[0] and Path(sys.path[0]).resolve() != Path(__file__).resolve().parents[1]:
    del sys.path[0]

from capture.cli import main  # behind what decides where it is taken from

if __name__ == "__main__":
    main()
