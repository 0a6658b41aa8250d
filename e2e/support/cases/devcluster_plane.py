"""The API server in memory, in place of a control plane, for the replay of cases."""

import asyncio
import http.client
import threading
from collections.abc import Coroutine
from functools import cached_property
from pathlib import Path
from typing import Any

from devcluster.example.crds import crds
from devcluster.server import HOST, DevCluster
from e2e.controlplane import Client, ControlPlane
from e2e.controlplane.connections import Connections
from e2e.controlplane.credentials import ADMIN
from e2e.controlplane.processes import Folder, Process, Start, start_anew


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
START_TIMEOUT = 60
"""The seconds in which the server starts or stops."""


class PlainClient(Client):
    """A client without TLS."""

    @cached_property
    def _connections(self) -> Connections:
        host, port, timeout = self.host, self.port, self.timeout
        return Connections(lambda: http.client.HTTPConnection(host, port, timeout=timeout))


class DevClusterPlane(ControlPlane):
    """
    The server, in a thread of its own, with the CRDs of the example stack.

    It has no RBAC and no other servers: of a control plane only what the replay uses is there.
    """

    def start(self) -> None:
        self._folder = Folder()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = DevCluster()
        self._wait_for(self._server.start())
        self.client = PlainClient(self._server.port, "", Path(), host=HOST)
        for each in crds():
            self.client.create(CRDS, each)

    def stop(self) -> None:
        self._folder.end()
        self._wait_for(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def folder(self) -> Path:
        return self._folder.path

    def kubeconfig(self, user: str = ADMIN, token: str | None = None) -> Path:
        return self._server.write_kubeconfig(self.folder / f"{user}.kubeconfig")

    def service_account_kubeconfig(self, namespace: str, name: str) -> Path:
        return self._server.write_kubeconfig(self.folder / f"{namespace}-{name}.kubeconfig")

    def run(
        self,
        name: str,
        command: list[str],
        env: dict[str, str] | None = None,
        start: Start = start_anew,
    ) -> Process:
        return self._folder.start(name, command, env, start)

    def _wait_for(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result(START_TIMEOUT)
