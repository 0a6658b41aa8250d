"""
Read a file that people name. Only a regular file is read, so that this neither blocks nor goes on for ever.

A mounted ConfigMap has symbolic links to regular files, which are followed.
"""

import errno
import os
import stat
from pathlib import Path


FLAGS = os.O_NONBLOCK | os.O_NOCTTY
"""O_NONBLOCK: to open a FIFO without a writer would otherwise block for ever (open(2))."""

NOT_REGULAR = "it is not a regular file"


def read_regular_file(path: Path, max_bytes: int) -> bytes:
    """Return at most *max_bytes* of a file. Raise OSError if there is no regular file."""
    # Path.open has no opener.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | FLAGS)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, NOT_REGULAR)
        return file.read(max_bytes)
