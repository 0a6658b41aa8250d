"""States in which Events, or objects, are not written."""

from pathlib import Path

from devcluster.example.team import MODEL, TEAM
from devcluster.http.faults.rules import rate_limited_response, status_response
from devcluster.server import DevCluster
from e2e.chart.alerts.capture import State, capture
from e2e.chart.alerts.replicas import REPLICAS, replicas
from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.kinds.productionstack import PRODUCTION_STACK_STATUSES
from reporter.resources.scaling_annotations import ANNOTATION_PREFIX
from tests.integration.process.reporter_process import scale_to_zero
from tests.support.health_events import CRD as HEALTH_EVENTS_CRD
from tests.support.status_objects import CRD, STATUSES, manifest


OBJECTS = ("--status-objects",) * REPLICAS
STORE = ("--store=healthevents",) * REPLICAS
MIRROR = ("--mirror-events",) * REPLICAS
BESIDE, MIRROR_WRITES = f"/namespaces/{TEAM}/events", "mirror_writes_total"


def _misconfigure(server: DevCluster) -> None:
    """Ask for a number of replicas that is none."""
    wrong = {"auto-provision": "true", "max-replicas": "0"}
    annotations = {f"{ANNOTATION_PREFIX}{name}": value for name, value in wrong.items()}
    patch = {"metadata": {"annotations": annotations}}
    server.cluster.patch("inferencesets.kaito.sh", TEAM, MODEL, patch)


async def writes_refused(folder: Path) -> State:
    async with replicas(folder, deny=[("create", "", "events")]) as found:
        await found.led()
        scale_to_zero(found.server)
        await found.in_state("active", reason="clusterBBRNotReady")
        await found.counted("refused")
        await found.all_show("missing_rights", 1, verb="create", resource="events")
        await found.all_show("rollup_blocking_info", 1, of=1, scope="cluster", stalled="true")
        before = (await capture(found)).before
        count = await found.counted("refused")
        await found.counted("refused", above=count)
        return State(before, found.pages())


async def one_write_throttled(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        found.server.faults.add(rate_limited_response(), method="POST", path="/events", times=1)
        scale_to_zero(found.server)
        await found.counted("throttled")
        await found.counted("created")
        return await capture(found)


async def dropped(folder: Path) -> State:
    async with replicas(folder) as found:
        await found.led()
        invalid = status_response(400, "BadRequest", "the Event is not understood")
        found.server.faults.add(invalid, method="POST", path="/events", times=1)
        scale_to_zero(found.server)
        await found.counted("dropped")
        return await capture(found)


async def mirrors_refused(folder: Path) -> State:
    """A policy of the workload namespace refuses Events; those in kube-system are written."""
    refused = status_response(403, "Forbidden", "denied by a policy of the namespace")
    async with replicas(folder, *MIRROR) as found:
        await found.led()
        found.server.faults.add(refused, method="POST", path=BESIDE)
        _misconfigure(found.server)
        await found.counted("created")
        await found.counted("refused", metric=MIRROR_WRITES)
        before = (await capture(found)).before
        count = await found.counted("refused", metric=MIRROR_WRITES)
        await found.counted("refused", metric=MIRROR_WRITES, above=count)
        return State(before, found.pages())


async def mirror_dropped(folder: Path) -> State:
    invalid = status_response(400, "BadRequest", "the Event is not understood")
    async with replicas(folder, *MIRROR) as found:
        await found.led()
        found.server.faults.add(invalid, method="POST", path=BESIDE, times=1)
        _misconfigure(found.server)
        await found.counted("dropped", metric=MIRROR_WRITES)
        return await capture(found)


async def objects_refused(folder: Path) -> State:
    """The status of an object may not be written."""
    right = ("patch", PRODUCTION_STACK_STATUSES.group, "productionstackstatuses/status")
    async with replicas(folder, *OBJECTS, deny=[right]) as found:
        found.server.cluster.upsert(CRD)
        found.server.cluster.upsert(manifest(TEAM))
        await found.led()
        await found.all_show("watch_up", 1, kind=STATUSES)
        await found.all_show("status_objects_failing", 1, of=1)
        return await capture(found)


async def objects_unread(folder: Path) -> State:
    """The CRD of the objects is not installed."""
    async with replicas(folder, *OBJECTS) as found:
        await found.led()
        await found.all_show("watch_up", 0, kind=STATUSES)
        return await capture(found)


async def store_refused(folder: Path) -> State:
    """No HealthEvent may be created."""
    right = ("create", HEALTH_EVENTS.group, HEALTH_EVENTS.resource)
    async with replicas(folder, *STORE, deny=[right]) as found:
        found.server.cluster.upsert(HEALTH_EVENTS_CRD)
        await found.led()
        await found.all_show("watch_up", 1, kind=HEALTH_EVENTS.group_resource)
        scale_to_zero(found.server)
        await found.all_show("store_up", 0, of=1)
        return await capture(found)
