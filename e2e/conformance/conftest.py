"""Provide the fixture `api` of the conformance tests on a real control plane."""

import asyncio
import json
import secrets
import ssl
import urllib.request
from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest
import pytest_asyncio

from e2e.controlplane import ControlPlane, Options
from tests.conformance.api import ConformanceApi, conformance_session


@pytest.fixture(scope="session")
def own_control_plane() -> Iterator[ControlPlane]:
    """Start a control plane that other tests do not use: these tests compact etcd's history."""
    with ControlPlane(Options(scheduler=False, kwok=False)) as plane:
        yield plane


@pytest_asyncio.fixture
async def api(own_control_plane: ControlPlane) -> AsyncIterator[ConformanceApi]:
    """Connect to the control plane with a namespace of the test's own."""
    async with conformance_session() as session:
        api = _real(session, own_control_plane)
        await api.create_namespace()
        yield api


def _real(session: aiohttp.ClientSession, plane: ControlPlane) -> ConformanceApi:
    client = plane.client
    name = f"nobody-{secrets.token_hex(4)}"
    path = "/api/v1/namespaces/default/serviceaccounts"
    client.create(path, {"metadata": {"name": name}})
    token = plane.service_account_token("default", name)
    tls = ssl.create_default_context(cafile=str(client.ca_file))

    async def compact_history() -> None:
        await asyncio.to_thread(_compact, plane.etcd_port)

    return ConformanceApi(
        session,
        f"https://127.0.0.1:{client.port}",
        client.token,
        tls,
        f"test-{secrets.token_hex(4)}",
        (f"system:serviceaccount:default:{name}", token),
        compact_history,
        "real",
    )


def _compact(etcd_port: int) -> None:
    """Compact etcd to its newest revision, through its JSON gateway."""

    def call(path: str, body: dict[str, object]) -> dict[str, dict[str, str]]:
        url = f"http://127.0.0.1:{etcd_port}/v3/kv/{path}"
        request = urllib.request.Request(url, data=json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request) as response:
            answer: dict[str, dict[str, str]] = json.load(response)
            return answer

    revision = call("range", {"key": "AA=="})["header"]["revision"]
    call("compaction", {"revision": revision})
