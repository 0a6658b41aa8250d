"""The tests of our Events, on the real API server."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from e2e.controlplane import ControlPlane
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from tests.integration.announcing.test_event_client import *  # noqa: F403


pytestmark = pytest.mark.controlplane


@pytest_asyncio.fixture  # type: ignore[no-redef]
async def api(control_plane: ControlPlane) -> AsyncIterator[RestClient]:
    """The API of the real control plane, instead of the API server in memory's."""
    api = await connect(str(control_plane.kubeconfig()), environ={})
    yield api
    await api.close()
