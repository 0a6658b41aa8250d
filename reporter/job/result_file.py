"""Look at the result file, whatever it is. A look never blocks and reads 1 MiB at most."""

import os
import stat
from pathlib import Path

from reporter.job import result


MAX_FILE_BYTES = 2**20

OPEN_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
"""
O_NONBLOCK: to open a FIFO without a writer would otherwise block for ever (open(2)).
O_NOFOLLOW: a symbolic link is followed only once it is known where it leads.
"""


class UnreadableError(Exception):
    """Raised if there is something at the path, but no file that can be read."""


def read_result(path: str) -> result.FileObservation:
    """
    Return the result at *path*. NoFile only if there is nothing; InvalidResult for all that is no result.
    """
    try:
        found = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return result.NoFile()
    except OSError as err:
        why = f"failed to stat result file path={path}: stat {path}: {_text(err)}"
        return result.InvalidResult(why)
    identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    try:
        return result.parse_result(_read(path))
    except FileNotFoundError:
        return result.NoFile()
    except (UnreadableError, result.ResultFormatError) as err:
        return result.InvalidResult(str(err), identity)


def _read(path: str) -> bytes:
    """Return the bytes of a regular file. Raise FileNotFoundError if it is gone by now."""
    try:
        handle = _open(path)
    except FileNotFoundError:
        raise
    except OSError as err:
        why = f"failed to read result file path={path}: open {path}: {_text(err)}"
        raise UnreadableError(why) from err
    try:
        return _read_regular(handle, path)
    except OSError as err:
        why = f"failed to read result file path={path}: read {path}: {_text(err)}"
        raise UnreadableError(why) from err
    finally:
        os.close(handle)


def _open(path: str) -> int:
    """
    Open the file, or what a symbolic link inside of its folder names.

    Adapters that write a new file for each run link to the last one. A link that leads out of the
    folder could name any file of the sidecar's container, such as its token: it is refused.
    """
    if not Path(path).is_symlink():
        return os.open(path, OPEN_FLAGS)
    folder, target = Path(path).parent.resolve(strict=True), Path(path).resolve(strict=True)
    if not target.is_relative_to(folder):
        raise UnreadableError(f"result file is a link that leads out of its folder: path={path}")
    return os.open(target, OPEN_FLAGS)


def _read_regular(handle: int, path: str) -> bytes:
    found = os.fstat(handle)
    if stat.S_ISREG(found.st_mode):
        if found.st_size == 0:
            raise UnreadableError(f"result file is empty: path={path}")
        _check_size(found.st_size, path)
    elif not stat.S_ISDIR(found.st_mode):
        # A directory fails below with the error that the text then has.
        raise UnreadableError(f"result file is not a regular file: path={path}")
    with os.fdopen(handle, "rb", closefd=False) as file:
        raw = file.read(MAX_FILE_BYTES + 1)
    _check_size(len(raw), path)
    return raw


def _check_size(size: int, path: str) -> None:
    if size > MAX_FILE_BYTES:
        raise UnreadableError(
            f"result file too large: path={path} size={size} max={MAX_FILE_BYTES}"
        )


def _text(err: OSError) -> str:
    """Return the error as Go writes it: in lower case, without the path."""
    text = os.strerror(err.errno) if err.errno else str(err)
    return text[:1].lower() + text[1:]
