"""The release of the chart on the node, and its pods as users see them."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from e2e.chart import CHART
from e2e.chart.helm import IMAGE, Helm
from e2e.chart.leftovers import until_nothing_is_left
from e2e.controlplane import Json, until
from e2e.node import stack
from e2e.node.cluster import NodeCluster
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.expected_events import EventQuery, events_from_now
from e2e.suite.reporters import ENDED, NAME, ReporterPods, is_ready
from e2e.support import events
from e2e.support.events import SOURCE
from tests.support.stubs.certificates import CURRENT_FORM, Form


NAMESPACE = "kaito-system"
RELEASE = "stack"
DEPLOYMENT = f"{RELEASE}-status-reporter"
REPLICAS = 2
ANNOUNCED_WITHIN = 240
"""Seconds until an Event with the default holds, after pods have started on a busy machine."""

QUIET_PERIOD = 331
"""Seconds; a heartbeat comes within them."""

TAINTED_WITHIN = 180
"""Seconds until a node that has come back takes pods again."""

WHERE = f"--namespace={NAMESPACE}"
WAIT = ("--wait", "--timeout=180s")


@dataclass(frozen=True)
class Release:
    cluster: NodeCluster
    helm: Helm

    @property
    def reporters(self) -> ReporterPods:
        return ReporterPods(self.cluster.client)

    def install(self, *values: str) -> None:
        """Install the chart, with its default values if none are given. Returns when all replicas are Ready."""
        self.helm("install", RELEASE, str(CHART), WHERE, IMAGE, *values, *WAIT)
        self.until_complete()

    def upgrade(self, *values: str) -> None:
        self.helm("upgrade", RELEASE, str(CHART), WHERE, IMAGE, *values, *WAIT)
        self.until_complete()

    def roll_back(self) -> None:
        self.helm("rollback", RELEASE, WHERE, *WAIT)
        self.until_complete()

    def uninstall(self) -> None:
        self.helm("uninstall", RELEASE, WHERE, *WAIT)
        until_nothing_is_left(self.cluster.plane, NAMESPACE)

    def until_complete(self) -> None:
        """Wait until there are all replicas and no other, all Ready, and one of them leads."""
        until(self._is_complete, within=180, what="all replicas are Ready, and one leads")

    def until_rolled_out(self) -> None:
        """Wait until all pods are of the newest version of the Deployment."""
        self.kubectl("rollout", "status", f"deployment/{DEPLOYMENT}", "--timeout=180s")
        self.until_complete()

    def until_back(self) -> None:
        """Wait until all nodes take pods, and all of the stack and the reporters are Ready."""
        for node in self.cluster.nodes:
            node.until_ready()
        until(lambda: not self.taints(), within=TAINTED_WITHIN, what="no node has a taint")
        for each in stack.COMPONENTS:
            stack.until_ready(self.cluster.client, each)
        self.until_complete()

    def taints(self) -> str:
        """Return the keys of the taints of all nodes."""
        specs = [node["spec"] for node in self.cluster.client.list("/api/v1/nodes")]
        return " ".join(each["key"] for spec in specs for each in spec.get("taints", []))

    def cluster_state(self) -> str:
        """Return the state of the control plane, by `kubectl exec … status`."""
        found: Json = json.loads(self.execute("status", "cluster", "--output=json"))
        return str(found["cluster"]["state"])

    def execute(self, *words: str) -> str:
        """Run a command of the program in a pod, as users do."""
        program = ("python3", "-m", "reporter.cli")
        return self.kubectl("exec", f"deployment/{DEPLOYMENT}", "--", *program, *words)

    def python(self, pod: str, code: str) -> str:
        """Run code in a pod of the reporter, whose image has no shell, and return what it prints."""
        return self.kubectl("exec", pod, "--", "python3", "-c", code)

    def kubectl(self, *words: str) -> str:
        return self.cluster.plane.kubectl(WHERE, *words)

    def events_from_now(self, involved: str = "") -> EventQuery:
        """Return a query of the Events that are written from now on."""
        cluster = ClusterUnderTest(
            self.cluster.plane.kubeconfig(), QUIET_PERIOD, announce_timeout=ANNOUNCED_WITHIN
        )
        return events_from_now(cluster, involved)

    def until_quiet(self) -> None:
        """Wait until the last Event says that all is well, or there is none."""
        until(self._is_quiet, within=ANNOUNCED_WITHIN, what="all is well")

    def print_logs(self) -> None:
        """Print the logs of the pods, which pytest shows of a test that fails."""
        selector = f"--selector={NAME}={SOURCE}"
        try:
            print(self.kubectl("logs", selector, "--tail=40", "--prefix"))
        except subprocess.CalledProcessError as err:
            print(f"no logs: {err.stderr}")

    def _is_complete(self) -> bool:
        pods = self.cluster.client.list(
            f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector=f"{NAME}={SOURCE}"
        )
        ready = [is_ready(pod) for pod in pods if pod["status"]["phase"] not in ENDED]
        return ready == [True] * REPLICAS and self.reporters.leader() != ""

    def _is_quiet(self) -> bool:
        found = events.reporter_events(self.cluster.client)
        return not found or found[-1].type == "Normal"


@contextlib.contextmanager
def installed(
    home: Path, *values: str, form: Form = CURRENT_FORM, nodes: int = 1
) -> Iterator[Release]:
    """
    Run a cluster with the stack, and the chart with its default values if none are given.

    *home*: folder for helm's files.
    """
    with NodeCluster(form, nodes=nodes) as cluster:
        stack.install(cluster.client)
        release = Release(cluster, Helm(home, cluster.plane.kubeconfig()))
        release.install(*values)
        yield release
