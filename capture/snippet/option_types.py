"""The forms that header options may take, as yes-or-no questions about parsed TOML values."""

from __future__ import annotations

import re
import sys
from typing import TypeGuard

from capture import characters, version_numbers
from capture.snippet.snippet import MASKS, PRELOADS, parse_pin

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_line(value: object) -> bool:
    """Tell whether this is one non-empty line of text."""
    return (
        isinstance(value, str)
        and bool(value.strip())
        and not any(pattern.search(value) for pattern in (characters.CONTROL, characters.BIDI))
        and "\n" not in value
        and "\t" not in value
    )


def is_table(value: object) -> bool:
    """Tell whether this is a table."""
    return isinstance(value, dict)


def is_texts(value: object) -> bool:
    """Tell whether this is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_dotted_names(value: object) -> bool:
    """Tell whether this is a list of names such as `torch.nn.functional.linear`."""
    return isinstance(value, list) and all(isinstance(item, str) and _DOTTED.fullmatch(item) for item in value)


def is_masks(value: object) -> bool:
    """Tell whether this is a list of what is masked in stored text."""
    return isinstance(value, list) and all(item in MASKS for item in value)


def is_seed(value: object) -> bool:
    """Tell whether this is a number that seeds Python, NumPy and torch alike."""
    return type(value) is int and 0 <= value < 1 << 32


def is_preloads(value: object) -> bool:
    """Tell whether this is a list of modules that a forked server can import ahead."""
    return isinstance(value, list) and all(item in PRELOADS for item in value)


def is_exit_code(value: object) -> bool:
    """Tell whether this is an exit code."""
    return type(value) is int and 0 <= value <= 255


def is_timeout(value: object) -> bool:
    """Tell whether this is a number of seconds, an hour at most."""
    return is_number(value) and 0 < value <= 3600


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether this is a number, no bool, and no larger than the largest float."""
    return isinstance(value, int | float) and type(value) is not bool and abs(value) <= sys.float_info.max


def is_numbers(value: object, least: float) -> bool:
    """Tell whether this is a table of numbers, none below `least`."""
    return isinstance(value, dict) and all(is_number(item) and item >= least for item in value.values())


def is_env(value: object) -> bool:
    """Tell whether this is a table of environment names to text."""
    return isinstance(value, dict) and all(
        _ENV_NAME.fullmatch(name) and isinstance(item, str) and "\0" not in item for name, item in value.items()
    )


def is_pins(value: object) -> bool:
    """Tell whether this is a list of dependencies."""
    return isinstance(value, list) and all(isinstance(item, str) and parse_pin(item) for item in value)


def is_range(value: object) -> bool:
    """Tell whether this is a comma-separated list of version clauses."""
    return isinstance(value, str) and version_numbers.is_range(value)
