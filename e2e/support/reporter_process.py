"""
The reporter as it runs in a cluster: a process of its own with a ServiceAccount's permissions.
"""

import http.client
import itertools
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

from prometheus_client.parser import text_string_to_metric_families

from e2e.controlplane import ControlPlane, reporter_rights, until
from e2e.controlplane.processes import Process, start_anew
from e2e.support import loaded_program
from reporter.catalogue.overlay import DEFAULT_PACKS, is_path
from reporter.kinds.api_names import NVSENTINEL_RESOURCE
from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.kinds.nvsentinel import node_health_events
from reporter.kinds.resource_kind import ResourceKind
from tests.support.ports import free_port
from tests.support.status_schema import require_schema


NAMESPACE = "status-reporter"
"""The namespace of its ServiceAccount and its Lease."""

LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{reporter_rights.NAME}"
PROGRAM = (sys.executable, "-m", "reporter.cli")
METRICS = "productionstack_status_reporter_"
_ELECTION = (
    "--lease-duration-seconds=6",
    "--renew-deadline-seconds=5",
    "--retry-period-seconds=0.5",
)
ANSWER_TIMEOUT = 30
"""
The time limit of an answer of the process, in seconds; a loaded machine may let it stand still.
"""

_NUMBERS = itertools.count(1)

Json = dict[str, Any]


class ReporterProcess:
    """
    A reporter and its log.

    *flags*: override the few that every test needs; ``--sources``, ``--status-objects``,
    ``--store`` and ``--mirror-events`` among them add permissions, and ``--packs`` chooses them.
    *env*: added to the environment. *name*: the name of its pod.
    *grant*: False leaves the permissions as the test has set them.
    *follows*: it counts as started without leading. *program*: the program that gets the
    arguments.
    """

    SERVICE_ACCOUNT = (NAMESPACE, reporter_rights.NAME)

    def __init__(
        self,
        plane: ControlPlane,
        *flags: str,
        env: Mapping[str, str] | None = None,
        name: str = "reporter",
        grant: bool = True,
        follows: bool = False,
        program: Sequence[str] = PROGRAM,
    ) -> None:
        self.plane, self.name, self._program = plane, name, tuple(program)
        self.metrics_port, self.health_port = free_port(), free_port()
        self._log_name = f"reporter-{next(_NUMBERS)}"
        self._flags, self._env, self._follows = flags, dict(env or {}), follows
        if grant:
            reporter_rights.install(
                plane.client,
                NAMESPACE,
                _sources(flags),
                status_objects="--status-objects" in flags,
                store=_store_kind(flags),
                mirror="--mirror-events" in flags,
                packs=_shipped_packs(flags),
            )
        self._kubeconfig = plane.service_account_kubeconfig(*self.SERVICE_ACCOUNT)
        self.process: Process | None = None

    def __enter__(self) -> Self:
        try:
            return self.start(leading=not self._follows)
        except BaseException:
            # One that never became ready must not hold the lease against all that follow.
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        """Print the account of this reporter. pytest shows it only with a failed test."""
        print(self.account())
        if self.running:
            self.stop()

    # ------------------------------------------------------------ how it runs

    def start(self, *, ready: bool = True, leading: bool = True) -> Self:
        """
        Start the process. Returns when it is *ready* and *leading*, or at once if neither is
        requested.
        """
        command = self._command()
        loaded = loaded_program.loaded_for(command)
        begin = start_anew if loaded is None else loaded.start
        self.process = self.plane.run(self._log_name, command, self._environment(), begin)
        if ready:
            self.until_ready()
        if ready and leading:
            self.until_leading()
        return self

    def until_ready(self, *, within: float = 60, pause: float | None = None) -> None:
        self._until(lambda: self.readiness().startswith("ok\n"), within, "ready", pause=pause)

    def until_leading(self, *, within: float = 60) -> None:
        self._until(lambda: self.metric("leader") == 1, within, "leading")

    def stop(self, *, grace: float = 30) -> int:
        """
        Stop the process as Kubernetes stops a pod. Returns the exit code, which is -9 after
        *grace* seconds.
        """
        return self._started.stop(grace=grace)

    def kill(self) -> None:
        self._started.kill()

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.running()

    # ------------------------------------------------------------ what it reports

    def log(self) -> str:
        """Return the log of all its starts."""
        return self._started.log.read_text(errors="replace")

    def status(self) -> Json:
        found: Json = json.loads(self._answer(self.health_port, "/status"))
        return found

    def read_page(self, path: str) -> str:
        """Return a page of its status server, whatever the HTTP status."""
        return self._answer(self.health_port, path)

    def status_v1(self, path: str = "") -> Json:
        """Return the roll-up, or that of ``namespaces/NAME`` or ``namespaces/NAMESPACE/NAME``."""
        found: Json = json.loads(self._answer(self.health_port, f"/status/v1/{path}".rstrip("/")))
        if "error" not in found:
            require_schema(found)
        return found

    def states(self) -> dict[str, str]:
        """
        Return the state of each cluster reason that is not clear, by "reason" or "reason item".
        """
        return {
            f"{each['reason']} {each.get('item', '')}".strip(): each["state"]
            for subject in self.status()["subjects"]
            if subject["layer"] == "cluster"
            for each in subject["verdicts"]
        }

    def readiness(self) -> str:
        """Return the text of /readyz: "ok" and what is unknown, or what is waited for."""
        return self._answer(self.health_port, "/readyz")

    def metrics(self) -> str:
        return self._answer(self.metrics_port, "/metrics")

    def metric(self, name: str, **labels: str) -> float:
        """
        Return the sum of all series with these labels. The name has no common prefix.

        Raises LookupError if there is none.
        """
        found = [value for shown, value in self._series(name) if labels.items() <= shown.items()]
        if not found:
            raise LookupError(f"no series {METRICS}{name} with {labels}")
        return sum(found)

    def metric_by(self, label: str, name: str, **labels: str) -> dict[str, float]:
        """Return the value of each series with these labels by another one, from one page."""
        series = self._series(name)
        return {shown[label]: value for shown, value in series if labels.items() <= shown.items()}

    def _series(self, name: str) -> list[tuple[dict[str, str], float]]:
        # The library's parser takes 30 ms for a whole page, and tests read pages in loops.
        lines = [line for line in self.metrics().splitlines() if METRICS + name in line]
        return [
            (sample.labels, sample.value)
            for family in text_string_to_metric_families("\n".join(lines))
            for sample in family.samples
            if sample.name == METRICS + name
        ]

    def lines(self, *words: str) -> list[str]:
        """Return the lines of its log that contain all *words*."""
        return [line for line in self.log().splitlines() if all(word in line for word in words)]

    def account(self, lines: int = 60) -> str:
        """Return the status and the last *lines* of the log, to explain a failed test."""
        if self.process is None:
            return f"{self.name} was never started"
        try:
            status = json.dumps(self.status(), indent=1) if self.running else "not running"
        except (OSError, ValueError) as err:  # nothing, or another page if /status is elsewhere
            status = f"no answer: {err}"
        return f"{self.process.tail(lines)}\n--- /status of {self.name}\n{status}"

    # ------------------------------------------------------------ used above

    @property
    def _started(self) -> Process:
        if self.process is None:
            raise RuntimeError(f"{self.name} was never started")
        return self.process

    def _command(self) -> list[str]:
        return [
            *(*self._program, "run"),
            f"--kubeconfig={self._kubeconfig}",
            f"--metrics-bind-address=127.0.0.1:{self.metrics_port}",
            f"--health-probe-bind-address=127.0.0.1:{self.health_port}",
            *_ELECTION,
            *self._flags,
        ]

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name != "KUBECONFIG" and not name.startswith("STATUS_REPORTER_")
        }
        pod = {"POD_NAMESPACE": NAMESPACE, "POD_NAME": self.name, "PYTHONUNBUFFERED": "1"}
        return kept | pod | self._env

    def _until(self, true: Any, within: float, what: str, *, pause: float | None = None) -> None:
        def read() -> bool:
            if not self.running:
                raise AssertionError(f"{self.name} has ended\n{self.account()}")
            try:
                return bool(true())
            except (OSError, http.client.HTTPException):
                return False

        until(read, within=within, what=f"{self.name} is {what}", pause=pause)

    def _answer(self, port: int, path: str) -> str:
        """Return the body, whatever the HTTP status. Raises OSError if nothing answers."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_TIMEOUT)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()


def _store_kind(flags: tuple[str, ...]) -> ResourceKind | None:
    given = dict(flag.split("=", 1) for flag in flags if flag.startswith("--store"))
    match given.get("--store"):
        case "healthevents":
            return HEALTH_EVENTS
        case "nvsentinel":
            return node_health_events(given.get("--store-resource", NVSENTINEL_RESOURCE), "")
        case _:
            return None


def _shipped_packs(flags: tuple[str, ...]) -> Sequence[str]:
    """
    Return the packs that the last such flag names, without folders: a test grants what these read.
    """
    given = [flag.partition("=")[2] for flag in flags if flag.startswith("--packs=")]
    named = given[-1].split(",") if given else DEFAULT_PACKS
    return [each for each in named if not is_path(each)]


def _sources(flags: tuple[str, ...]) -> list[str]:
    """Return the sources that the last such flag names."""
    given = [flag.partition("=")[2] for flag in flags if flag.startswith("--sources=")]
    return [each for each in given[-1].split(",") if each] if given else []
