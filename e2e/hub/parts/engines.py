"""
Metrics engines: a central one that receives, and agents that scrape and send.
"""

import http.client
import json
import shutil
from abc import ABC, abstractmethod
from typing import Any

from e2e.controlplane import ControlPlane, until
from e2e.controlplane.processes import Process
from e2e.hub.parts import victoria_metrics
from tests.support.ports import free_port


STARTS_WITHIN = 60
RECEIVE = "/api/v1/write"
KEPT = ".*_rollup_.*|up"
"""
The series that a workload cluster sends, as docs/hub.md has it.
"""

Json = dict[str, Any]


class MetricsProcess(ABC):
    """
    One process with a folder of its own, which ends with the control plane at the latest.
    """

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
        """
        Write the configuration, for the next start. JSON is YAML.
        """
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


class VictoriaMetrics(MetricsProcess):
    """
    A single node. Its answers are 30 s old by default, and one second here.
    """

    def _command(self) -> list[str]:
        return [
            str(victoria_metrics.find()),
            f"-promscrape.config={self._config}",
            f"-httpListenAddr=127.0.0.1:{self.port}",
            f"-storageDataPath={self.folder / 'data'}",
            "-search.latencyOffset=1s",
            "-memory.allowedBytes=256MB",
        ]


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


def central_victoria_metrics(plane: ControlPlane) -> VictoriaMetrics:
    return VictoriaMetrics(plane, "central", {"global": {}})


def scraping(port: int, *, seconds: int) -> Json:
    """
    Return the configuration of an engine that scrapes one page, whose labels it leaves as they are.
    """
    scrape = {
        "job_name": "fleet",
        "honor_labels": True,
        "static_configs": [{"targets": [f"127.0.0.1:{port}"]}],
    }
    timing = {"scrape_interval": f"{seconds}s", "scrape_timeout": f"{seconds}s"}
    return {"global": timing, "scrape_configs": [scrape]}


def agent(
    plane: ControlPlane, name: str, engine: MetricsProcess, port: int, label: str
) -> Prometheus:
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


def agent_config(engine: MetricsProcess, port: int, label: str) -> Json:
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
