"""A Kubernetes control plane of real servers on this machine, for as long as a test needs it."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Self

from e2e.controlplane import crds, nodes, pins, prepared
from e2e.controlplane.client import Client
from e2e.controlplane.credentials import ADMIN
from e2e.controlplane.manifests import Json
from e2e.controlplane.options import Options
from e2e.controlplane.processes import Process, Start, start_anew
from e2e.controlplane.servers import Servers, StartFailed
from e2e.controlplane.waiting import until


_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default"
_ROOT_CERTIFICATE = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt"


class ControlPlane:
    def __init__(self, options: Options | None = None, *, states: Path | None = None) -> None:
        """Take *states*, the folder of kept states, from the cache if it is not given."""
        self.options = options or Options()
        self._states = states or pins.states_folder()
        self._audited = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """
        Start all servers. Returns when the API server is ready, all CRDs are served and the Node
        is Ready. Raises StartFailed, or AssetsMissing without the programs.
        """
        self._servers = Servers(self.options)
        try:
            self._start_api_server()
            self._servers.start_clients()
            self._await_clients()
        except BaseException as err:
            logs = self._servers.logs()
            self.stop()
            if not isinstance(err, Exception):
                raise
            raise StartFailed(f"{err}\n{logs}") from err

    def stop(self) -> None:
        self._servers.end()

    def _start_api_server(self) -> None:
        """
        Start etcd and the API server with all CRDs: those that a kept state has, or new ones, which are
        then kept.
        """
        wanted = crds.wanted(self._crds(), self.options)
        state = prepared.state(self._states, self._servers.assets, self.options, wanted)
        self._servers.start_etcd()
        from_state = state is not None and state.write_to(self.etcd_port)
        self._servers.start_api_server()
        self.client = self.client_of(self._servers.credentials.tokens[ADMIN])
        # A ready API server creates it in the background (controlplane/controller/systemnamespaces).
        system = "/api/v1/namespaces/kube-system"
        until(lambda: self.client.exists(system), within=60, what=f"{system} exists")
        if from_state:
            crds.until_served(self.client, wanted)
            return
        crds.install(self.client, wanted)
        if state is not None:
            state.keep(self.etcd_port)

    def _await_clients(self) -> None:
        """Wait for what a pod needs: its account and certificate, and a Node that is Ready."""
        if self.options.controllers:
            for path in (_ACCOUNT, _ROOT_CERTIFICATE):
                until(partial(self.client.exists, path), within=60, what=f"{path} exists")
        if self.options.kwok:
            nodes.create(self.client, "node-0")

    @property
    def folder(self) -> Path:
        """The folder of this control plane, with the logs of all servers. stop() removes it."""
        return self._servers.workplace.path

    @property
    def etcd_port(self) -> int:
        """The client port of etcd, for tests that compact or stop etcd."""
        return self._servers.etcd_port

    @property
    def pids(self) -> dict[str, int]:
        return {name: process.pid for name, process in self._servers.processes.items()}

    # ------------------------------------------------------------ clients and credentials

    def client_of(self, token: str) -> Client:
        return self._servers.client(token)

    def kubeconfig(self, user: str = ADMIN, token: str | None = None) -> Path:
        """Return a kubeconfig for one of the built-in users, or for any *token*."""
        return self._servers.kubeconfig(user, token)

    def service_account_token(self, namespace: str, name: str, *, seconds: int = 86400) -> str:
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        request = {"spec": {"expirationSeconds": seconds}}
        token: str = self.client.create(path, request)["status"]["token"]
        return token

    def service_account_kubeconfig(self, namespace: str, name: str) -> Path:
        token = self.service_account_token(namespace, name)
        return self.kubeconfig(f"{namespace}-{name}", token)

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """
        Run kubectl and return its standard output. Raises CalledProcessError, which has its
        stderr.
        """
        program = self.program("kubectl")
        flags = [f"--kubeconfig={self.kubeconfig()}", f"--cache-dir={self.folder / 'kubectl'}"]
        done = subprocess.run(
            [program, *flags, *arguments], input=stdin, capture_output=True, text=True, check=True
        )
        return done.stdout

    def program(self, name: str) -> str:
        """Return the path of a program that belongs to the control plane."""
        return self._servers.assets.program(name)

    # ------------------------------------------------------------ one server alone

    def stop_api_server(self, *, kill: bool = False) -> None:
        """Stop the API server only. Returns when its port is free."""
        self._servers.stop_api_server(kill=kill)

    def start_api_server(self) -> None:
        """Start the API server on the same port with the same data. Returns when it is ready."""
        self._servers.restart_api_server()

    @contextlib.contextmanager
    def api_server_down(self) -> Iterator[None]:
        self.stop_api_server()
        try:
            yield
        finally:
            self.start_api_server()

    @contextlib.contextmanager
    def paused(self, name: str) -> Iterator[None]:
        """
        Stop a server with SIGSTOP: its connections stay open and it does not answer. While the API
        server is down kwok is better paused, because it would back off for up to a minute.
        """
        os.kill(self.pids[name], signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pids[name], signal.SIGCONT)

    @contextlib.contextmanager
    def etcd_down(self) -> Iterator[None]:
        """Stop etcd for a while and keep its data."""
        self._servers.processes["etcd"].kill()
        try:
            yield
        finally:
            self._servers.start_etcd()

    def audit(self) -> list[Json]:
        """Return the requests so far, without those forgotten. Needs Options(audit=True)."""
        with (self.folder / "audit.log").open() as log:
            log.seek(self._audited)
            return parse_complete_lines(log.read())

    def forget_requests(self) -> None:
        """Leave the requests so far out of `audit`."""
        log = self.folder / "audit.log"
        self._audited = log.stat().st_size if log.exists() else 0

    # ------------------------------------------------------------ CRDs and other processes

    def install_crds(self, *names: str) -> None:
        crds.install(self.client, [each for each in self._crds() if crds.name(each) in names])

    def remove_crd(self, name: str) -> None:
        crds.remove(self.client, name)

    @contextlib.contextmanager
    def crd_removed(self, name: str) -> Iterator[None]:
        self.remove_crd(name)
        try:
            yield
        finally:
            self.install_crds(name)

    def run(
        self,
        name: str,
        command: list[str],
        env: dict[str, str] | None = None,
        start: Start = start_anew,
    ) -> Process:
        """
        Run any process. It ends with the control plane at the latest; its log is in the folder.
        """
        return self._servers.workplace.start(name, command, env, start)

    def other_processes(self) -> list[Process]:
        """Return the running processes that are no servers of the control plane."""
        servers = self.pids.values()
        return [each for each in self._servers.workplace.running() if each.pid not in servers]

    def _crds(self) -> list[Json]:
        return self._servers.assets.crds()


def parse_complete_lines(log: str) -> list[Json]:
    """Parse the lines of a log of which the server may just be writing the last one."""
    complete, _, _ = log.rpartition("\n")
    return [json.loads(line) for line in complete.splitlines()]
