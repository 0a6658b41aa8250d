"""Stacks with every kind of object that probes read, for tests of what marks a subject."""

from collections.abc import Iterator

from msgspec.structs import replace

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.kinds.gateway_api import HTTP_ROUTES, INFERENCE_POOLS
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from tests.support import harness_builders, model_builders, source_builders
from tests.support.builders import a_deployment


KINDS = (*DEFAULT_KINDS, *OPTIONAL_KINDS)
BY_TYPE = {kind.type: kind for kind in KINDS}
SHARED = "gateways"
"""A namespace with a Gateway that routes of other namespaces use."""


def a_stack() -> list[ApiObject]:
    """
    Return a stack of every kind, with a component elsewhere than in the namespaces of the flags.
    """
    return [
        *model_builders.a_model(),
        harness_builders.a_policy(
            harness_builders.a_namespace_in_selector("keda"), namespace=model_builders.TEAM
        ),
        *_filters(),
        a_deployment("istiod", "istio-system", labels={"app": "istiod"}),
        a_deployment("body-based-router", "mesh"),
        a_deployment(
            "apikey-authz", "elsewhere", labels={"app.kubernetes.io/name": "apikey-authz"}
        ),
        a_deployment("keda-kaito-scaler", "scaler-elsewhere"),
        source_builders.a_scaled_object(),
        source_builders.an_autoscaler(),
        source_builders.a_claim(),
        source_builders.a_check_job(),
        source_builders.a_check_job("of-model", of=model_builders.MODEL),
        source_builders.a_check_job("of-no-model", of="gone"),
        source_builders.a_check_job("of-cluster", namespace="kube-system"),
        source_builders.a_check_job("elsewhere", namespace="elsewhere"),
    ]


def _filters() -> Iterator[ApiObject]:
    names = (*harness_builders.FILTERS, "apikey-ext-authz")
    for name in names:
        made = harness_builders.an_authz_filter(name)
        yield replace(made, metadata=replace(made.metadata, namespace=model_builders.TEAM))


def a_shared_gateway() -> list[ApiObject]:
    gateway = model_builders.a_gateway("shared")
    route = model_builders.a_route()
    (parent,) = route.spec.parent_refs or ()
    elsewhere = replace(parent, name="shared", namespace=SHARED)
    return [
        replace(gateway, metadata=replace(gateway.metadata, namespace=SHARED)),
        replace(route, spec=replace(route.spec, parent_refs=(elsewhere,))),
    ]


def an_unlabelled_picker() -> list[ApiObject]:
    """Return a picker that only its pool names, and a pod of it."""
    pool = model_builders.a_pool()
    before = pool.spec.endpoint_picker_ref
    assert before is not None
    picker = replace(before, name="picker")
    pod = model_builders.a_picker_pod()
    owners = tuple(
        replace(owner, kind="Deployment", name="picker")
        for owner in pod.metadata.owner_references or ()
    )
    bare = replace(pod.metadata, labels=None, owner_references=owners)
    return [
        replace(pool, spec=replace(pool.spec, endpoint_picker_ref=picker)),
        a_deployment("picker", model_builders.TEAM, ready=0),
        replace(pod, metadata=bare),
    ]


def without_labels(objects: list[ApiObject], *kinds: ResourceKind) -> list[ApiObject]:
    types = tuple(kind.type for kind in kinds)
    return [
        replace(each, metadata=replace(each.metadata, labels=None))
        if isinstance(each, types)
        else each
        for each in objects
    ]


def of_another_set(objects: list[ApiObject], kind: ResourceKind) -> list[ApiObject]:
    """
    Return the objects with one kind labelled as another InferenceSet's, though named as before.
    """
    labels = {"kaito.sh/inferenceset": "llama"}
    return [
        replace(each, metadata=replace(each.metadata, labels=labels))
        if isinstance(each, kind.type) and each.metadata.name.startswith(model_builders.MODEL)
        else each
        for each in objects
    ]


STACKS = {
    "as charts make it": a_stack(),
    "a Gateway of another namespace": [*a_stack(), *a_shared_gateway()],
    "a picker without labels": [*a_stack(), *an_unlabelled_picker()],
    "routes without labels": without_labels(a_stack(), HTTP_ROUTES),
    "pools without labels": without_labels(a_stack(), INFERENCE_POOLS),
    "pickers without labels": without_labels(a_stack(), DEPLOYMENTS),
    "routes of another set": of_another_set(a_stack(), HTTP_ROUTES),
    "pools of another set": of_another_set(a_stack(), INFERENCE_POOLS),
    "pickers of another set": of_another_set(a_stack(), DEPLOYMENTS),
}
