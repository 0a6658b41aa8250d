"""Fixtures that the fault tests share."""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane
from e2e.faults.support import fault_cost
from e2e.faults.support.proxy import FaultProxy, fault_proxy
from e2e.support.production_stack import restore


@pytest.fixture(autouse=True)
def cost_limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit CPU and memory only where the slow tests run too."""
    monkeypatch.setattr(fault_cost, "LIMITED", request.config.option.markexpr != "not slow")


@pytest.fixture
def proxy(stack: ControlPlane) -> Iterator[FaultProxy]:
    """A proxy to the shared control plane, whose example stack is healthy before and after."""
    with restore.healthy_stack(stack) as plane, fault_proxy(plane) as proxy:
        yield proxy
