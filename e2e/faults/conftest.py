"""
What the tests of faults share.
"""

from collections.abc import Iterator

import pytest

from e2e import repair
from e2e.controlplane import ControlPlane
from e2e.faults.proxy import Proxy, proxied


@pytest.fixture
def proxy(stack: ControlPlane) -> Iterator[Proxy]:
    """
    To the shared control plane, whose example stack is healthy before and after.
    """
    with repair.mended(stack) as plane, proxied(plane) as proxy:
        yield proxy
