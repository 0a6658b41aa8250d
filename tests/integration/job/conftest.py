"""An API server in memory with a Job and its pod."""

from collections.abc import AsyncIterator

import pytest_asyncio

from devcluster.server import DevCluster
from tests.integration.job.sidecar_fixture import a_job, a_pod
from tests.support.ports import free_port


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DevCluster]:
    async with DevCluster(port=free_port()) as server:
        server.cluster.upsert(a_job())
        server.cluster.upsert(a_pod())
        yield server
