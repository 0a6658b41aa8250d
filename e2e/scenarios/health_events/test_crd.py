"""The CRD of HealthEvents on an API server: what it allows, and how it is selected and shown."""

from collections.abc import AsyncIterator
from dataclasses import replace

import msgspec
import pytest
import pytest_asyncio

from e2e.controlplane import ApiError, ControlPlane, Json
from e2e.support import health_events
from e2e.support.health_events import PATH
from e2e.support.reporter_process import NAMESPACE
from reporter.kinds.health_events import (
    HEALTH_EVENTS,
    MAX_CAUSES,
    MAX_REASON,
    MAX_REASONS,
    MAX_REMEDY,
    Entity,
    HealthEvent,
    HealthEventSpec,
    HealthEventStatus,
    Phase,
    PodsEviction,
    Quarantine,
    Resolution,
)
from reporter.kinds.productionstack import MAX_NAME
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.kube.errors import Conflict, Invalid, NotFound
from reporter.kube.event_format import event_labels
from reporter.kube.event_record import EventRecord
from reporter.kube.object_client import ObjectClient
from reporter.model.enums import EventType, Layer, Reason
from reporter.model.sanitize import MAX_EVENT_MESSAGE_BYTES
from reporter.model.status_document import SilencedBy
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject
from tests.support.builders import NOON
from tests.support.health_events import a_spec


pytestmark = pytest.mark.controlplane

VERSION = "v1alpha1"
SET = Subject(Layer.MODELDEPLOYMENT, "team-0", "model-0")
RECORD = EventRecord(
    key=FindingKey(SET, Reason("inferencesetNodeUnderPressure")),
    type=EventType.WARNING,
    involved_object=InvolvedObject("v1", "Namespace", "team-0", "uid"),
    episode_start=NOON,
    message="Thing is broken.",
    content_digest="0123456789abcdef",
    count=1,
    first_timestamp=NOON,
    last_timestamp=NOON,
)
SPEC = a_spec("inferencesetNodeUnderPressure", SET, node="node-7")


@pytest_asyncio.fixture
async def api(plane: ControlPlane) -> AsyncIterator[RestClient]:
    api = await connect(str(plane.kubeconfig()), environ={})
    yield api
    await api.close()


@pytest.fixture
def sink(api: RestClient) -> ObjectClient[HealthEvent]:
    return ObjectClient(api, replace(HEALTH_EVENTS, namespace=NAMESPACE), HealthEvent)


async def _create(
    sink: ObjectClient[HealthEvent], name: str = "one", spec: HealthEventSpec = SPEC
) -> HealthEvent:
    return await sink.create(name, event_labels(RECORD), spec, version=VERSION)


def _read(plane: ControlPlane, name: str = "one") -> HealthEvent:
    return msgspec.convert(plane.client.get(f"{PATH}/{name}"), HealthEvent)


def _patch(found: HealthEvent, **status: object) -> Json:
    return {
        "metadata": {"resourceVersion": found.metadata.resource_version},
        "status": status,
    }


# ------------------------------------------------------------ what it allows


async def test_new_object_is_active_and_holds_what_was_written(
    plane: ControlPlane, sink: ObjectClient[HealthEvent]
) -> None:
    created = await _create(sink)
    found = _read(plane)
    assert created.spec == found.spec == SPEC
    assert found.status == {"phase": "Active", "occurrences": 1}
    assert created.phase == "Active"


async def test_spec_never_changes_and_the_status_does(
    plane: ControlPlane, sink: ObjectClient[HealthEvent]
) -> None:
    found = await _create(sink)
    with pytest.raises(ApiError, match="the spec of an episode never changes") as refused:
        plane.client.patch(f"{PATH}/one", {"spec": {"message": "another"}})
    assert refused.value.status == 422
    patched = await sink.patch(found, _patch(found, phase="Resolved"), version=VERSION)
    assert patched.phase == "Resolved"
    assert patched.spec == SPEC
    assert _read(plane).metadata.generation == 1


async def test_largest_object_is_accepted_and_its_rule_is_cheap_enough(
    plane: ControlPlane, sink: ObjectClient[HealthEvent]
) -> None:
    entity = Entity(entity_type="x" * MAX_NAME, entity_value="y" * MAX_NAME)
    spec = msgspec.structs.replace(
        SPEC,
        message="m" * MAX_EVENT_MESSAGE_BYTES,
        remedy="r" * MAX_REMEDY,
        error_code=tuple(str(number) * MAX_REASON for number in range(MAX_CAUSES)),
        entities_impacted=(entity,) * (MAX_CAUSES + 2),
        item="i" * MAX_NAME,
        content_digest="d" * 63,
    )
    found = await _create(sink, spec=spec)
    reasons = ["r" * MAX_REASON] * MAX_REASONS
    full = _patch(found, also=reasons, suppressing=reasons, message="m" * MAX_EVENT_MESSAGE_BYTES)
    assert (await sink.patch(found, full, version=VERSION)).spec == spec


def test_what_is_written_passes_strict_validation_and_other_fields_do_not(
    plane: ControlPlane,
) -> None:
    path = f"{PATH}?fieldValidation=Strict"
    given = msgspec.structs.replace(SPEC, is_healthy=False, item="one", content_digest="ab")
    every = _as_json(given)
    assert plane.client.create(path, _manifest(every))["spec"] == every
    course = HealthEventStatus(
        phase=Phase.RESOLVED,
        resolution=Resolution.CLEARED,
        resolved_time=NOON,
        occurrences=2,
        message="another",
        also=("clusterBBRNotReady",),
        suppressing=("inferencesetRouteNotReady",),
        content_digest="cd",
        silenced=SilencedBy(until=NOON, by="alice", why="moved", origin="silences.yaml:1"),
        node_quarantined=Quarantine.QUARANTINED,
        quarantine_finish_timestamp=NOON,
        user_pods_eviction_status=PodsEviction(status="Succeeded", message="all are gone"),
        drain_finish_timestamp=NOON,
        fault_remediated=True,
        last_remediation_timestamp=NOON,
    )
    status = _as_json(course)
    assert len(status) == len(msgspec.structs.fields(HealthEventStatus))
    strict = f"{PATH}/strict/status?fieldValidation=Strict"
    assert plane.client.patch(strict, {"status": status})["status"] == status
    with pytest.raises(ApiError, match="unknown field") as refused:
        plane.client.create(path, _manifest({**every, "healthy": False}, "odd"))
    assert refused.value.status == 400
    with pytest.raises(ApiError) as refused:
        plane.client.patch(strict, {"status": {"state": "Active"}})
    assert "unknown field" in refused.value.body, refused.value.body
    with pytest.raises(ApiError) as refused:
        plane.client.patch(strict, {"status": {"userPodsEvictionStatus": {"state": "Failed"}}})
    assert "unknown field" in refused.value.body, refused.value.body


def _as_json(struct: msgspec.Struct) -> Json:
    found: Json = msgspec.json.decode(msgspec.json.encode(struct))
    return found


def _manifest(spec: Json, name: str = "strict") -> Json:
    return {
        "apiVersion": f"{HEALTH_EVENTS.group}/{VERSION}",
        "kind": HEALTH_EVENTS.kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"message": "m" * (MAX_EVENT_MESSAGE_BYTES + 1)},
        {"error_code": ("x",) * (MAX_CAUSES + 1)},
        {"node_name": "n" * (MAX_NAME + 1)},
        {"check_name": ""},
        {"episode": -1},
    ],
    ids=lambda each: next(iter(each)),
)
async def test_spec_beyond_its_bounds_is_invalid(
    sink: ObjectClient[HealthEvent], changes: Json
) -> None:
    with pytest.raises(Invalid):
        await _create(sink, spec=msgspec.structs.replace(SPEC, **changes))


@pytest.mark.parametrize(
    "status", [{"phase": "Broken"}, {"resolvedTime": "soon"}, {"also": ["x"] * 33}], ids=str
)
async def test_status_that_the_crd_does_not_allow_is_invalid(
    sink: ObjectClient[HealthEvent], status: Json
) -> None:
    found = await _create(sink)
    with pytest.raises(Invalid):
        await sink.patch(found, _patch(found, **status), version=VERSION)


# ------------------------------------------------------------ writes of others


async def test_name_that_exists_is_a_conflict(sink: ObjectClient[HealthEvent]) -> None:
    await _create(sink)
    with pytest.raises(Conflict):
        await _create(sink)


async def test_object_that_changed_meanwhile_is_neither_patched_nor_deleted(
    plane: ControlPlane, sink: ObjectClient[HealthEvent]
) -> None:
    found = await _create(sink)
    health_events.set_status(plane.client, "one", faultRemediated=True)
    with pytest.raises(Conflict):
        await sink.patch(found, _patch(found, phase="Resolved"), version=VERSION)
    with pytest.raises(Conflict):
        await sink.delete(found, version=VERSION)
    now = _read(plane)
    assert (now.phase, (now.status or {})["faultRemediated"]) == ("Active", True)
    await sink.delete(now, version=VERSION)
    with pytest.raises(NotFound):
        await sink.delete(now, version=VERSION)


# ------------------------------------------------------------ how it is read


async def test_objects_are_selected_by_node_reason_and_phase(
    plane: ControlPlane, sink: ObjectClient[HealthEvent]
) -> None:
    await _create(sink)
    other = await _create(sink, "two", a_spec("clusterBBRNotReady"))
    await sink.patch(other, _patch(other, phase="Resolved"), version=VERSION)

    def names(selector: str) -> list[str]:
        found = health_events.objects(plane.client, fieldSelector=selector)
        return [each["metadata"]["name"] for each in found]

    assert names("spec.nodeName=node-7") == ["one"]
    assert names("spec.checkName=clusterBBRNotReady") == ["two"]
    assert names("status.phase=Active") == ["one"]
    assert names("status.phase=Resolved") == ["two"]
    labels = health_events.objects(plane.client, labelSelector=HEALTH_EVENTS.label_selector)
    assert len(labels) == 2


async def test_columns_show_reason_subject_node_and_phase(
    plane: ControlPlane, sink: ObjectClient[HealthEvent]
) -> None:
    await _create(sink)
    table = plane.kubectl("get", "he", "-n", NAMESPACE, "--no-headers").split()
    assert table[:5] == [
        "one",
        "inferencesetNodeUnderPressure",
        "team-0/model-0",
        "node-7",
        "Active",
    ]
