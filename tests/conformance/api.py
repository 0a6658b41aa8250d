"""An API server as a test sees it: raw HTTP, to the one in memory or to the real one."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import aiohttp


Json = dict[str, Any]
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
WATCH_TIMEOUT = 60.0
"""The time limit of a single step, in seconds."""


@dataclass(frozen=True)
class ApiResponse:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Json:
        found: Json = json.loads(self.text)
        return found

    @property
    def message(self) -> str:
        message: str = self.json["message"]
        return message

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.json["items"]]

    @property
    def version(self) -> str:
        version: str = self.json["metadata"]["resourceVersion"]
        return version


class WatchStream:
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status

    async def frame(self) -> Json | None:
        """The next frame; None at the end of the stream."""
        line = await asyncio.wait_for(self._response.content.readline(), WATCH_TIMEOUT)
        return json.loads(line) if line else None

    async def remaining_frames(self) -> list[Json]:
        found = []
        while (frame := await self.frame()) is not None:
            found.append(frame)
        return found


@dataclass(frozen=True)
class ConformanceApi:
    session: aiohttp.ClientSession
    url: str
    token: str
    tls: ssl.SSLContext | bool
    namespace: str
    """The namespace of this test alone."""
    unprivileged: tuple[str, str]
    """User and token of an account without any permission."""
    compact_history: Callable[[], Awaitable[None]]
    """Compact the history, after which older versions are expired."""
    kind: str = ""

    async def create_namespace(self) -> None:
        created = await self.create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        assert created.status == 201

    def as_unprivileged(self) -> "ConformanceApi":
        return replace(self, token=self.unprivileged[1])

    def with_path(self, resource: str, name: str = "", *, group: str = "") -> str:
        """The path of a resource in the namespace of this test."""
        root = f"/apis/{group}" if group else "/api/v1"
        return f"{root}/namespaces/{self.namespace}/{resource}{'/' if name else ''}{name}"

    async def request(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> ApiResponse:
        sent = {"Authorization": f"Bearer {self.token}", "Accept": "application/json", **headers}
        data: str | bytes | None = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        async with self.session.request(
            method, self.url + path, data=data, headers=sent, ssl=self.tls
        ) as response:
            return ApiResponse(response.status, response.headers, await response.text())

    async def get(self, path: str, **headers: str) -> ApiResponse:
        return await self.request("GET", path, **headers)

    async def create(self, path: str, body: object) -> ApiResponse:
        return await self.request("POST", path, body)

    async def put(self, path: str, body: object) -> ApiResponse:
        return await self.request("PUT", path, body)

    async def patch(self, path: str, body: object, form: str = MERGE) -> ApiResponse:
        return await self.request("PATCH", path, body, **{"Content-Type": form})

    async def delete(self, path: str, body: object = None) -> ApiResponse:
        return await self.request("DELETE", path, body)

    async def config_map(self, name: str, **labels: str) -> ApiResponse:
        meta = {"name": name, "labels": labels}
        return await self.create(self.with_path("configmaps"), {"metadata": meta})

    async def until(self, path: str, holds: Callable[[ApiResponse], bool]) -> ApiResponse:
        async with asyncio.timeout(WATCH_TIMEOUT):
            while not holds(answer := await self.get(path)):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return answer

    @contextlib.asynccontextmanager
    async def watch(self, path: str, **headers: str) -> AsyncIterator[WatchStream]:
        sign = "&" if "?" in path else "?"
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        async with self.session.get(
            f"{self.url}{path}{sign}watch=1", headers=sent, ssl=self.tls
        ) as response:
            try:
                yield WatchStream(response)
            finally:
                # a TLS connection that is closed politely would outlive the test
                if response.connection and response.connection.transport:
                    response.connection.transport.abort()


def names(frames: list[Json]) -> list[tuple[str, str]]:
    """Type and object's name of frames, bookmarks left out."""
    return [
        (frame["type"], frame["object"]["metadata"]["name"])
        for frame in frames
        if frame["type"] != "BOOKMARK"
    ]


@contextlib.asynccontextmanager
async def conformance_session() -> AsyncIterator[aiohttp.ClientSession]:
    """Open an HTTP session, and close its TLS transports before the event loop goes on."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10 * WATCH_TIMEOUT)) as session:
        yield session
    # aiohttp closes TLS transports some iterations of the loop after the session.
    # https://docs.aiohttp.org/en/stable/client_advanced.html#graceful-shutdown
    for _ in range(5):
        await asyncio.sleep(0)
