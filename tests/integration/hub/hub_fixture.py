"""
A hub in this process, over real sockets: an API server in memory and an engine that a test commands.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from prometheus_client.parser import text_string_to_metric_families

from devcluster.server import DevCluster
from reporter.cli.hub_configuration import load_hub_settings
from reporter.hub.query_client import QueryClient, QueryCredentials
from reporter.hub.run import Hub
from reporter.kinds.productionstack import PRODUCTION_STACK_CLUSTERS
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.model.states import State
from reporter.process.clock import Clock
from tests.integration.server.served_pages import free
from tests.support.fleet.series import SourceSeries
from tests.support.status_objects import CHART
from tests.support.stubs.metrics_engine import MetricsEngine


KIND = PRODUCTION_STACK_CLUSTERS
CRD = yaml.safe_load((CHART / "files" / f"{KIND.resource}.yaml").read_text("utf-8"))
NAMESPACE = "fleet"
WITHIN = 60.0
METRICS = "productionstack_status_reporter_"

WEST = SourceSeries(
    "west",
    "uid-2",
    states=(State.FAILED,),
    blocking=("clusterKaitoControllerNotReady", "Unavailable.Crash", "platform"),
    namespaces={"team-a": State.FAILED},
    packages={("modelharness", "0.2.2", State.FAILED): 3},
)
NORTH = replace(SourceSeries(), label="north", uid="uid-3")


def manifest(name: str, **spec: Any) -> dict:
    return {
        "apiVersion": f"{KIND.group}/v1alpha1",
        "kind": KIND.kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"clusterLabel": name} | spec,
    }


def install(server: DevCluster) -> None:
    """Install the CRD of the chart and the namespace of the hub."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    for each in (CRD, namespace):
        server.cluster.upsert(each)


def create(server: DevCluster, *names: str, **spec) -> None:
    for name in names:
        server.cluster.upsert(manifest(name, **spec))


class LiveSources:
    """Sources that evaluate anew with each answer, unless they are *frozen*."""

    def __init__(self, *sources: SourceSeries) -> None:
        self.sources, self.frozen, self._answers = list(sources), False, 0

    def __call__(self) -> list[SourceSeries]:
        self._answers += not self.frozen
        return [replace(each, evaluated=each.evaluated + self._answers) for each in self.sources]


class RunningHub:
    def __init__(self, server: DevCluster, engine: MetricsEngine, hub: Hub) -> None:
        self.server, self.engine, self.hub = server, engine, hub
        self.metrics_at = hub._settings.metrics_bind_address
        self.health_at = hub._settings.health_probe_bind_address

    def status(self, name: str) -> dict:
        found = self.server.cluster.get(KIND.group_resource, NAMESPACE, name) or {}
        return found.get("status") or {}

    def line(self, name: str) -> str:
        status = self.status(name)
        blocking = status.get("blocking", {})
        cause = blocking.get("reason") or blocking.get("code") or ""
        return f"{status.get('state', '')} {cause}".strip()

    async def get(self, path: str, **headers: str) -> tuple[int, str, Mapping[str, str]]:
        at = self.metrics_at if path == "/metrics" else self.health_at
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://{at}{path}", headers=headers) as response,
        ):
            return response.status, await response.text(), response.headers

    async def document(self, path: str = "") -> dict:
        status, text, _ = await self.get(f"/status/v1{path}")
        assert status == 200, text
        found: dict = json.loads(text)
        return found

    async def metric(self, name: str, **labels: str) -> float | None:
        _, text, _ = await self.get("/metrics")
        found = [
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == METRICS + name and labels.items() <= sample.labels.items()
        ]
        return sum(found) if found else None

    async def until(self, condition: Callable[[], Any]) -> None:
        try:
            async with asyncio.timeout(WITHIN):
                while True:
                    found = condition()
                    if await found if asyncio.iscoroutine(found) else found:
                        return
                    await asyncio.sleep(0.05)
        except TimeoutError:
            statuses = {name: self.status(name) for name in ("prod", "west")}
            raise AssertionError(str(statuses)) from None


@asynccontextmanager
async def running_hub(
    server: DevCluster,
    engine: MetricsEngine,
    folder: Path,
    *flags: str,
    name: str = "hub-0",
    stale: timedelta | None = None,
) -> AsyncIterator[RunningHub]:
    """Run a hub whose rounds follow each other at once. *stale*: shorter than a flag may be."""
    argv = (
        f"--hub-query-url={engine.url}",
        f"--metrics-bind-address={free()}",
        f"--health-probe-bind-address={free()}",
        "--retry-period-seconds=0.2",
        # It is released at the end, and expires on no machine that stands still for a while.
        "--renew-deadline-seconds=40",
        "--lease-duration-seconds=60",
        *flags,
    )
    environ = {"POD_NAMESPACE": NAMESPACE, "POD_NAME": name}
    settings = replace(load_hub_settings(argv, environ), hub_interval=timedelta(seconds=0.2))
    settings = replace(settings, hub_stale=stale or settings.hub_stale)
    clock = Clock()
    api: RestClient = await connect(
        str(server.write_kubeconfig(folder / f"{name}.kubeconfig")), clock=clock, environ={}
    )
    client = QueryClient(settings.hub_query_url, QueryCredentials(settings))
    hub = Hub(settings, api, client, clock)
    task = asyncio.create_task(hub.run())
    try:
        found = RunningHub(server, engine, hub)
        await found.until(lambda: _answers(found))
        yield found
        assert not task.done(), "the hub ended"
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await client.close()
        await api.close()


async def _answers(hub: RunningHub) -> bool:
    try:
        status, _, _ = await hub.get("/readyz")
    except aiohttp.ClientError:
        return False
    return status == 200
