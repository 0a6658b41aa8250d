"""Metrics engines and agents as processes of their own."""

import http.client
import json
import shutil
from abc import ABC, abstractmethod
from typing import Any

from e2e.controlplane import ControlPlane, until
from e2e.controlplane.processes import Process
from tests.support.ports import free_port


STARTS_WITHIN = 60

Json = dict[str, Any]


class MetricsProcess(ABC):
    """One process with a folder of its own, which ends with the control plane at the latest."""

    def __init__(self, plane: ControlPlane, name: str, config: Json, *flags: str) -> None:
        self._plane, self.name, self._flags = plane, name, flags
        self.port = free_port()
        self.folder = plane.folder / name
        self._process: Process | None = None
        self.write_config(config)

    @abstractmethod
    def _command(self) -> list[str]: ...

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def write_config(self, config: Json) -> None:
        """Write the configuration, for the next start. JSON is YAML."""
        self.folder.mkdir(exist_ok=True)
        self._config = self.folder / "config.yaml"
        self._config.write_text(json.dumps(config))

    def start(self) -> None:
        command = [*self._command(), *(flag.format(folder=self.folder) for flag in self._flags)]
        self._process = self._plane.run(self.name, command)
        until(self._is_ready, within=STARTS_WITHIN, what=f"{self.name} is ready")

    def stop(self) -> None:
        assert self._process is not None
        self._process.stop()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()

    def restart(self) -> None:
        self.stop()
        self.start()

    def restart_with_empty_disk(self) -> None:
        self.kill()
        shutil.rmtree(self.folder / "data")
        self.start()

    def _is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.running(), self._process.tail()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/-/ready")
            return connection.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False
        finally:
            connection.close()


class Prometheus(MetricsProcess):
    def _command(self) -> list[str]:
        return [
            self._plane.program("prometheus"),
            f"--config.file={self._config}",
            f"--web.listen-address=127.0.0.1:{self.port}",
        ]
