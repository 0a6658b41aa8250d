"""An API server in memory with the CRD of the hub, and an engine with three clusters."""

from collections.abc import AsyncIterator

import pytest_asyncio

from devcluster.server import DevCluster
from tests.integration.hub.hub_fixture import NORTH, WEST, LiveSources, install
from tests.support.fleet.series import SourceSeries
from tests.support.stubs.metrics_engine import MetricsEngine, running_engine


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DevCluster]:
    async with DevCluster() as server:
        install(server)
        yield server


@pytest_asyncio.fixture
async def engine() -> AsyncIterator[MetricsEngine]:
    async with running_engine() as engine:
        engine.sources = LiveSources(SourceSeries(), WEST, NORTH)
        yield engine
