"""
Prometheus processes: a central engine that receives, and agents that scrape and send.
"""

import http.client
import json
import shutil
from typing import Any

from e2e.controlplane import ControlPlane, until
from e2e.controlplane.processes import Process
from tests.support.ports import free_port


STARTS_WITHIN = 30
RECEIVE = "/api/v1/write"
KEPT = ".*_rollup_.*|up"
"""
The series that a workload cluster sends, as docs/hub.md has it.
"""

Json = dict[str, Any]


class Prometheus:
    """
    One process with a folder of its own, which ends with the control plane at the latest.
    """

    def __init__(self, plane: ControlPlane, name: str, config: Json, *flags: str) -> None:
        self._plane, self.name, self._flags = plane, name, flags
        self.port = free_port()
        self.folder = plane.folder / name
        self._process: Process | None = None
        self.write_config(config)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def write_config(self, config: Json) -> None:
        """
        Write the configuration, for the next start. JSON is YAML.
        """
        self.folder.mkdir(exist_ok=True)
        self._config = self.folder / "prometheus.yaml"
        self._config.write_text(json.dumps(config))

    def start(self) -> None:
        command = [
            self._plane.program("prometheus"),
            f"--config.file={self._config}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            *(flag.format(folder=self.folder) for flag in self._flags),
        ]
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


def central(plane: ControlPlane) -> Prometheus:
    """
    Return an engine that receives what agents send.
    """
    return Prometheus(
        plane,
        "central",
        {"global": {}},
        "--storage.tsdb.path={folder}/data",
        "--web.enable-remote-write-receiver",
    )


def agent(plane: ControlPlane, name: str, engine: Prometheus, port: int, label: str) -> Prometheus:
    """
    Return an agent that scrapes a reporter at *port* and gives its series a cluster label.
    """
    return Prometheus(
        plane,
        name,
        agent_config(engine, port, label),
        "--agent",
        "--storage.agent.path={folder}/data",
    )


def agent_config(engine: Prometheus, port: int, label: str) -> Json:
    return {
        "global": {"scrape_interval": "1s", "external_labels": {"cluster": label}},
        "scrape_configs": [
            {
                "job_name": "productionstack-status-reporter",
                "static_configs": [{"targets": [f"127.0.0.1:{port}"]}],
                "metric_relabel_configs": [
                    {"source_labels": ["__name__"], "regex": KEPT, "action": "keep"}
                ],
            }
        ],
        "remote_write": [
            {
                "url": engine.url + RECEIVE,
                "queue_config": {"batch_send_deadline": "1s", "max_backoff": "2s"},
            }
        ],
    }
