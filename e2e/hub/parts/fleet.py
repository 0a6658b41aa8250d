"""Clusters with a reporter and an agent each, one engine, and a hub in the first cluster."""

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from e2e.controlplane import ControlPlane, until
from e2e.hub.parts import engines, hub_process
from e2e.hub.parts.hub_process import STALE, AskedEngine, HubProcess
from e2e.support.metrics_process import MetricsProcess
from e2e.support.production_stack import inference_sets
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS
from reporter.model.states import State
from tests.support.command_line import run_command_line


EAST, WEST = "east", "west"
FLAGS = ("--scrape=off", "--rollup-metrics=namespace", "--resync-seconds=2")
"""A pass every two seconds: the time of evaluation changes often within the short stale time."""
SEEN_WITHIN = 90.0
"""Seconds in which a change reaches the object of a cluster, on a busy machine."""

UNKNOWN_WITHIN = STALE + SEEN_WITHIN

Json = dict[str, Any]


class Cluster:
    """A workload cluster. Its agent is another process, as it is a pod of its own."""

    def __init__(
        self, name: str, plane: ControlPlane, reporter: ReporterProcess, engine: MetricsProcess
    ) -> None:
        self.name, self.plane, self.reporter, self._engine = name, plane, reporter, engine
        self.agent = engines.agent(
            plane, f"agent-{name}", engine, reporter.metrics_port, label=name
        )

    def relabel(self, label: str, *, port: int | None = None) -> None:
        """Start the agent anew with another label, or scraping another port."""
        scraped = port or self.reporter.metrics_port
        self.agent.write_config(engines.agent_config(self._engine, scraped, label))
        self.agent.restart()


class Fleet:
    """
    *asked*: what the hub asks, the engine or something in front of it. *clusters*: by name; the first
    one is *east*.
    """

    def __init__(
        self,
        engine: MetricsProcess,
        asked: AskedEngine,
        clusters: Mapping[str, Cluster],
        hub: HubProcess,
    ) -> None:
        self.engine, self.asked, self.clusters, self.hub = engine, asked, clusters, hub

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
        """Return state and cause of an object in one line."""
        status = self.status(name)
        blocking = status.get("blocking", {})
        cause = blocking.get("reason") or blocking.get("code") or ""
        return f"{status.get('state', '')} {cause}".strip()

    def until(self, name: str, line: str, *, within: float = SEEN_WITHIN) -> None:
        """
        Wait until an object has a state and a cause; any cause if only a state is given.

        What people are shown by kubectl and by the command is the same then.
        """

        def is_so() -> bool:
            found = self.line(name)
            return found == line or found.split()[:1] == [line]

        try:
            until(is_so, within=within, what=f"{name} is {line}")
        except AssertionError as err:
            raise AssertionError(f"{err}\n{self.status(name)}\n{self.hub.account()}") from err
        state = line.split(maxsplit=1)[0]
        until(lambda: self.kubectl()[name] == state, within=within, what=f"kubectl: {line}")
        until(
            lambda: self.command().get(name) == State(state).word,
            within=within,
            what=f"the command: {line}",
        )

    def kubectl(self) -> dict[str, str]:
        """Return the states of all objects as kubectl shows them."""
        return _states(self.east.plane.kubectl("get", "psc", "--namespace=hub"))

    def command(self) -> dict[str, str]:
        """Return the states of all clusters as the command status shows them."""
        return _states(self.ask().stdout)

    def until_all(self, line: str, *, within: float = SEEN_WITHIN) -> None:
        for name in self.clusters:
            self.until(name, line, within=within)

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command status at the hub."""
        return run_command_line("status", *words, f"--from=hub:{self.hub.status_url}")

    def document(self) -> Json:
        found: Json = json.loads(self.ask("-o", "json").stdout)
        return found


def _states(table: str) -> dict[str, str]:
    rows = [line.split() for line in table.splitlines()[1:]]
    return {row[0]: row[1] for row in rows}


@contextlib.contextmanager
def running_fleet(
    *names: str,
    make_engine: Callable[[ControlPlane], MetricsProcess] = engines.central,
    between: Callable[
        [MetricsProcess], AbstractContextManager[AskedEngine]
    ] = contextlib.nullcontext,
) -> Iterator[Fleet]:
    """Run everything. *between*: what the hub asks instead of the engine."""
    with contextlib.ExitStack() as stack:
        planes = [stack.enter_context(inference_sets.bare_plane(2)) for _ in names]
        first = planes[0]
        engine = make_engine(first)
        engine.start()
        asked = stack.enter_context(between(engine))
        hub_process.install(first.client)
        clusters = {}
        for name, plane in zip(names, planes, strict=True):
            reporter = stack.enter_context(ReporterProcess(plane, *SHORT_FLAGS, *FLAGS))
            clusters[name] = Cluster(name, plane, reporter, engine)
            clusters[name].agent.start()
            hub_process.create_cluster(first.client, name)
        hub = stack.enter_context(HubProcess(first, asked))
        yield Fleet(engine, asked, clusters, hub)
