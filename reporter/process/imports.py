"""Import many modules in little time."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


@contextmanager
def uncollected_imports() -> Iterator[None]:
    """
    Import without the garbage collector, and exempt what is imported from its later runs.

    Modules are never freed, but the collector would walk those that are there some 300 times while the
    others are imported.
    """
    gc.disable()
    before = len(sys.modules)
    try:
        with _lighter_imports():
            yield
    finally:
        gc.enable()
        if len(sys.modules) > before:
            gc.freeze()


VARIABLES: Final = {"SSL_CERT_FILE": os.devnull, "FROZENLIST_NO_EXTENSIONS": "1"}
"""
The variables of the environment while modules are imported.

aiohttp would read the authorities of the system, from the file that the first one names to OpenSSL
(SSL_CTX_load_verify_locations(3)): 40 ms and some MiB. Whatever connects over https has a context of its own
(`verifying_context`), which reads them when it is made. The extension of frozenlist, of which aiohttp has a few
lists of handlers, is all that loads the library of C++: 1.4 MiB.
"""

REFUSED: Final = ("bz2", "lzma")
"""
The modules that cannot be imported meanwhile. shutil, of which urllib needs something else, unpacks archives
by them, if they are there: 0.3 MiB with their libraries.
"""


@contextmanager
def _lighter_imports() -> Iterator[None]:
    """Set VARIABLES and refuse what is REFUSED, and undo both afterwards."""
    given = {name: os.environ.get(name) for name in VARIABLES}
    refused = [name for name in REFUSED if name not in sys.modules]
    os.environ |= VARIABLES
    for name in refused:
        # None refuses an import (Python reference, the module cache).
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in refused:
            del sys.modules[name]
        for name, value in given.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
