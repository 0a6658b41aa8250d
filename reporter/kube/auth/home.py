"""The home directory, which a container with a random uid does not have."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


HOME_VARIABLE = "HOME"


def home_directory() -> Path | None:
    """Return the home directory; None without HOME and without an entry in /etc/passwd."""
    try:
        return Path.home()
    except RuntimeError:
        return None


@contextmanager
def with_any_home() -> Iterator[None]:
    """Set HOME for a while if there is no home directory."""
    if home_directory() is not None:
        yield
        return
    os.environ[HOME_VARIABLE] = os.sep
    try:
        yield
    finally:
        del os.environ[HOME_VARIABLE]
