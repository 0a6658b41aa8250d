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
from reporter.model.enums import DetailSource, TroubleKind
from reporter.model.kinds.base.keys import label_key, namespace_key
from reporter.model.kinds.base.objects import Metadata
from reporter.model.kinds.core.deployments import COMPONENT_LABELS, DEPLOYMENTS, Deployment
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.kinds.istio.authorization_policies import AUTHORIZATION_POLICIES
from reporter.model.kinds.istio.envoy_filters import ENVOY_FILTERS, EnvoyFilter
from reporter.model.kinds.istio.mesh_config import MESH_CONFIG_MAPS
from reporter.model.kinds.kaito.api_keys import API_KEYS, APIKey
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import (
    CheckResult,
    check_decoded,
    check_served,
    to_verdict,
)
from reporter.stages.resources.detail import with_detail
from reporter.stages.resources.gateway import authorization_policies
from reporter.stages.resources.gateway.envoy_filters import envoy_filter_trouble
from reporter.stages.resources.gateway.gateways import is_owned_by_harness
from reporter.stages.resources.workloads.components import (
    ComponentSpec,
    LocatedDeployment,
    locate_component,
)
from reporter.stages.resources.workloads.deployments import Inconclusive
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.suggest import did_you_mean


class ExtAuthzParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *filters*: names of the EnvoyFilter; a harness with auth has one of them.

    *backends*: where gateway auth runs, whose Services are named as its Deployments are.
    """

    filters: tuple[str, ...]
    backends: tuple[ComponentSpec, ...] = ()


ISTIO_NAMESPACE_FLAG = "istio-namespace"
"""
The flag that tells where MeshConfig is.
"""

SERVICE_CLUSTER = re.compile(
    r"outbound\|\d+\|[^|]*\|(?P<name>[a-z0-9-]+)\.(?P<namespace>[a-z0-9-]+)\.svc\."
)
"""
Istio's name of the Envoy cluster that stands for a Service.
"""


@dataclass(frozen=True, slots=True)
class BackendService:
    name: str
    namespace: str


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    detail = authorization_policies.find_provider_troubles(
        snapshot, question.subject.namespace, question.flags[ISTIO_NAMESPACE_FLAG]
    )
    unwatched = next(iter(question.unwatched.values()), "")
    found = with_detail(_find_troubles(snapshot, question), detail, unwatched=unwatched)
    yield to_verdict(snapshot, question.key(), found)


def _find_troubles(snapshot: Snapshot, question: ProbeRequest) -> Iterable[CheckResult | None]:
    namespace, told = question.subject.namespace, question.parameters
    blind = check_served(snapshot, ENVOY_FILTERS)
    if blind is not None:
        return [blind] if _api_key_names(snapshot, namespace) else []
    unread = [check_decoded(snapshot, ENVOY_FILTERS, namespace, each) for each in told.filters]
    if any(unread):
        return unread
    filters = snapshot.by_index(ENVOY_FILTERS, EnvoyFilter, namespace_key(namespace))
    ours = [each for each in filters if each.metadata.name in told.filters]
    if not ours and not any(each.spec.authorizes for each in filters):
        return [_missing_filter_trouble(snapshot, namespace, told)]
    backends = _locate_backends(snapshot, question)
    return [
        _filter_trouble(snapshot, each, backends)
        for each in ours
        if each.metadata.deletion_timestamp is None
    ]


# ---------------------------------------------------------------- no filter


def _missing_filter_trouble(
    snapshot: Snapshot, namespace: str, told: ExtAuthzParameters
) -> CheckResult | None:
    """
    An API key of the harness means that auth is on; then the chart ships the filter too.
    """
    unlisted = snapshot.why_not_synced(API_KEYS)
    if unlisted:
        return Inconclusive(unlisted)
    keys = _api_key_names(snapshot, namespace)
    if not keys or authorization_policies.find_provider_policies(snapshot, namespace):
        return None
    refs = [ObjectRef(ENVOY_FILTERS.group_resource, namespace, name) for name in told.filters]
    ref = next((each for each in refs if each in snapshot.deleted_uids), refs[0])
    seen = ref in snapshot.deleted_uids
    lacks = "was deleted" if seen else "does not exist"
    state = f"{lacks}, so that nothing asks for API keys although APIKey {keys[0]} is there"
    return Trouble(
        cause=Cause(ref, "FilterNotFound"),
        kind=TroubleKind.LOST if seen else TroubleKind.DECLARED,
        is_out=True,
        message_fields={"object": f"EnvoyFilter {ref.name}", "state": state},
    )


def _api_key_names(snapshot: Snapshot, namespace: str) -> Sequence[str]:
    if check_served(snapshot, API_KEYS):
        return []
    return [
        each.metadata.name
        for each in snapshot.by_index(API_KEYS, APIKey, namespace_key(namespace))
        if is_owned_by_harness(each) and each.metadata.deletion_timestamp is None
    ]


# ---------------------------------------------------------------- what it names


def _locate_backends(snapshot: Snapshot, question: ProbeRequest) -> Sequence[LocatedDeployment]:
    """
    The parts of gateway auth, be they there or not.
    """
    located = (
        locate_component(snapshot, each, question.flags) for each in question.parameters.backends
    )
    return [each for each in located if each is not None]


def _filter_trouble(
    snapshot: Snapshot, made: EnvoyFilter, backends: Sequence[LocatedDeployment]
) -> Trouble | None:
    """
    The first of its backends that is wrong; a filter may have two.
    """
    named = (SERVICE_CLUSTER.match(cluster) for cluster in made.spec.clusters)
    for found in named:
        service = BackendService(found["name"], found["namespace"]) if found is not None else None
        trouble = (
            _service_trouble(snapshot, made, service, backends) if service is not None else None
        )
        if trouble is not None:
            return trouble
    return None


def _service_trouble(
    snapshot: Snapshot,
    made: EnvoyFilter,
    service: BackendService,
    backends: Sequence[LocatedDeployment],
) -> Trouble | None:
    where = f"asks Service {service.namespace}/{service.name}"
    if snapshot.get(NAMESPACES, Namespace, "", service.namespace) is None:
        seen = ObjectRef(NAMESPACES.group_resource, "", service.namespace) in snapshot.deleted_uids
        existing = [each.metadata.name for each in snapshot.all(NAMESPACES)]
        lacks = (
            "was deleted" if seen else f"does not exist{did_you_mean(service.namespace, existing)}"
        )
        kind = TroubleKind.LOST if seen else TroubleKind.DECLARED
        return envoy_filter_trouble(
            made, "NamespaceNotFound", kind, f"{where}, whose namespace {lacks}"
        )
    other = _actual_backend(snapshot, service, backends)
    if not other:
        return None
    state = f"{where}, but gateway auth is {other}"
    return envoy_filter_trouble(made, "ServiceNotFound", TroubleKind.DECLARED, state)


def _actual_backend(
    snapshot: Snapshot, service: BackendService, backends: Sequence[LocatedDeployment]
) -> str:
    """
    What gateway auth is called instead; empty if the Service may well exist.
    """
    there = snapshot.get(DEPLOYMENTS, Deployment, service.namespace, service.name)
    away = any(each.name == service.name and not each.deployments for each in backends)
    if there is not None or away or _has_labelled_deployment(snapshot, service):
        return ""
    found = (each.deployments[0].metadata for each in backends if each.deployments)
    meant = [f"{each.namespace}/{each.name}" for each in found if _is_likely_meant(each, service)]
    return meant[0] if meant else ""


def _is_likely_meant(backend: Metadata, service: BackendService) -> bool:
    """
    Of the same namespace or of the same name.
    """
    return service.namespace == backend.namespace or service.name == backend.name


def _has_labelled_deployment(snapshot: Snapshot, service: BackendService) -> bool:
    """
    Whether a Deployment there is labelled so: its Service may be named after that.
    """
    keys = (label_key(label, service.name) for label in COMPONENT_LABELS)
    found = (each for key in keys for each in snapshot.by_index(DEPLOYMENTS, Deployment, key))
    return any(each.metadata.namespace == service.namespace for each in found)


PROBE = Probe(
    ProbeSpec(
        name="ext-authz",
        parameters_type=ExtAuthzParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset(
            {
                "NamespaceNotFound",
                "ServiceNotFound",
                "FilterNotFound",
                authorization_policies.PROVIDER_NOT_FOUND,
            }
        ),
        required_kinds=(ENVOY_FILTERS, DEPLOYMENTS, NAMESPACES),
        optional_kinds=(API_KEYS,),
        required_crds=lambda _: frozenset({ENVOY_FILTERS.group_resource}),
        kinds_by_source={DetailSource.ISTIO: (AUTHORIZATION_POLICIES, MESH_CONFIG_MAPS)},
    ),
    evaluate,
)
