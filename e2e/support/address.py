"""An address of this machine that a pod can have."""

import socket

import pytest


def find_routable_address() -> str | None:
    """
    Return an address of this machine to which the API server's proxy lets a request through, which
    refuses loopback; None if there is none.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("203.0.113.1", 9))
        except OSError:
            return None
        found: str = probe.getsockname()[0]
    return found


def routable_address() -> str:
    """Return such an address. Skip the test if there is none."""
    found = find_routable_address()
    if found is None:
        pytest.skip("this machine has no address but loopback")
    return found
