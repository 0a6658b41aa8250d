"""
An HTTP proxy between one client and the API server, which makes the faults that its rules
describe.

Plain HTTP towards the client, TLS towards the server; tokens pass through. Each client has a proxy
of its own, so that the faults of one do not reach another.
"""

import asyncio
import contextlib
import json
import ssl
import threading
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp import web
from yarl import URL

from e2e.controlplane import ControlPlane, reporter_rights
from e2e.faults.support.proxy_forwarding import forwarded_headers, read_piece
from e2e.faults.support.proxy_rules import ProxyRule, SeenRequest
from e2e.support.reporter_process import NAMESPACE
from reporter.kube.open_sockets import OpenSockets
from tests.support.ports import free_port


class FaultProxy:
    """A proxy in a thread of its own; every method may be called from any other at any time."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self.port = free_port()
        self.seen: list[SeenRequest] = []
        self._rules: tuple[ProxyRule, ...] = ()
        self._dead: WeakSet[asyncio.BaseTransport] = WeakSet()
        self._loop = asyncio.new_event_loop()
        self._flowing = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    # ------------------------------------------------------------ faults

    def add(self, rule: ProxyRule) -> ProxyRule:
        """
        Apply a rule from the next request on, before the existing rules. Open watches stay: see
        cut().
        """
        self._rules = (rule, *self._rules)
        return rule

    def remove(self, rule: ProxyRule) -> None:
        self._rules = tuple(each for each in self._rules if each is not rule)

    @contextlib.contextmanager
    def with_rule(self, *rules: ProxyRule) -> Iterator[None]:
        for rule in reversed(rules):
            self.add(rule)
        try:
            yield
        finally:
            for rule in rules:
                self.remove(rule)

    def cut(self) -> None:
        """Break every connection."""
        self._do(self._abort_all())

    def freeze(self) -> None:
        """Keep and accept connections, but forward no byte in either direction."""
        self._do(self._freeze())

    def unfreeze(self, *, lost: bool = False) -> None:
        """
        Resume forwarding. Requests that were given up meanwhile are not sent. *lost*: connections
        from before stay stuck, and only new ones work.
        """
        self._do(self._unfreeze(lost=lost))

    def clear_rules(self) -> None:
        """Remove all rules and resume forwarding."""
        for rule in tuple(self._rules):
            self.remove(rule)
        self.unfreeze()

    # ------------------------------------------------------------ what was seen

    def count(self, where: str = "", *, methods: tuple[str, ...] = (), since: float = 0) -> int:
        """
        Return the number of requests so far that a rule with *pattern* and *methods* would match.
        """
        return len(self.times(where, methods=methods, since=since))

    def times(
        self, where: str = "", *, methods: tuple[str, ...] = (), since: float = 0
    ) -> list[float]:
        """Return the times at which matching requests arrived."""
        rule = ProxyRule(where, methods)
        return [
            each.at
            for each in self.seen
            if each.at >= since and rule.matches(each.method, each.target)
        ]

    # ------------------------------------------------------------ its client

    def kubeconfig(self, original: Path) -> Path:
        """Write a copy of a kubeconfig that uses this proxy."""
        content = json.loads(original.read_text())
        for cluster in content["clusters"]:
            cluster["cluster"] = {"server": f"http://127.0.0.1:{self.port}"}
        path = original.with_suffix(f".{self.port}.kubeconfig")
        path.write_text(json.dumps(content))
        return path

    def flag(self) -> str:
        """
        Return the flag with which a reporter connects through this proxy as its ServiceAccount.
        """
        reporter_rights.install(self._plane.client, NAMESPACE)
        mine = self._plane.service_account_kubeconfig(NAMESPACE, reporter_rights.NAME)
        return f"--kubeconfig={self.kubeconfig(mine)}"

    # ------------------------------------------------------------ in the thread

    def start(self) -> None:
        self._thread.start()
        self._do(self._listen())
        self.unfreeze()

    def stop(self) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result(timeout=60)

    async def _freeze(self) -> None:
        self._flowing.clear()

    async def _unfreeze(self, *, lost: bool) -> None:
        if lost:
            self._dead.update(self._connections())
        self._flowing.set()

    async def _listen(self) -> None:
        """
        Connect to the server anew for each request: an idle connection may be as broken as its
        server.
        """
        tls = ssl.create_default_context(cafile=str(self._plane.client.ca_file))
        self._sockets = OpenSockets()
        connector = aiohttp.TCPConnector(
            limit=0, force_close=True, ssl=tls, socket_factory=self._sockets.open
        )
        self._session = aiohttp.ClientSession(
            f"https://127.0.0.1:{self._plane.client.port}",
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
        )
        self._server = web.Server(self._handle, handler_cancellation=True)
        self._runner = web.ServerRunner(self._server, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()

    async def _close(self) -> None:
        # Listen no more first: a client that is cut off connects again at once.
        await self._runner.cleanup()
        await self._abort_all()
        await self._session.close()
        await self._sockets.close()

    def _connections(self) -> list[asyncio.Transport]:
        found = (each.transport for each in self._server.connections)
        return [each for each in found if each is not None]

    async def _abort_all(self) -> None:
        for transport in self._connections():
            transport.abort()

    async def _pass(self, request: web.BaseRequest) -> None:
        """Wait, without a time limit, until bytes are forwarded."""
        await self._flowing.wait()
        if request.transport in self._dead:
            await asyncio.Event().wait()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.seen.append(SeenRequest(time.monotonic(), request.method, request.path_qs))
        try:
            return await self._answered(request)
        except (aiohttp.ClientError, OSError):
            if request.transport is not None:
                request.transport.abort()
            return web.Response()

    async def _answered(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        rule = self._take(request, change=False) or ProxyRule()
        await asyncio.sleep(rule.delay)
        await self._pass(request)
        if rule.hang and not rule.drop_answer:
            await asyncio.Event().wait()
        if rule.answer is not None:
            stub = rule.answer
            return web.Response(status=stub.status, text=stub.body, headers=stub.headers)
        target = rule.rewrite_target(request.path_qs) if rule.rewrite_target else request.path_qs
        headers = forwarded_headers(request.headers)
        async with self._session.request(
            request.method, URL(target, encoded=True), data=body, headers=headers
        ) as answer:
            if rule.drop_answer:
                await answer.read()
                if rule.hang:
                    await asyncio.Event().wait()
                raise ConnectionResetError("swallowed")
            return await self._passed_back(request, answer, rule)

    async def _passed_back(
        self, request: web.BaseRequest, answer: aiohttp.ClientResponse, rule: ProxyRule
    ) -> web.StreamResponse:
        headers = forwarded_headers(answer.headers)
        if rule.change_headers is not None:
            headers = rule.change_headers(headers)
        response = web.StreamResponse(status=answer.status, headers=headers)
        await self._pass(request)
        await response.prepare(request)
        left = float("inf") if rule.cut_at is None else rule.cut_at
        async with asyncio.timeout(rule.cut_after):
            while piece := await read_piece(answer, request):
                changed = self._changed(request, piece)
                await self._pass(request)
                await response.write(changed[: int(min(left, len(changed)))])
                left -= len(changed)
                if left < 0:
                    raise ConnectionResetError("cut")
        return response

    def _changed(self, request: web.BaseRequest, piece: bytes) -> bytes:
        rule = self._take(request, change=True)
        return piece if rule is None or rule.transform is None else rule.transform(piece)

    def _take(self, request: web.BaseRequest, *, change: bool) -> ProxyRule | None:
        for rule in self._rules:
            mine = (rule.transform is not None) is change
            if mine and rule.matches(request.method, request.path_qs):
                rule.hits += 1
                return rule
        return None


@contextlib.contextmanager
def fault_proxy(plane: ControlPlane) -> Iterator[FaultProxy]:
    """A proxy to the API server of *plane*."""
    proxy = FaultProxy(plane)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
