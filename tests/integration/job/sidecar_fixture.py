"""A sidecar, its Job and its pod, against an API server in memory over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from devcluster.server import DevCluster
from reporter.job.command import run_sidecar
from reporter.job.environment import SidecarSettings, load_settings
from reporter.job.steps import SidecarRules
from reporter.job.watching import StopSignal
from reporter.job.writer import WriteDeadlines
from reporter.kube.backoff import BackoffParameters
from reporter.kube.connect import connect
from reporter.process.clock import Clock
from tests.support.stubs.api_servers import until


Json = dict[str, Any]

NAMESPACE, JOB, POD = "kube-system", "check", "check-7xk2p"
WAIT_TIMEOUT = 30.0
JOBS, PODS = f"/jobs/{JOB}", f"/pods/{POD}"
WRITTEN = ("True", "AllChecksPassed", "all is well")
RESULT = b'{"status":"success","reason":"AllChecksPassed","message":"all is well"}'
QUICK = SidecarRules(
    timedelta(milliseconds=20),
    timedelta(seconds=60),
    container_interval=timedelta(milliseconds=50),
    stop_interval=timedelta(milliseconds=50),
    native_patience=timedelta(seconds=60),
)
SHORT = WriteDeadlines(
    after_deadline=timedelta(seconds=60),
    refused=timedelta(seconds=0.2),
    backoff=BackoffParameters(initial=timedelta(milliseconds=20), cap=timedelta(milliseconds=50)),
)


def a_job(uid: str = "job-uid", *conditions: Json) -> Json:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": JOB, "namespace": NAMESPACE, "uid": uid},
        "spec": {"template": {"spec": {"containers": [{"name": "adapter"}]}}},
        "status": {"conditions": [*conditions], "active": 1},
    }


def a_condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> Json:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastProbeTime": "2026-05-01T12:00:00Z",
        "lastTransitionTime": "2026-05-01T12:00:00Z",
    }


def a_pod(*, native: bool = False, owner: str = "job-uid", **terminated: Any) -> Json:
    """The pod of the sidecar. *terminated*: of the adapter; without it the adapter runs."""
    state = {"terminated": terminated} if terminated else {"running": {}}
    sidecar = {"name": "status-reporter", "state": {"running": {}}}
    init = [{"name": "status-reporter", "restartPolicy": "Always"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": POD,
            "namespace": NAMESPACE,
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": JOB,
                    "uid": owner,
                    "controller": True,
                }
            ],
        },
        "spec": {
            "containers": [{"name": "adapter"}],
            **({"initContainers": init} if native else {}),
        },
        "status": {
            "containerStatuses": [
                {"name": "adapter", "state": state},
                *([] if native else [sidecar]),
            ]
        },
    }


class RunningSidecar:
    """One run. *path* is its result file."""

    def __init__(self, server: DevCluster, settings: SidecarSettings) -> None:
        self.server, self.settings = server, settings
        self.path = Path(settings.results_path)
        self.stop = StopSignal()
        self.task: asyncio.Task[int] | None = None

    async def exit_code(self) -> int:
        """Return it once the sidecar has ended. Raises what it raised."""
        assert self.task is not None
        async with asyncio.timeout(WAIT_TIMEOUT):
            return await self.task

    async def wait_for(self, condition) -> None:
        await until(condition, within=WAIT_TIMEOUT)

    async def wait_asked(self, method: str, part: str, *, times: int = 1) -> None:
        await self.wait_for(lambda: self.count(method, part) >= times)

    def count(self, method: str, part: str) -> int:
        return sum(
            each == method and part in path.partition("?")[0]
            for each, path in self.server.requests
        )

    def conditions(self) -> list[Json]:
        job = self.server.cluster.get("jobs.batch", NAMESPACE, JOB)
        assert job is not None
        return job["status"].get("conditions") or []

    def condition(self, kind: str = "Available") -> Json | None:
        return next((each for each in self.conditions() if each["type"] == kind), None)

    def summary(self) -> tuple[str, str, str] | None:
        found = self.condition()
        return (found["status"], found["reason"], found["message"]) if found else None


@asynccontextmanager
async def running(
    server: DevCluster,
    folder: Path,
    *,
    rules: SidecarRules = QUICK,
    limits: WriteDeadlines = SHORT,
    **environ: str,
) -> AsyncIterator[RunningSidecar]:
    """Start a sidecar; cancel it at the end unless it has ended."""
    required = {"JOB_NAME": JOB, "JOB_NAMESPACE": NAMESPACE, "POD_NAME": POD}
    path = {"RESULTS_PATH": str(folder / "adapter-result.json")}
    settings = replace(load_settings(required | path | environ), rules=rules)
    clock = Clock()
    api = await connect(
        str(server.write_kubeconfig(folder / "kubeconfig")), environ={}, clock=clock
    )
    sidecar = RunningSidecar(server, settings)
    sidecar.task = asyncio.create_task(
        run_sidecar(settings, api, clock, sidecar.stop, limits=limits)
    )
    try:
        yield sidecar
    finally:
        sidecar.task.cancel()
        await asyncio.wait({sidecar.task})
        await api.close()
