"""
Episodes of nodes in NVSentinel's kind, on an API server with a CRD as its documents describe it.
"""

import json
from collections.abc import Iterator

import msgspec
import pytest

from e2e.controlplane import ApiError, Client, ControlPlane, Json, crds, until
from e2e.controlplane.reporter_rights import revoked
from e2e.support import events
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.reporter_waits import until_all_known, until_logged, until_metric
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS
from reporter.history.node_events import make_fault, make_recovery
from reporter.kinds.api_names import NVSENTINEL_RESOURCE
from reporter.kinds.health_events import Resolution
from reporter.kinds.nvsentinel import NodeHealthEventSpec, node_health_events
from tests.support.builders import NOON
from tests.support.health_events import RESOURCE, a_health_event, a_spec
from tests.support.node_events import a_node_crd


pytestmark = pytest.mark.controlplane

SLOW = 60
AFTERWARDS = 100
PRESSURE = "inferencesetNodeUnderPressure"
OURS = {"app.kubernetes.io/managed-by": "productionstack-status-reporter"}
OTHER = "healthevents.nvsentinel.dgxc.nvidia.com"
WORKSPACES = "/apis/kaito.sh/v1beta1/namespaces/team-0/workspaces"
TEXT = "NodePluginsNotReady: waiting; warning: worker node(s) under resource pressure: "


class NodeStore:
    """The objects of one resource of NVSentinel's on the control plane."""

    def __init__(self, plane: ControlPlane, resource: str, version: str) -> None:
        self.client, self.version = plane.client, version
        self.kind = node_health_events(resource, NAMESPACE)
        self.path = (
            f"/apis/{self.kind.group}/{version}/namespaces/{NAMESPACE}/{self.kind.resource}"
        )
        overlay = plane.folder / "node-pressure.overlay.yaml"
        holds = dict.fromkeys(("declared", "failed", "lost", "starting"), "1s")
        overlay.write_text(json.dumps({"reasons": {PRESSURE: {"hold": holds}}}))
        self.flags = (
            *SHORT_FLAGS,
            "--store=nvsentinel",
            f"--store-resource={resource}",
            f"--release-namespace={NAMESPACE}",
            "--scrape=off",
            f"--catalogue-overlay={overlay}",
        )

    def create(self, name: str, spec: NodeHealthEventSpec | Json, **labels: str) -> None:
        """Create an object, of which every field must be known."""
        manifest = {
            "apiVersion": f"{self.kind.group}/{self.version}",
            "kind": self.kind.kind,
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
            "spec": msgspec.to_builtins(spec),
        }
        self.client.create(f"{self.path}?fieldValidation=Strict", manifest)

    def objects(self) -> list[Json]:
        return self.client.list(self.path)

    def health(self) -> list[tuple[str, bool]]:
        return sorted((e["spec"]["nodeName"], e["spec"]["isHealthy"]) for e in self.objects())

    def until_health(self, *wanted: tuple[str, bool], within: float = SLOW) -> list[Json]:
        until(
            lambda: self.health() == sorted(wanted),
            within=within,
            what=f"{sorted(wanted)}, and not {self.health()}",
        )
        return self.objects()


@pytest.fixture(
    params=[(NVSENTINEL_RESOURCE, "v1"), (OTHER, "v1alpha1")],
    ids=["as-its-chart", "as-its-design"],
)
def store(request: pytest.FixtureRequest, bare: ControlPlane) -> Iterator[NodeStore]:
    resource, version = request.param
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    bare.client.apply(space)
    crds.install(bare.client, [a_node_crd(resource, version)])
    inference_sets.healthy_models(bare)
    pressed(bare.client)
    try:
        yield NodeStore(bare, resource, version)
    finally:
        crds.remove(bare.client, resource)
        pressed(bare.client)


def pressed(client: Client, *nodes: str) -> None:
    """Put nodes of the first model under memory pressure, as KAITO reports it; none: repair it."""
    name = next(
        each["metadata"]["name"]
        for each in client.list(WORKSPACES)
        if each["metadata"]["labels"]["inferenceset.kaito.sh/created-by"] == "model-0"
    )
    text = TEXT + ", ".join(f"{node} (MemoryPressure)" for node in nodes) if nodes else ""
    conditions = client.get(f"{WORKSPACES}/{name}")["status"]["conditions"]
    for each in conditions:
        if each["type"] == "NodesReady":
            each["message"] = text
    client.patch(f"{WORKSPACES}/{name}/status", {"status": {"conditions": conditions}})


def test_episode_of_a_node_is_a_fault_and_a_recovery(store: NodeStore, bare: ControlPlane) -> None:
    client = bare.client
    with ReporterProcess(bare, *store.flags) as reporter:
        inference_sets.misconfigure(client, 1)
        pressed(client, "node-1", "node-2")
        events.wait_for(client, PRESSURE, within=SLOW)
        events.wait_for(client, INVALID_REASON, within=PROMPT_TIMEOUT)
        faults = store.until_health(("node-1", False), ("node-2", False))
        for fault in faults:
            spec = fault["spec"]
            assert spec["processingStrategy"] == "STORE_ONLY"
            assert spec["recommendedAction"] == "NONE"
            assert (spec["checkName"], spec["version"]) == (PRESSURE, 1)
            assert {"entityType": "nodes", "entityValue": spec["nodeName"]} in spec[
                "entitiesImpacted"
            ]
            assert "status" not in fault, "it is other controllers'"
        until_metric(reporter, 1, "store_up")
        until_metric(reporter, 2, "store_objects", phase="Active")
        pressed(client)
        wanted = [(node, healthy) for node in ("node-1", "node-2") for healthy in (False, True)]
        both = store.until_health(*wanted)
        unchanged = {each["metadata"]["name"]: each["spec"] for each in faults}
        assert unchanged.items() <= {e["metadata"]["name"]: e["spec"] for e in both}.items()
        until_metric(reporter, 2, "store_objects", phase="Resolved")
        assert not client.exists(f"{crds.PATH}/{RESOURCE}"), "exactly one backend"
        assert reporter.lines("permissions are missing") == []


def test_successor_ends_what_its_predecessor_began(store: NodeStore, bare: ControlPlane) -> None:
    client = bare.client
    with ReporterProcess(bare, *store.flags):
        pressed(client, "node-1")
        (fault,) = store.until_health(("node-1", False))
    pressed(client)
    with ReporterProcess(bare, *store.flags):
        both = store.until_health(("node-1", False), ("node-1", True))
        assert fault["metadata"]["uid"] in {each["metadata"]["uid"] for each in both}


def test_what_was_over_long_ago_is_deleted_and_objects_of_others_are_not(
    store: NodeStore, bare: ControlPlane
) -> None:
    spec = a_spec(PRESSURE, node="node-1")
    fault = a_health_event("one", spec)
    recovery = make_recovery(fault, Resolution.CLEARED, now=NOON)
    for name, made in {"one": make_fault(spec), "one-recovered": recovery}.items():
        store.create(name, made, **OURS)
    store.create("theirs", make_fault(spec))
    with ReporterProcess(bare, *store.flags):
        until(lambda: len(store.objects()) == 1, within=AFTERWARDS, what="both are deleted")
        assert store.objects()[0]["metadata"]["name"] == "theirs"


def test_missing_right_is_logged_and_delays_no_event(store: NodeStore, bare: ControlPlane) -> None:
    client = bare.client
    with ReporterProcess(bare, *store.flags) as reporter:
        resource = store.kind.resource
        with revoked(client, NAMESPACE, resource, "create", store=store.kind):
            pressed(client, "node-1")
            events.wait_for(client, PRESSURE, within=SLOW)
            until(lambda: reporter.metric("store_up") == 0, within=AFTERWARDS, what="it is down")
            until_all_known(reporter)
            assert store.objects() == []
        store.until_health(("node-1", False), within=AFTERWARDS)


def test_objects_pass_strict_validation_and_a_fault_without_node_does_not(
    store: NodeStore,
) -> None:
    spec = a_spec("inferencesetNodeUnderPressure", node="node-1", error_code=("Memory",))
    recovery = make_recovery(a_health_event("one", spec), Resolution.CLEARED, now=NOON)
    for name, made in {"fault": make_fault(spec), "recovery": recovery}.items():
        store.create(name, made)
    written = msgspec.to_builtins(make_fault(spec))
    nowhere = {name: value for name, value in written.items() if name != "nodeName"}
    with pytest.raises(ApiError, match="nodeName"):
        store.create("nowhere", nowhere)
    with pytest.raises(ApiError, match="unknown field"):
        store.create("odd", {**written, "phase": "Active"})


def test_crd_without_the_strategy_is_refused_and_keeps_no_object(
    store: NodeStore, bare: ControlPlane
) -> None:
    resource = store.kind.group_resource
    crd = a_node_crd(resource, store.version)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    fields = schema["properties"]["spec"]["properties"]
    kept = {name: each for name, each in fields.items() if name != "processingStrategy"}
    schema["properties"]["spec"]["properties"] = kept
    crds.remove(bare.client, resource)
    crds.install(bare.client, [crd])
    with ReporterProcess(bare, *store.flags) as reporter:
        pressed(bare.client, "node-1")
        events.wait_for(bare.client, PRESSURE, within=SLOW)
        until_logged(reporter, f"{resource} does not keep spec.processingStrategy")
        until_metric(reporter, 0, "store_up")
        assert store.objects() == []
