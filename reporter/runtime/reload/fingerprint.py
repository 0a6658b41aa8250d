"""
Find out whether a file has changed, also one that is mounted from a ConfigMap.

The kubelet replaces the symbolic link ``..data`` to a folder (kubernetes/pkg/volume/util/atomic_writer.go),
so the file is another one, while its path stays.
"""

from pathlib import Path
from typing import TypeAlias


Fingerprint: TypeAlias = tuple[object, ...]


def read_fingerprint(path: Path) -> Fingerprint:
    """Return what is another value if the file has changed, is missing, or is there again."""
    try:
        found = path.stat()
    except OSError as err:
        return ("missing", err.errno)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
