"""Builders of the objects of one InferenceSet, healthy by default."""

from datetime import UTC, datetime

from reporter.kinds.core import Namespace, Service
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.gateway_api import (
    BackendReference,
    EndpointPickerReference,
    Gateway,
    GatewayClass,
    GatewayClassSpec,
    GatewaySpec,
    HTTPRoute,
    HTTPRouteRule,
    HTTPRouteSpec,
    InferencePool,
    InferencePoolSelector,
    InferencePoolSpec,
    ParentReference,
    ParentsStatus,
    ParentStatus,
)
from reporter.kinds.kaito import (
    InferenceSet,
    InferenceSetSpec,
    InferenceSetStatusFields,
    Workspace,
)
from reporter.kinds.objects import AnnotatedMetadata, Condition, Metadata
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.store.store import Store
from reporter.stories import built_objects
from reporter.stories.built_objects import (
    build_metadata,
    build_model_pod,
    build_workspace,
)
from tests.support.builders import a_deployment, a_pod, a_store, an_observed_condition
from tests.support.catalogue_fixture import HARNESS_LABEL


CREATED_BY, INDEX, NODE = built_objects.CREATED_BY, built_objects.INDEX, built_objects.NODE
SERVING_CONDITIONS = built_objects.SERVING_CONDITIONS
TEAM, MODEL, WORKSPACE = "team-a", "qwen", "qwen-7rk2p"
GATEWAY, ROUTE, POOL = "team-a-gw", "qwen-route", "qwen-inferencepool"
EPP = f"{POOL}-epp"
OF_MODEL = {"kaito.sh/inferenceset": MODEL, "kaito.sh/owned-by": "modeldeployment"}
SELECTED = {CREATED_BY: MODEL, INDEX: "0"}
ISTIO = "istio.io/gateway-controller"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SUBJECT = Subject(Layer.MODELDEPLOYMENT, TEAM, MODEL)
WAITING_CONDITIONS = {
    "NodesReady": ("False", "NodeNotReady", "Not enough Nodes are ready"),
    "ResourceReady": ("False", "workspaceResourceStatusNotReady"),
    "InferenceReady": (
        "False",
        "WorkspaceInferenceStatusPending",
        "Inference workload is not ready",
    ),
}
"""The conditions, beside NodeClaimReady, of a Workspace whose nodes are still to come."""

QUOTA = "creating instance, on-demand vCPU quota has been reached"


def _meta(name: str, type_=Metadata, **changes) -> Metadata:
    return build_metadata(name, type_, **{"namespace": TEAM, **changes})


def a_team() -> Namespace:
    label, value = HARNESS_LABEL
    return Namespace(metadata=Metadata(name=TEAM, uid=f"uid-{TEAM}", labels={label: value}))


def a_set(replicas: int | None = 1, **changes) -> InferenceSet:
    """Build the InferenceSet; *scaling*: its scaling annotations, without their prefix."""
    scaling = changes.get("scaling")
    annotations = {f"scaledobject.kaito.sh/{k}": v for k, v in (scaling or {}).items()}
    return InferenceSet(
        metadata=_meta(MODEL, AnnotatedMetadata, annotations=annotations, **changes),
        spec=InferenceSetSpec(replicas=replicas, node_count_limit=changes.get("limit")),
        status=InferenceSetStatusFields(conditions=changes.get("conditions", ())),
    )


def a_workspace(name: str = WORKSPACE, changed_conditions=None, **changes) -> Workspace:
    """
    Build a Workspace of the team's model, serving by default; *changes* as of `build_workspace`.
    """
    given = {"namespace": TEAM, "of": MODEL, **changes}
    return build_workspace(name, changed_conditions, **given)


def a_model_pod(index: int = 0, workspace: str = WORKSPACE, *, namespace: str = TEAM, **changes):
    """Build a pod of the team's model, Ready by default; *changes* as of `build_model_pod`."""
    return build_model_pod(index, workspace, namespace=namespace, **{"of": MODEL, **changes})


def never_ready(moment: datetime) -> dict:
    """Return the keywords of a pod created at that moment and never Ready since."""
    return {"ready": False, "created_at": moment, "started": moment, "since": moment}


def lost(moment: datetime) -> dict:
    """Return the keywords of a pod that was Ready until that moment."""
    return {"ready": False, "since": moment}


def a_gateway(name: str = GATEWAY, **changes) -> Gateway:
    spec = GatewaySpec(gateway_class_name=changes.get("class_name", "istio"))
    return Gateway(metadata=_meta(name, **changes), spec=spec)


def a_class(name: str = "istio", controller: str = ISTIO) -> GatewayClass:
    return GatewayClass(
        metadata=Metadata(name=name), spec=GatewayClassSpec(controller_name=controller)
    )


def a_parent(name: str = GATEWAY, **changes) -> ParentReference:
    return ParentReference(name=name, **changes)


def an_entry(*conditions: Condition, parent=None, controller: str = ISTIO) -> ParentStatus:
    changed_conditions = {
        each.type: each
        for each in (
            an_observed_condition("Accepted"),
            an_observed_condition("ResolvedRefs"),
            *conditions,
        )
    }
    return ParentStatus(
        parent_ref=parent or a_parent(),
        controller_name=controller,
        conditions=tuple(changed_conditions.values()),
    )


def a_route(name: str = ROUTE, *entries: ParentStatus, **changes) -> HTTPRoute:
    """
    Build a route that the team's Gateway accepted, or with other *entries* in its status.

    *unseen*: no controller wrote any entry.
    """
    parents = changes.get("parents", (a_parent(),))
    backend = BackendReference(
        name=changes.get("pool", POOL), group="inference.networking.k8s.io", kind="InferencePool"
    )
    status = () if changes.get("unseen") else entries or (an_entry(),)
    return HTTPRoute(
        metadata=_meta(name, **{"labels": OF_MODEL, **changes}),
        spec=HTTPRouteSpec(parent_refs=parents, rules=(HTTPRouteRule(backend_refs=(backend,)),)),
        status=ParentsStatus(parents=status),
    )


def a_pool(name: str = POOL, *entries: ParentStatus, **changes) -> InferencePool:
    """
    Build a pool; the default entry has Istio's group and no controllerName, as Istio writes it.
    """
    picker = changes.get("picker", EPP)
    if isinstance(picker, str):
        picker = EndpointPickerReference(name=picker)
    return InferencePool(
        metadata=_meta(name, **{"labels": OF_MODEL, **changes}),
        spec=InferencePoolSpec(
            selector=InferencePoolSelector(match_labels=changes.get("selects", SELECTED)),
            endpoint_picker_ref=picker,
        ),
        status=ParentsStatus(parents=entries or (an_entry_of_istio(),)),
    )


def an_entry_of_istio(*conditions: Condition, name: str = GATEWAY) -> ParentStatus:
    """Build the entry that Istio writes about a pool."""
    parent = a_parent(name, group="networking.istio.io", kind="Gateway", namespace=TEAM)
    return an_entry(*conditions, parent=parent, controller="")


def a_picker_service(name: str = EPP) -> Service:
    return Service(metadata=_meta(name))


def a_picker(name: str = EPP, **changes):
    return a_deployment(name, TEAM, **{"replicas": 1, "labels": OF_MODEL, **changes})


def a_picker_pod(name: str = f"{EPP}-6c9f-x1", **changes):
    return a_pod(name, TEAM, workload=EPP, **changes)


def a_model(*changed, without=()) -> list:
    """
    Return all objects of a healthy InferenceSet; *changed* replace those of their kind and name.

    *without*: types to leave out.
    """
    healthy = [
        a_team(),
        a_set(),
        a_workspace(),
        a_model_pod(),
        a_gateway(),
        a_class(),
        a_route(),
        a_pool(),
        a_picker(),
        a_picker_pod(),
        a_picker_service(),
    ]
    named = {(type(o), o.metadata.name): o for o in (*healthy, *changed)}
    return [o for (type_, _), o in named.items() if type_ not in without]


def a_model_store(*objects, deleted=()) -> Store:
    """Build a store with these objects; *deleted* are added and deleted again."""
    store = a_store(*objects, *deleted)
    for each in deleted:
        delete_from_store(store, each)
    return store


def delete_from_store(store: Store, each) -> None:
    kind = next(kind for kind in DEFAULT_KINDS if isinstance(each, kind.type))
    store.delete(kind, each.metadata.namespace, each.metadata.name)
