"""Read a file that may be anything: a pipe that nobody writes to, a device without end, a hole of some terabytes."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

NOT_REGULAR = "is no regular file; remove it"


def read_regular(path: Path, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes; anything else is not even opened.

    Raises OSError: EINVAL, with `NOT_REGULAR`, for what is no regular file, and EFBIG for a larger one.
    """
    try:
        status = path.stat()
    except ValueError as error:  # a name with a NUL
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, NOT_REGULAR)
    if status.st_size > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return path.read_bytes()
