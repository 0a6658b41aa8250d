"""
Metrics pages of three real replicas in each state that the alerts distinguish.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from e2e.chart.alerts.replicas import REPLICAS, USER, Pages, Replicas, replicas
from reporter.embedded.example.team import GATEWAY, TEAM
from reporter.embedded.http.faults.rules import rate_limited_response, status_response
from reporter.embedded.server import EmbeddedServer
from reporter.model.kinds.productionstack.health_events import HEALTH_EVENTS
from reporter.model.kinds.productionstack.statuses import PRODUCTION_STACK_STATUSES
from tests.integration.process.reporter_process import BBR, scale_to_zero
from tests.support.health_events import CRD as HEALTH_EVENTS_CRD
from tests.support.status_objects import CRD, STATUSES, manifest


ALONE = "--leader-elect=false"
OBJECTS = ("--status-objects",) * REPLICAS
STORE = ("--store=healthevents",) * REPLICAS
LEASES = ("*", "coordination.k8s.io", "leases")
EXT_AUTHZ = ("envoyfilters.networking.istio.io", TEAM, "apikey-ext-authz")
DISCOVERY = r"^/apis?$"
AT_ONCE = 2
"""
States that are produced side by side: each has three processes, and most of the time they wait.
"""


@dataclass(frozen=True)
class State:
    """
    *before* and *after*: the same state at two moments; between them only counters differ.
    """

    before: Pages
    after: Pages


Produce = Callable[[Path], Awaitable[State]]


def _restore(server: EmbeddedServer) -> None:
    """
    Scale up again. No controller runs here, so the status follows by hand.
    """
    scaled = server.cluster.patch(*BBR, {"spec": {"replicas": 2}})
    seen = {"status": {"observedGeneration": scaled["metadata"]["generation"]}}
    server.cluster.patch(*BBR, seen, subresource="status")


async def _steady(found: Replicas, *, reviewed: int = REPLICAS) -> State:
    """
    Return the pages before and after a pass. *reviewed*: replicas that can review their permissions.
    """
    await found.all_show("unknown_rights", 0, of=reviewed)
    await found.passed()
    before = await found.pages()
    await found.passed()
    return State(before, await found.pages())


async def healthy(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        return await _steady(found)


async def finding(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.all_show("finding", 1, reason="clusterBBRNotReady")
        return await _steady(found)


async def suppressed(folder: Path) -> State:
    """
    Istio's control plane is out, and the Gateway names a class that never was.
    """
    async with replicas(folder) as found:
        await found.led()
        cluster = found.server.cluster
        cluster.patch("deployments.apps", "istio-system", "istiod", {"spec": {"replicas": 0}})
        await found.all_show("finding", 1, reason="clusterIstioControlPlaneNotReady")
        gateways = "gateways.gateway.networking.k8s.io"
        cluster.patch(gateways, TEAM, GATEWAY, {"spec": {"gatewayClassName": "never-was"}})
        await found.all_show("finding", 1, reason="modelharnessGatewayClassMissing")
        await found.all_show("suppressed", 1, reason="modelharnessGatewayClassMissing")
        return await _steady(found)


async def unknown(folder: Path) -> State:
    async with replicas(folder, deny=[("list", "", "pods")]) as found:
        await found.led()
        await found.all_show("unknown", 1, reason="inferencesetModelPodsNotReady")
        await found.all_show("missing_rights", 1, verb="list", resource="pods")
        return await _steady(found)


async def discovery_fails(folder: Path) -> State:
    async with replicas(folder, broken=DISCOVERY) as found:
        await found.all_show("unknown", 1, reason="clusterCRDMissing")
        await found.all_show("leader", 1, of=1)
        return await _steady(found)


async def watch_lost(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        found.server.deny("watch", "", "pods")
        found.server.end_watches("pods")
        await found.all_show("watch_up", 0, kind="pods")
        await found.all_show("unknown", 1, reason="inferencesetModelPodsNotReady")
        await found.all_show("missing_rights", 1, verb="watch", resource="pods")
        return await _steady(found)


async def one_cut_off(folder: Path) -> State:
    """
    A follower lost the API server during a finding, which has ended since.
    """
    async with replicas(folder) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.all_show("finding", 1, reason="clusterBBRNotReady")
        leads = [await each.metric("leader") for each in found.running]
        found.server.deny(user=USER.format(leads.index(0)))
        found.server.end_watches()
        await found.all_show("watch_up", 0, of=1, kind="deployments.apps")
        _restore(found.server)
        await found.all_show("finding", 1, of=1, reason="clusterBBRNotReady")
        await found.all_show("unknown", 1, of=1, reason="clusterBBRNotReady")
        await found.all_show("missing_rights", 1, of=1, verb="watch", resource="deployments.apps")
        return await _steady(found)


async def reviews_fail(folder: Path) -> State:
    async with replicas(folder, broken="selfsubjectaccessreviews") as found:
        await found.led()
        return await _steady(found, reviewed=0)


async def no_leader(folder: Path) -> State:
    async with replicas(folder, deny=[LEASES]) as found:
        await found.ready()
        await found.all_show("leader", 0)
        return await _steady(found)


async def two_leaders(folder: Path) -> State:
    async with replicas(folder, ALONE, ALONE, deny=[LEASES]) as found:
        await found.ready()
        await found.all_show("leader", 1, of=2)
        return await _steady(found)


async def writes_refused(folder: Path) -> State:
    async with replicas(folder, deny=[("create", "", "events")]) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.all_show("finding", 1, reason="clusterBBRNotReady")
        count = await found.counted("refused")
        await found.all_show("missing_rights", 1, verb="create", resource="events")
        before = (await _steady(found)).before
        await found.counted("refused", above=count)
        return State(before, await found.pages())


async def one_write_throttled(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        found.server.faults.add(rate_limited_response(), method="POST", path="/events", times=1)
        scale_to_zero(found.server)
        await found.counted("throttled")
        await found.counted("created")
        return await _steady(found)


async def dropped(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        invalid = status_response(400, "BadRequest", "the Event is not understood")
        found.server.faults.add(invalid, method="POST", path="/events", times=1)
        scale_to_zero(found.server)
        await found.counted("dropped")
        return await _steady(found)


async def objects_refused(folder: Path) -> State:
    """
    The status of an object may not be written.
    """
    right = ("patch", PRODUCTION_STACK_STATUSES.group, "productionstackstatuses/status")
    async with replicas(folder, *OBJECTS, deny=[right]) as found:
        found.server.cluster.upsert(CRD)
        found.server.cluster.upsert(manifest(TEAM))
        await found.led()
        await found.all_show("watch_up", 1, kind=STATUSES)
        await found.all_show("status_objects_failing", 1, of=1)
        return await _steady(found)


async def harness_out(folder: Path) -> State:
    """
    A filter of one namespace asks a Service that does not exist; the control plane is well.
    """
    async with replicas(folder) as found:
        await found.led()
        cluster = found.server.cluster
        asks = cluster.get(*EXT_AUTHZ)
        assert asks is not None
        wrong = json.dumps(asks["spec"]).replace("llm-gateway-auth.", "never-was.")
        cluster.patch(*EXT_AUTHZ, {"spec": json.loads(wrong)})
        await found.all_show("finding", 1, reason="modelharnessExtAuthzProviderMissing")
        labels = {"scope": "namespace", "stalled": "true", "workload_namespace": TEAM}
        await found.all_show("rollup_blocking_info", 1, of=1, **labels)
        return await _steady(found)


async def objects_unread(folder: Path) -> State:
    """
    The CRD of the objects is not installed.
    """
    async with replicas(folder, *OBJECTS) as found:
        await found.led()
        await found.all_show("watch_up", 0, kind=STATUSES)
        return await _steady(found)


async def store_refused(folder: Path) -> State:
    """
    No HealthEvent may be created.
    """
    right = ("create", HEALTH_EVENTS.group, HEALTH_EVENTS.resource)
    async with replicas(folder, *STORE, deny=[right]) as found:
        found.server.cluster.upsert(HEALTH_EVENTS_CRD)
        await found.led()
        await found.all_show("watch_up", 1, kind=HEALTH_EVENTS.group_resource)
        scale_to_zero(found.server)
        await found.all_show("store_up", 0, of=1)
        return await _steady(found)


async def produce(folder: Path, wanted: Sequence[Produce]) -> dict[str, State]:
    """
    Produce the states, some of them side by side.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def one(state: Produce) -> State:
        async with places:
            return await state(folder / state.__name__)

    states = await asyncio.gather(*(one(each) for each in wanted))
    return {state.__name__: found for state, found in zip(wanted, states, strict=True)}
