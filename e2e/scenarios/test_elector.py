"""The tests of leases and electors, on the real API server."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from msgspec.structs import replace

from e2e.controlplane import ControlPlane
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from tests.integration.kube import test_elector as shared
from tests.integration.kube.test_elector import *  # noqa: F403


pytestmark = pytest.mark.controlplane


@pytest.fixture(autouse=True)
def steady_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let leaders stay through seconds in which the API server gets no turn."""
    steady = replace(
        shared.FAST_TIMING,
        lease_duration=timedelta(seconds=15),
        renew_deadline=timedelta(seconds=10),
    )
    monkeypatch.setattr(shared, "FAST_TIMING", steady)


@pytest_asyncio.fixture  # type: ignore[no-redef]
async def api(control_plane: ControlPlane) -> AsyncIterator[RestClient]:
    """The API of the real control plane, instead of the API server in memory's."""
    api = await connect(str(control_plane.kubeconfig()), environ={})
    yield api
    await api.close()
