"""
The same tests on the embedded server and on a real control plane: the fixture `api`.
"""

import asyncio
import json
import os
import secrets
import ssl
import urllib.request
from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest

from e2e.controlplane import ControlPlane, Options, assets
from reporter.embedded import EmbeddedServer
from tests.conformance.api import ConformanceApi


BOTH = ["embedded", pytest.param("real", marks=pytest.mark.controlplane)]


@pytest.fixture(scope="session")
def own_control_plane() -> Iterator[ControlPlane]:
    """
    Not shared with other tests: these make the server forget its history.
    """
    try:
        assets.find()
    except assets.AssetsMissing as err:
        if os.environ.get("CONTROLPLANE_REQUIRED") == "1":
            raise
        pytest.skip(str(err))
    with ControlPlane(Options(scheduler=False, kwok=False)) as plane:
        yield plane


@pytest.fixture(params=BOTH)
async def api(request: pytest.FixtureRequest) -> AsyncIterator[ConformanceApi]:
    """
    A server and a namespace of one's own on it.
    """
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)) as session:
        if request.param == "embedded":
            async with EmbeddedServer() as server:
                found = _embedded(session, server)
                await _namespace(found)
                yield found
        else:
            found = _real(session, request.getfixturevalue("own_control_plane"))
            await _namespace(found)
            yield found
    await _closed()


async def _closed() -> None:
    """
    A transport with TLS needs some rounds of the loop more than its session to be gone.
    """
    for _ in range(5):
        await asyncio.sleep(0)


async def _namespace(api: ConformanceApi) -> None:
    created = await api.create("/api/v1/namespaces", {"metadata": {"name": api.namespace}})
    assert created.status == 201


def _embedded(session: aiohttp.ClientSession, server: EmbeddedServer) -> ConformanceApi:
    namespace = f"test-{secrets.token_hex(4)}"
    nobody = f"system:serviceaccount:{namespace}:nobody"
    server.tokens.update({"admin": "admin", "nobody": nobody})
    server.deny(user=nobody)

    async def forget_history() -> None:
        server.compact_history()

    return ConformanceApi(
        session,
        server.url,
        "admin",
        True,
        namespace,
        (nobody, "nobody"),
        forget_history,
        "embedded",
    )


def _real(session: aiohttp.ClientSession, plane: ControlPlane) -> ConformanceApi:
    client = plane.client
    name = f"nobody-{secrets.token_hex(4)}"
    path = "/api/v1/namespaces/default/serviceaccounts"
    client.create(path, {"metadata": {"name": name}})
    token = plane.service_account_token("default", name)
    tls = ssl.create_default_context(cafile=str(client.ca_file))

    async def forget_history() -> None:
        await asyncio.to_thread(_compact, plane.etcd_port)

    return ConformanceApi(
        session,
        f"https://127.0.0.1:{client.port}",
        client.token,
        tls,
        f"test-{secrets.token_hex(4)}",
        (f"system:serviceaccount:default:{name}", token),
        forget_history,
        "real",
    )


def _compact(etcd_port: int) -> None:
    """
    Make etcd forget all but the present, through its JSON gateway.
    """

    def call(path: str, body: dict[str, object]) -> dict[str, dict[str, str]]:
        url = f"http://127.0.0.1:{etcd_port}/v3/kv/{path}"
        request = urllib.request.Request(url, data=json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request) as response:
            answer: dict[str, dict[str, str]] = json.load(response)
            return answer

    revision = call("range", {"key": "AA=="})["header"]["revision"]
    call("compaction", {"revision": revision})
