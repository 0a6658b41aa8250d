"""
The embedded API server: starting and stopping it, and the hands that tests and the demo lay on it.
"""

import re
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from reporter.embedded import kubeconfig
from reporter.embedded.controllers import loop
from reporter.embedded.example import stack
from reporter.embedded.http.apiserver import ApiServer
from reporter.embedded.http.authorization import Denial
from reporter.embedded.http.faults.faults import FaultInjector
from reporter.embedded.storage.cluster import Cluster
from reporter.embedded.storage.registry_store import RegistryStore
from reporter.embedded.storage.storage import WatchEnd
from reporter.runtime.clock import Clock


HOST = "127.0.0.1"
MAX_BODY_BYTES = 3 * 1024 * 1024
"""
Bytes, as the real server's limit.
"""
SYSTEM_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


class EmbeddedServer:
    """
    `async with EmbeddedServer() as server:` serves an empty cluster at `server.url`.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        clock: Clock | None = None,
        bookmark_seconds: float = 60.0,
    ) -> None:
        self.port = port
        self._clock = clock or Clock()
        self._api = ApiServer(self._new_store(), bookmark_seconds=bookmark_seconds)
        self._runner: web.AppRunner | None = None

    def _new_store(self) -> RegistryStore:
        objects = RegistryStore(now=self._clock.now)
        for name in SYSTEM_NAMESPACES:
            objects.upsert({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        return objects

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_route("*", "/{path:.*}", self._api.handle)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """
        Refuse connections and end those that are open; the port stays ours for a later start.
        """
        if self._runner is not None:
            self._api.faults.clear()
            self.end_watches(ending=WatchEnd.CONNECTION_CUT)
            await self._runner.cleanup()
            self._runner = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def write_kubeconfig(self, path: Path) -> Path:
        """
        Write a kubeconfig with which kubectl reaches this server.
        """
        token = next(iter(self._api.access.tokens), None)
        path.write_text(kubeconfig.render_kubeconfig(self.url, token), encoding="utf-8")
        return path

    @property
    def cluster(self) -> Cluster:
        """
        The objects, for reading and writing without HTTP.
        """
        return Cluster(self._api.objects)

    @property
    def faults(self) -> FaultInjector:
        return self._api.faults

    @property
    def requests(self) -> Iterable[tuple[str, str]]:
        """
        Method and path with query of the requests that came, oldest first.
        """
        return [(request.method, request.path) for request in self._api.requests]

    @property
    def stale_groups(self) -> set[str]:
        """
        API groups of which discovery says that they are there, and not what is in them.
        """
        return self._api.stale

    @property
    def tokens(self) -> dict[str, str]:
        """
        User by bearer token; while it is empty, anyone may come.
        """
        return self._api.access.tokens

    def deny(
        self,
        verb: str = "*",
        group: str = "*",
        resource: str = "*",
        namespace: str = "*",
        *,
        user: str = "*",
    ) -> Denial:
        """
        Forbid from now on; watches that are open go on, as on the real server.
        """
        denial = Denial(verb, group, resource, namespace, user)
        self._api.access.denials.append(denial)
        return denial

    def allow(self, denial: Denial | None = None) -> None:
        """
        Take back one denial, or all.
        """
        denials = self._api.access.denials
        denials[:] = [known for known in denials if denial is not None and known is not denial]

    def end_watches(self, resource: str = ".*", *, ending: WatchEnd = WatchEnd.CLEAN) -> None:
        """
        End the open watches of the resources that a regular expression such as `pods` matches.
        """
        for (group, name), collection in self._api.objects.storage.collections.items():
            if re.fullmatch(resource, f"{name}.{group}" if group else name):
                collection.end_watches(ending)

    def compact_history(self) -> None:
        """
        From now on, older versions are too old to watch or to page from.
        """
        self._api.objects.storage.compact_history()

    def load_example_stack(self) -> None:
        """
        Fill in the healthy example stack of `stack.py`.
        """
        for manifest in stack.manifests(self._clock.now()):
            self._api.objects.upsert(manifest)

    async def run_controllers(self, *, start: timedelta = loop.POD_STARTUP) -> None:
        """
        Until cancelled, let Deployments be followed by pods that take *start* to become ready.
        """
        await loop.run_controllers(self.cluster, now=self._clock.now, start=start)
