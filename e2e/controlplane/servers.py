"""The servers of a control plane: in which order they start, when each is ready, how they end."""

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path

from e2e.controlplane import assets, commands
from e2e.controlplane.client import ApiError, Client
from e2e.controlplane.credentials import ADMIN, Credentials
from e2e.controlplane.options import Options
from e2e.controlplane.processes import Folder, Process
from e2e.controlplane.waiting import until
from tests.support.ports import free_port


START_TIMEOUT = 180
"""
Seconds until a server is ready; one with 100,000 objects on a busy machine takes more than 60.
"""


class StartFailed(Exception):
    """A server ended or never became ready; the message has the end of the logs."""


class Servers:
    def __init__(self, options: Options) -> None:
        self.assets = assets.find()
        self.options = options
        self.workplace = Folder()
        self.credentials = Credentials(self.workplace.path, options)
        self.credentials.write()
        self.port = free_port()
        self.processes: dict[str, Process] = {}
        self.etcd_port, self._peer_port = free_port(), free_port()

    def start_clients(self) -> None:
        """Start the servers that are clients of the API server."""
        for name, command in self._commands_of_clients().items():
            self._start(name, command)

    def start_etcd(self) -> None:
        folder = self.workplace.path
        etcd = commands.etcd(self.assets, folder, self.options, self.etcd_port, self._peer_port)
        self._start("etcd", etcd)
        self._until("etcd", lambda: _listens(self.etcd_port))

    def end(self) -> None:
        self.workplace.end()

    def restart_api_server(self) -> None:
        """
        Restart the API server and the controllers; running controllers would back off for up to a
        minute. kwok does not back off, and a new kwok would wait for the leases of the old one, so
        it stays.
        """
        self.start_api_server()
        for name, command in self._commands_of_clients().items():
            if name != "kwok":
                self.processes[name].kill()
                self._start(name, command)

    def start_api_server(self) -> None:
        command = commands.kube_apiserver(
            self.assets, self.credentials, self.options, self.port, self.etcd_port
        )
        self._start("kube-apiserver", command)
        self._until("kube-apiserver", self._answers)

    def stop_api_server(self, *, kill: bool) -> None:
        """
        Stop the API server. Returns when its process has ended: it keeps its port for a second
        after it stops serving.
        """
        server = self.processes["kube-apiserver"]
        if kill:
            server.kill()
        else:
            server.stop()

    def client(self, token: str) -> Client:
        return Client(self.port, token, self.credentials.ca_file)

    def kubeconfig(self, name: str, token: str | None = None) -> Path:
        given = token or self.credentials.tokens[name]
        return self.credentials.kubeconfig(name, self.port, given)

    def logs(self) -> str:
        return "\n".join(process.tail() for process in self.processes.values())

    def _commands_of_clients(self) -> dict[str, list[str]]:
        """
        Return the commands of the servers that are clients of the API server. They exit if it is
        not up, so they start after it.
        """
        started: dict[str, list[str]] = {}
        if self.options.controllers:
            config = self.kubeconfig("system:kube-controller-manager")
            started["kube-controller-manager"] = commands.kube_controller_manager(
                self.assets, self.credentials, self.options, config
            )
        if self.options.scheduler:
            config = self.kubeconfig("system:kube-scheduler")
            started["kube-scheduler"] = commands.kube_scheduler(self.assets, config)
        if self.options.kwok:
            folder = self.workplace.path
            started["kwok"] = commands.kwok(self.assets, folder, self.kubeconfig("kwok"))
        return started

    def _start(self, name: str, command: list[str]) -> None:
        self.processes[name] = self.workplace.start(name, command)

    def _until(self, name: str, ready: Callable[[], bool]) -> None:
        """Wait for a condition. Raises StartFailed as soon as the process has ended."""
        process = self.processes[name]

        def ready_or_ended() -> bool:
            if not process.running():
                raise StartFailed(f"{name} ended with exit code {process.exit_code()}")
            return ready()

        until(ready_or_ended, within=START_TIMEOUT, what=f"{name} is ready")

    def _answers(self) -> bool:
        with contextlib.suppress(OSError, ApiError):
            answer = self.client(self.credentials.tokens[ADMIN]).raw("GET", "/readyz")
            return answer == "ok"
        return False


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
