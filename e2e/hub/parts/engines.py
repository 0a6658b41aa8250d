"""Metrics engines: a central one that receives, and agents that scrape and send."""

from typing import Any

from e2e.controlplane import ControlPlane
from e2e.hub.parts import victoria_metrics
from e2e.support.metrics_process import MetricsProcess, Prometheus


RECEIVE = "/api/v1/write"
KEPT = ".*_rollup_.*|up"
"""The series that a workload cluster sends, as docs/hub.md has it."""

Json = dict[str, Any]


class VictoriaMetrics(MetricsProcess):
    """A single node. Its answers are 30 s old by default, and one second here."""

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
    """Return an engine that receives what agents send."""
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
    """Return an agent that scrapes a reporter at *port* and gives its series a cluster label."""
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
