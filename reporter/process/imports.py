"""Import many modules in little time."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
        with _without_authorities():
            yield
    finally:
        gc.enable()
        if len(sys.modules) > before:
            gc.freeze()


AUTHORITIES = "SSL_CERT_FILE"
"""The variable by which OpenSSL finds the authorities of the system (SSL_CTX_load_verify_locations(3))."""


@contextmanager
def _without_authorities() -> Iterator[None]:
    """
    Hide the authorities of the system, which aiohttp reads as it is imported: 40 ms and some MiB.

    Its own context then trusts none of that file. Whatever connects over https has a context of its own
    (`verifying_context`), which reads them when it is made.
    """
    given = os.environ.get(AUTHORITIES)
    os.environ[AUTHORITIES] = os.devnull
    try:
        yield
    finally:
        if given is None:
            del os.environ[AUTHORITIES]
        else:
            os.environ[AUTHORITIES] = given
