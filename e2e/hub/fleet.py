"""
Clusters with a reporter and an agent each, one engine, and a hub in the first cluster.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from e2e.controlplane import ControlPlane, until
from e2e.hub import engines, hub_process
from e2e.hub.engines import Prometheus
from e2e.hub.hub_process import STALE, HubProcess
from e2e.support.production_stack import inference_sets
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS


EAST, WEST = "east", "west"
FLAGS = ("--scrape=off", "--rollup-metrics=namespace", "--resync-seconds=2")
"""
A pass every two seconds: the time of evaluation changes often within the short stale time.
"""
SEEN_WITHIN = 45.0
"""
Seconds in which a change reaches the object of a cluster, on a busy machine.
"""

UNKNOWN_WITHIN = STALE + SEEN_WITHIN

Json = dict[str, Any]


class Cluster:
    """
    A workload cluster. Its agent is another process, as it is a pod of its own.
    """

    def __init__(
        self, name: str, plane: ControlPlane, reporter: ReporterProcess, engine: Prometheus
    ) -> None:
        self.name, self.plane, self.reporter, self._engine = name, plane, reporter, engine
        self.agent = engines.agent(
            plane, f"agent-{name}", engine, reporter.metrics_port, label=name
        )

    def relabel(self, label: str, *, port: int | None = None) -> None:
        """
        Start the agent anew with another label, or scraping another port.
        """
        scraped = port or self.reporter.metrics_port
        self.agent.write_config(engines.agent_config(self._engine, scraped, label))
        self.agent.restart()


class Fleet:
    """
    *clusters*: by name; the first one is *east*.
    """

    def __init__(
        self, engine: Prometheus, clusters: Mapping[str, Cluster], hub: HubProcess
    ) -> None:
        self.engine, self.clusters, self.hub = engine, clusters, hub

    @property
    def east(self) -> Cluster:
        return self.clusters[EAST]

    @property
    def west(self) -> Cluster:
        return self.clusters[WEST]

    def status(self, name: str) -> Json:
        found: Json = hub_process.read(self.east.plane.client, name)["status"]
        return found

    def line(self, name: str) -> str:
        """
        Return state and cause of an object in one line.
        """
        status = self.status(name)
        blocking = status.get("blocking", {})
        cause = blocking.get("reason") or blocking.get("code") or ""
        return f"{status.get('state', '')} {cause}".strip()

    def until(self, name: str, line: str, *, within: float = SEEN_WITHIN) -> None:
        """
        Wait until an object has a state and a cause; any cause if only a state is given.
        """

        def is_so() -> bool:
            found = self.line(name)
            return found == line or found.split()[:1] == [line]

        try:
            until(is_so, within=within, what=f"{name} is {line}")
        except AssertionError as err:
            raise AssertionError(f"{err}\n{self.status(name)}\n{self.hub.account()}") from err

    def until_all(self, line: str, *, within: float = SEEN_WITHIN) -> None:
        for name in self.clusters:
            self.until(name, line, within=within)

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        """
        Run the command status at the hub.
        """
        command = [sys.executable, "-m", "reporter.cli", "status", *words]
        return subprocess.run(
            [*command, f"--from=hub:{self.hub.status_url}"],
            capture_output=True,
            text=True,
            check=False,
        )

    def document(self) -> Json:
        found: Json = json.loads(self.ask("-o", "json").stdout)
        return found


@contextlib.contextmanager
def running_fleet(*names: str) -> Iterator[Fleet]:
    """
    Run everything.
    """
    with contextlib.ExitStack() as stack:
        planes = [stack.enter_context(inference_sets.bare_plane(2)) for _ in names]
        first = planes[0]
        engine = engines.central(first)
        engine.start()
        hub_process.install(first.client)
        clusters = {}
        for name, plane in zip(names, planes, strict=True):
            reporter = stack.enter_context(ReporterProcess(plane, *SHORT_FLAGS, *FLAGS))
            clusters[name] = Cluster(name, plane, reporter, engine)
            clusters[name].agent.start()
            hub_process.create_cluster(first.client, name)
        hub = stack.enter_context(HubProcess(first, engine))
        yield Fleet(engine, clusters, hub)
