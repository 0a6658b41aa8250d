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


AUTHORITIES = "SSL_CERT_FILE"
"""The variable by which OpenSSL finds the authorities of the system (SSL_CTX_load_verify_locations(3))."""

VARIABLES: Final = {AUTHORITIES: os.devnull, "FROZENLIST_NO_EXTENSIONS": "1"}
"""
The variables of the environment while modules are imported.

aiohttp reads the authorities of the system then: 40 ms and some MiB. Its own context trusts none of that file
so. Whatever connects over https has a context of its own (`verifying_context`), which reads them when it is
made. And the extension of frozenlist, of which aiohttp has a few lists of handlers, is all that loads the
library of C++: 1.4 MiB.
"""


@contextmanager
def _lighter_imports() -> Iterator[None]:
    """Set VARIABLES, and restore them afterwards."""
    given = {name: os.environ.get(name) for name in VARIABLES}
    os.environ |= VARIABLES
    try:
        yield
    finally:
        for name, value in given.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
