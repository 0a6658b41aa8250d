"""
Provide the fixture `api`: the API server in memory and a namespace of the test's own on it.

The package e2e.conformance runs the same tests on a real control plane.
"""

import secrets
from collections.abc import AsyncIterator

import aiohttp
import pytest_asyncio

from devcluster import DevCluster
from tests.conformance.api import ConformanceApi, conformance_session


@pytest_asyncio.fixture
async def api() -> AsyncIterator[ConformanceApi]:
    async with conformance_session() as session, DevCluster() as server:
        api = _in_memory(session, server)
        await api.create_namespace()
        yield api


def _in_memory(session: aiohttp.ClientSession, server: DevCluster) -> ConformanceApi:
    namespace = f"test-{secrets.token_hex(4)}"
    nobody = f"system:serviceaccount:{namespace}:nobody"
    server.tokens.update({"admin": "admin", "nobody": nobody})
    server.deny(user=nobody)

    async def compact_history() -> None:
        server.compact_history()

    return ConformanceApi(
        session,
        server.url,
        "admin",
        True,
        namespace,
        (nobody, "nobody"),
        compact_history,
        "devcluster",
    )
