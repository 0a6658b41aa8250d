"""
An address of this machine that a pod can have.
"""

import socket

import pytest


def routable_address() -> str:
    """
    An address of this machine to which an API server lets a request through. Skips where there is
    none.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("203.0.113.1", 9))
        except OSError as err:
            pytest.skip(f"this machine has no address but loopback: {err}")
        found: str = probe.getsockname()[0]
    return found
