"""Lets `python -m capture` work from a bare checkout."""

from capture.cli import main

if __name__ == "__main__":
    main()
