"""A plain HTTP client of the API server, the floor of what any client costs."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, Self

import aiohttp

from e2e.controlplane import Client, ControlPlane
from e2e.controlplane.client import MERGE
from reporter.kube.open_sockets import OpenSockets


Json = dict[str, Any]


class PlainClient:
    """
    A client with the credentials of a control plane or of another client.

    Methods raise aiohttp.ClientResponseError for an error response.
    """

    def __init__(self, server: ControlPlane | Client) -> None:
        client = server if isinstance(server, Client) else server.client
        tls = ssl.create_default_context(cafile=str(client.ca_file))
        self._sockets = OpenSockets()
        self._http = aiohttp.ClientSession(
            f"https://127.0.0.1:{client.port}",
            headers={"Authorization": f"Bearer {client.token}"},
            connector=aiohttp.TCPConnector(ssl=tls, socket_factory=self._sockets.open),
            timeout=aiohttp.ClientTimeout(total=None),
            raise_for_status=True,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()
        await self._sockets.close()

    async def get(self, path: str) -> Json:
        async with self._http.get(path) as answer:
            body: Json = await answer.json()
            return body

    async def read_all(self, path: str) -> bool:
        """Read a response without decoding it. Return False if the server responds with 429."""
        try:
            async with self._http.get(path, headers={"Accept-Encoding": "identity"}) as answer:
                async for _ in answer.content.iter_any():
                    pass
        except aiohttp.ClientResponseError as err:
            if err.status != HTTPStatus.TOO_MANY_REQUESTS:
                raise
            return False
        return True

    async def create(self, path: str, body: Json) -> None:
        headers = {"Content-Type": "application/json"}
        async with self._http.post(path, data=json.dumps(body), headers=headers) as answer:
            await answer.read()

    async def delete(self, path: str) -> None:
        async with self._http.delete(path) as answer:
            await answer.read()

    async def patch(self, path: str, body: Json, content_type: str = MERGE) -> float:
        """Patch an object and return the seconds until the response."""
        begun = asyncio.get_running_loop().time()
        headers = {"Content-Type": content_type}
        async with self._http.patch(path, data=json.dumps(body), headers=headers) as answer:
            await answer.read()
        return asyncio.get_running_loop().time() - begun

    async def watch(self, path: str, version: str) -> AsyncIterator[tuple[float, bytes]]:
        """Yield the lines of a watch with the event loop's time of their arrival."""
        query = f"{path}?watch=1&resourceVersion={version}"
        async with self._http.get(query, read_bufsize=2**22) as answer:
            async for line in answer.content:
                yield asyncio.get_running_loop().time(), line

    async def version(self, path: str) -> str:
        """Return the current resourceVersion of a collection, to watch from."""
        page = await self.get(f"{path}?limit=1")
        version: str = page["metadata"]["resourceVersion"]
        return version
