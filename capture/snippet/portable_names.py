"""Names of files and folders that every platform can check out; Windows refuses some, and a repository with one."""

from __future__ import annotations

import re

LONGEST = 100  # characters; with its folders, a suffix and a temporary name it stays below what file systems take
# Devices on Windows, in any spelling and with any extension: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\..*)?", re.IGNORECASE | re.DOTALL)
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"|?*\\]')


def why_not_portable(path: str) -> str:
    """Say why some platform cannot check out a file or folder of this name, or nothing; `/` parts folders."""
    return next((why for part in path.split("/") if (why := _why_not(part))), "")


def _why_not(name: str) -> str:
    """Say what is wrong with one part of a path, or nothing."""
    if len(name) > LONGEST:
        return f"is too long: {len(name)} characters, where {LONGEST} are the most that a name may have"
    if _DEVICE.fullmatch(name):
        device = name.partition(".")[0].strip()
        return f'cannot be checked out on Windows, where "{device}" is a device; choose another name'
    if name not in (".", "..") and name.endswith((".", " ")):
        return "cannot be checked out on Windows, which drops the dot or blank at its end; leave it out"
    if _FORBIDDEN.search(name):
        return 'cannot be checked out on Windows, which forbids control characters and < > : " | ? * in names'
    return ""
