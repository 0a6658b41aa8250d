"""The API server in memory: start and stop, and what tests and the demo change from outside."""

import re
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from devcluster import kubeconfig
from devcluster.controllers import loop
from devcluster.example import stack
from devcluster.http.apiserver import ApiServer
from devcluster.http.authorization import Denial
from devcluster.http.faults.rules import FaultInjector
from devcluster.storage.cluster import Cluster
from devcluster.storage.registry_store import RegistryStore
from devcluster.storage.storage import WatchEnd
from reporter.process.clock import Clock


HOST = "127.0.0.1"
MAX_BODY_BYTES = 3 * 1024 * 1024
"""The real server's limit."""
SYSTEM_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


class DevCluster:
    """
    An API server in memory: `async with DevCluster() as server:` serves an empty cluster.

    *port* 0 takes a free port; *bookmark_seconds* is the interval of bookmarks in watches.
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
        store = RegistryStore(now=self._clock.now)
        for name in SYSTEM_NAMESPACES:
            store.upsert({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        return store

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
        """Close all connections and refuse new ones; a later start uses the same port."""
        if self._runner is not None:
            self._api.faults.clear()
            self.end_watches(ending=WatchEnd.CONNECTION_CUT)
            await self._runner.cleanup()
            self._runner = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def write_kubeconfig(self, path: Path) -> Path:
        """Write a kubeconfig for this server and return its path."""
        token = next(iter(self._api.access.tokens), None)
        path.write_text(kubeconfig.render_kubeconfig(self.url, token), encoding="utf-8")
        return path

    @property
    def cluster(self) -> Cluster:
        """The objects, to read and write without HTTP."""
        return Cluster(self._api.objects)

    @property
    def faults(self) -> FaultInjector:
        return self._api.faults

    @property
    def requests(self) -> Iterable[tuple[str, str]]:
        """The method and the path with query of each request, oldest first."""
        return [(request.method, request.path) for request in self._api.requests]

    @property
    def stale_groups(self) -> set[str]:
        """API groups that discovery lists as stale, without their resources."""
        return self._api.stale

    @property
    def tokens(self) -> dict[str, str]:
        """Users by bearer token; while it is empty, no request needs a token."""
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
        Forbid requests from now on; open watches continue, as on the real server.

        `*` stands for any value.
        """
        denial = Denial(verb, group, resource, namespace, user)
        self._api.access.denials.append(denial)
        return denial

    def allow(self, denial: Denial | None = None) -> None:
        """Remove one denial, or all."""
        denials = self._api.access.denials
        denials[:] = [other for other in denials if denial is not None and other is not denial]

    def end_watches(self, resource: str = ".*", *, ending: WatchEnd = WatchEnd.CLEAN) -> None:
        """
        End the open watches of resources whose name, such as `deployments.apps`, matches a regex.
        """
        for (group, name), collection in self._api.objects.storage.collections.items():
            if re.fullmatch(resource, f"{name}.{group}" if group else name):
                collection.end_watches(ending)

    def compact_history(self) -> None:
        """Forget all changes so far: a watch or page of an earlier version gets 410."""
        self._api.objects.storage.compact_history()

    def load_example_stack(self) -> None:
        """Store the healthy example stack of `example/stack.py`."""
        for manifest in stack.manifests(self._clock.now()):
            self._api.objects.upsert(manifest)

    async def run_controllers(self, *, start: timedelta = loop.POD_STARTUP) -> None:
        """
        Create and delete the pods of Deployments until cancelled; a pod is ready after *start*.
        """
        await loop.run_controllers(self.cluster, now=self._clock.now, start=start)
