"""
Whether the Gateway's filter for external authorization is there and names a backend that exists.

Envoy refuses every request if its backend cannot be reached. Services are not read, so only what is
wrong whatever Services there are is told: no such namespace, or one where gateway auth is known to
run under another name. That gateway auth itself is away is the cluster's trouble.

With Istio as a source also whether the provider of an AuthorizationPolicy is one of MeshConfig's.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.kaito_objects import APIKey
from reporter.model.kinds import (
    API_KEYS,
    AUTHORIZATION_POLICIES,
    DEPLOYMENTS,
    ENVOY_FILTERS,
    MESH_CONFIGS,
    NAMESPACES,
)
from reporter.model.mesh_objects import EnvoyFilter
from reporter.model.objects import Deployment, Metadata, Namespace
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.model.words import Kind, Source
from reporter.stages import policies
from reporter.stages.components import Component, Located, locate
from reporter.stages.deployments import Stale
from reporter.stages.detail import with_detail
from reporter.stages.filters import filter_trouble
from reporter.stages.gateways import of_harness
from reporter.stages.indexes import COMPONENT_LABELS, by_label, in_namespace
from reporter.stages.likeness import nearest
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.ruling import Found, ruling, undecoded, unserved
from reporter.stages.snapshot import Snapshot


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *filters*: names of the EnvoyFilter; a harness with auth has one of them.

    *backends*: where gateway auth runs, whose Services are named as its Deployments are.
    """

    filters: tuple[str, ...]
    backends: tuple[Component, ...] = ()


ISTIO_NAMESPACE = "istio-namespace"
"""
The flag that tells where MeshConfig is.
"""

SERVICE = re.compile(
    r"outbound\|\d+\|[^|]*\|(?P<name>[a-z0-9-]+)\.(?P<namespace>[a-z0-9-]+)\.svc\."
)
"""
Istio's name of the Envoy cluster that stands for a Service.
"""


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    namespace: str


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    detail = policies.troubles(
        snapshot, question.subject.namespace, question.flags[ISTIO_NAMESPACE]
    )
    unwatched = next(iter(question.unwatched.values()), "")
    found = with_detail(_found(snapshot, question), detail, unwatched=unwatched)
    yield ruling(snapshot, question.key(), found)


def _found(snapshot: Snapshot, question: Question) -> Iterable[Found | None]:
    namespace, told = question.subject.namespace, question.parameters
    blind = unserved(snapshot, ENVOY_FILTERS)
    if blind is not None:
        return [blind] if _keys(snapshot, namespace) else []
    unread = [undecoded(snapshot, ENVOY_FILTERS, namespace, each) for each in told.filters]
    if any(unread):
        return unread
    filters = snapshot.find(ENVOY_FILTERS, EnvoyFilter, in_namespace(namespace))
    ours = [each for each in filters if each.metadata.name in told.filters]
    if not ours and not any(each.spec.authorizes for each in filters):
        return [_missing(snapshot, namespace, told)]
    backends = _backends(snapshot, question)
    return [
        _of_filter(snapshot, each, backends)
        for each in ours
        if each.metadata.deletion_timestamp is None
    ]


# ---------------------------------------------------------------- no filter


def _missing(snapshot: Snapshot, namespace: str, told: Parameters) -> Found | None:
    """
    An API key of the harness means that auth is on; then the chart ships the filter too.
    """
    unlisted = snapshot.unlisted(API_KEYS)
    if unlisted:
        return Stale(unlisted)
    keys = _keys(snapshot, namespace)
    if not keys or policies.asked(snapshot, namespace):
        return None
    refs = [ObjectRef(ENVOY_FILTERS.qualified, namespace, name) for name in told.filters]
    ref = next((each for each in refs if each in snapshot.gone), refs[0])
    seen = ref in snapshot.gone
    lacks = "was deleted" if seen else "does not exist"
    state = f"{lacks}, so that nothing asks for API keys although APIKey {keys[0]} is there"
    return Trouble(
        cause=Cause(ref, "FilterNotFound"),
        kind=Kind.LOST if seen else Kind.DECLARED,
        out=True,
        fields={"object": f"EnvoyFilter {ref.name}", "state": state},
    )


def _keys(snapshot: Snapshot, namespace: str) -> Sequence[str]:
    if unserved(snapshot, API_KEYS):
        return []
    return [
        each.metadata.name
        for each in snapshot.find(API_KEYS, APIKey, in_namespace(namespace))
        if of_harness(each) and each.metadata.deletion_timestamp is None
    ]


# ---------------------------------------------------------------- what it names


def _backends(snapshot: Snapshot, question: Question) -> Sequence[Located]:
    """
    The parts of gateway auth, be they there or not.
    """
    located = (locate(snapshot, each, question.flags) for each in question.parameters.backends)
    return [each for each in located if each is not None]


def _of_filter(
    snapshot: Snapshot, made: EnvoyFilter, backends: Sequence[Located]
) -> Trouble | None:
    """
    The first of its backends that is wrong; a filter may have two.
    """
    named = (SERVICE.match(cluster) for cluster in made.spec.clusters)
    for found in named:
        service = Service(found["name"], found["namespace"]) if found is not None else None
        trouble = _of_service(snapshot, made, service, backends) if service is not None else None
        if trouble is not None:
            return trouble
    return None


def _of_service(
    snapshot: Snapshot, made: EnvoyFilter, service: Service, backends: Sequence[Located]
) -> Trouble | None:
    where = f"asks Service {service.namespace}/{service.name}"
    if snapshot.get(NAMESPACES, Namespace, "", service.namespace) is None:
        seen = ObjectRef(NAMESPACES.qualified, "", service.namespace) in snapshot.gone
        existing = [each.metadata.name for each in snapshot.all(NAMESPACES)]
        lacks = "was deleted" if seen else f"does not exist{nearest(service.namespace, existing)}"
        kind = Kind.LOST if seen else Kind.DECLARED
        return filter_trouble(made, "NamespaceNotFound", kind, f"{where}, whose namespace {lacks}")
    other = _known_as(snapshot, service, backends)
    if not other:
        return None
    state = f"{where}, but gateway auth is {other}"
    return filter_trouble(made, "ServiceNotFound", Kind.DECLARED, state)


def _known_as(snapshot: Snapshot, service: Service, backends: Sequence[Located]) -> str:
    """
    What gateway auth is called instead; empty if the Service may well exist.
    """
    there = snapshot.get(DEPLOYMENTS, Deployment, service.namespace, service.name)
    away = any(each.name == service.name and not each.found for each in backends)
    if there is not None or away or _is_labelled(snapshot, service):
        return ""
    found = (each.found[0].metadata for each in backends if each.found)
    meant = [f"{each.namespace}/{each.name}" for each in found if _is_meant(each, service)]
    return meant[0] if meant else ""


def _is_meant(backend: Metadata, service: Service) -> bool:
    """
    Of the same namespace or of the same name.
    """
    return service.namespace == backend.namespace or service.name == backend.name


def _is_labelled(snapshot: Snapshot, service: Service) -> bool:
    """
    Whether a Deployment there is labelled so: its Service may be named after that.
    """
    keys = (by_label(label, service.name) for label in COMPONENT_LABELS)
    found = (each for key in keys for each in snapshot.find(DEPLOYMENTS, Deployment, key))
    return any(each.metadata.namespace == service.namespace for each in found)


PROBE = Probe(
    ProbeSpec(
        name="ext-authz",
        parameters=Parameters,
        fields=frozenset({"object", "state"}),
        codes=frozenset(
            {"NamespaceNotFound", "ServiceNotFound", "FilterNotFound", policies.NOT_FOUND}
        ),
        requires=(ENVOY_FILTERS, DEPLOYMENTS, NAMESPACES),
        uses=(API_KEYS,),
        demands=lambda _: frozenset({ENVOY_FILTERS.qualified}),
        sources={Source.ISTIO: (AUTHORIZATION_POLICIES, MESH_CONFIGS)},
    ),
    judge,
)
