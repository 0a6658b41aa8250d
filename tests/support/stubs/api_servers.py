"""Small API servers on real sockets, which misbehave as a test defines."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

import yaml
from aiohttp import web

from reporter.kube.client import RestClient
from reporter.kube.connect import connect


Handler: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class StubServer:
    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.requests: list[web.BaseRequest] = []
        self.url = ""

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        self.requests.append(request)
        return await self.handler(request)

    def count_requests(self, part: str) -> int:
        return sum(part in str(request.rel_url) for request in self.requests)


@asynccontextmanager
async def serving(handler: Handler, *, ssl_context=None, port=0) -> AsyncIterator[StubServer]:
    server = StubServer(handler)
    runner = web.ServerRunner(web.Server(server.serve), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, ssl_context=ssl_context)
    await site.start()
    scheme = "http" if ssl_context is None else "https"
    server.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


def a_kubeconfig(folder, url, *, user=None, **cluster) -> str:
    content = {
        "clusters": [{"name": "c", "cluster": {"server": url, **cluster}}],
        "users": [{"name": "u", "user": {"token": "t0k3n"} if user is None else user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(content))
    return str(path)


@asynccontextmanager
async def connected(kubeconfig: str | None, **how) -> AsyncIterator[RestClient]:
    api = await connect(kubeconfig, **({"environ": {}} | how))
    try:
        yield api
    finally:
        await api.close()


async def until(condition: Callable[[], object], within: float = 60) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def a_json_response(body, status=200, **headers) -> web.Response:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} | {
        k.replace("_", "-"): v for k, v in headers.items()
    }
    return web.Response(body=text, status=status, headers=headers)


def a_status_response(code, reason="", message="", **details) -> web.Response:
    status = {"kind": "Status", "code": code, "reason": reason, "message": message}
    return a_json_response(status | {"details": details}, status=code)


def an_html_response(status=502) -> web.Response:
    page = b"<html><title>502 Bad Gateway</title>\n<body>\n<h1>no</h1>\n</body></html>\n"
    return a_json_response(page, status=status, Content_Type="text/html")


def abort_connection(request: web.BaseRequest) -> None:
    assert request.transport is not None
    request.transport.abort()


async def never_answer(request: web.BaseRequest) -> web.StreamResponse:
    await asyncio.Event().wait()
    return web.Response()
