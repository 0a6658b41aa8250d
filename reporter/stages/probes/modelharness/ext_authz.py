"""
Probe for a Gateway's external authorization that is missing or names a backend that does not exist.

Envoy refuses every request whose authorization backend it cannot reach. Services are not watched, so
only backends that cannot exist are reported: in a namespace that does not exist, or in one where
gateway auth runs under another name. A missing gateway auth is reported by the cluster layer.

With the source ``istio`` the probe also compares AuthorizationPolicies with MeshConfig's providers.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.enums import DetailSource, TroubleKind
from reporter.model.kinds.istio_cilium import EnvoyFilter
from reporter.model.kinds.kaito import APIKey
from reporter.model.kinds.objects import Deployment, Metadata, Namespace
from reporter.model.kinds.resource_kinds import (
    API_KEYS,
    AUTHORIZATION_POLICIES,
    DEPLOYMENTS,
    ENVOY_FILTERS,
    MESH_CONFIG_MAPS,
    NAMESPACES,
)
from reporter.model.verdicts import Cause, ObjectRef, Trouble, Verdict
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.resources.check_result import (
    CheckResult,
    Inconclusive,
    check_decoded,
    check_served,
    to_verdict,
)
from reporter.stages.resources.detail import with_detail
from reporter.stages.resources.existence import absence_of, exclude_deleting
from reporter.stages.resources.gateway import authorization_policies
from reporter.stages.resources.gateway.envoy_filters import envoy_filter_trouble
from reporter.stages.resources.gateway.gateways import is_owned_by_harness
from reporter.stages.resources.workloads.components import (
    ComponentSpec,
    LocatedDeployment,
    locate_component,
)
from reporter.stages.snapshot.index_keys import COMPONENT_LABELS, label_key, namespace_key
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.suggest import did_you_mean


class ExtAuthzParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *filters*: the names of the EnvoyFilter; a harness with auth has one of them.

    *backends*: the components of gateway auth, whose Services have the names of their Deployments.
    """

    filters: tuple[str, ...]
    backends: tuple[ComponentSpec, ...] = ()


ISTIO_NAMESPACE_FLAG = "istio-namespace"
"""
The flag with the namespace of istiod and its MeshConfig.
"""

SERVICE_CLUSTER = re.compile(
    r"outbound\|\d+\|[^|]*\|(?P<name>[a-z0-9-]+)\.(?P<namespace>[a-z0-9-]+)\.svc\."
)
"""
Istio's name of a Service's Envoy cluster: ``outbound|<port>|<subset>|<host>``.
"""


@dataclass(frozen=True, slots=True)
class BackendService:
    name: str
    namespace: str


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    detail = authorization_policies.find_provider_troubles(
        snapshot, request.subject.namespace, request.flags[ISTIO_NAMESPACE_FLAG]
    )
    unwatched = next(iter(request.unwatched.values()), "")
    results = with_detail(_check_filters(snapshot, request), detail, unwatched=unwatched)
    yield to_verdict(snapshot, request.key(), results)


def _check_filters(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    namespace, parameters = request.subject.namespace, request.parameters
    not_served = check_served(snapshot, ENVOY_FILTERS)
    if not_served is not None:
        return [not_served] if _api_key_names(snapshot, namespace) else []
    undecodable = [
        check_decoded(snapshot, ENVOY_FILTERS, namespace, name) for name in parameters.filters
    ]
    if any(undecodable):
        return undecodable
    filters = snapshot.by_index(ENVOY_FILTERS, EnvoyFilter, namespace_key(namespace))
    expected = [each for each in filters if each.metadata.name in parameters.filters]
    if not expected and not any(each.spec.authorizes for each in filters):
        return [_missing_filter_trouble(snapshot, namespace, parameters)]
    backends = _locate_backends(snapshot, request)
    return [_filter_trouble(snapshot, each, backends) for each in exclude_deleting(expected)]


# ---------------------------------------------------------------- no filter


def _missing_filter_trouble(
    snapshot: Snapshot, namespace: str, parameters: ExtAuthzParameters
) -> CheckResult | None:
    """
    Return the trouble of a missing filter if the harness has auth, which its API key shows.

    The chart creates the key and the filter together. An AuthorizationPolicy with a provider is the
    other way to configure external authorization and needs no filter.
    """
    not_listed = snapshot.why_not_synced(API_KEYS)
    if not_listed:
        return Inconclusive(not_listed)
    keys = _api_key_names(snapshot, namespace)
    if not keys or authorization_policies.find_provider_policies(snapshot, namespace):
        return None
    refs = [
        ObjectRef(ENVOY_FILTERS.group_resource, namespace, name) for name in parameters.filters
    ]
    ref = next((each for each in refs if absence_of(snapshot, each).was_deleted), refs[0])
    absence = absence_of(snapshot, ref)
    state = f"{absence.describe()}, so that nothing asks for API keys although APIKey {keys[0]} is there"
    return Trouble(
        cause=Cause(ref, "FilterNotFound"),
        kind=absence.trouble_kind,
        is_out=True,
        message_fields={"object": f"EnvoyFilter {ref.name}", "state": state},
    )


def _api_key_names(snapshot: Snapshot, namespace: str) -> Sequence[str]:
    if check_served(snapshot, API_KEYS):
        return []
    keys = snapshot.by_index(API_KEYS, APIKey, namespace_key(namespace))
    return [key.metadata.name for key in exclude_deleting(keys) if is_owned_by_harness(key)]


# ---------------------------------------------------------------- the backend of a filter


def _locate_backends(snapshot: Snapshot, request: ProbeRequest) -> Sequence[LocatedDeployment]:
    """
    Return the locations of gateway auth's components, also of those that do not exist.
    """
    located = (
        locate_component(snapshot, each, request.flags) for each in request.parameters.backends
    )
    return [each for each in located if each is not None]


def _filter_trouble(
    snapshot: Snapshot, envoy_filter: EnvoyFilter, backends: Sequence[LocatedDeployment]
) -> Trouble | None:
    """
    Return the trouble of the first backend of a filter that does not exist; a filter may have two.
    """
    for match in map(SERVICE_CLUSTER.match, envoy_filter.spec.clusters):
        if match is None:
            continue
        service = BackendService(match["name"], match["namespace"])
        trouble = _service_trouble(snapshot, envoy_filter, service, backends)
        if trouble is not None:
            return trouble
    return None


def _service_trouble(
    snapshot: Snapshot,
    envoy_filter: EnvoyFilter,
    service: BackendService,
    backends: Sequence[LocatedDeployment],
) -> Trouble | None:
    asks = f"asks Service {service.namespace}/{service.name}"
    if snapshot.get(NAMESPACES, Namespace, "", service.namespace) is None:
        ref = ObjectRef(NAMESPACES.group_resource, "", service.namespace)
        absence = absence_of(snapshot, ref)
        existing = [each.metadata.name for each in snapshot.all(NAMESPACES)]
        state = absence.describe(did_you_mean(service.namespace, existing))
        return envoy_filter_trouble(
            envoy_filter,
            "NamespaceNotFound",
            absence.trouble_kind,
            f"{asks}, whose namespace {state}",
        )
    actual = _actual_backend(snapshot, service, backends)
    if not actual:
        return None
    state = f"{asks}, but gateway auth is {actual}"
    return envoy_filter_trouble(envoy_filter, "ServiceNotFound", TroubleKind.DECLARED, state)


def _actual_backend(
    snapshot: Snapshot, service: BackendService, backends: Sequence[LocatedDeployment]
) -> str:
    """
    Return where gateway auth runs instead of behind this Service; empty if the Service may exist.

    Services are not watched. A Deployment of the Service's name or label shows that it may exist. So
    does a backend of that name which is missing: the cluster layer reports it.
    """
    deployment = snapshot.get(DEPLOYMENTS, Deployment, service.namespace, service.name)
    is_missing = any(each.name == service.name and not each.deployments for each in backends)
    if deployment is not None or is_missing or _has_labelled_deployment(snapshot, service):
        return ""
    running = (each.deployments[0].metadata for each in backends if each.deployments)
    meant = [meta for meta in running if _is_likely_meant(meta, service)]
    return f"{meant[0].namespace}/{meant[0].name}" if meant else ""


def _is_likely_meant(backend: Metadata, service: BackendService) -> bool:
    """
    Return whether a backend shares its namespace or its name with a Service.
    """
    return service.namespace == backend.namespace or service.name == backend.name


def _has_labelled_deployment(snapshot: Snapshot, service: BackendService) -> bool:
    """
    Return whether a Deployment of the namespace has the Service's name as one of its app labels.
    """
    keys = (label_key(label, service.name) for label in COMPONENT_LABELS)
    deployments = (d for key in keys for d in snapshot.by_index(DEPLOYMENTS, Deployment, key))
    return any(each.metadata.namespace == service.namespace for each in deployments)


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
