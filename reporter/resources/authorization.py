"""Trouble with the EnvoyFilters, policies and backends of the external authorization."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds import istio
from reporter.kinds.apps import COMPONENT_LABELS, DEPLOYMENTS, Deployment
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.istio import AuthorizationPolicy, EnvoyFilter, MeshConfigMap
from reporter.kinds.objects import label_key, namespace_key
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import sanitize, truncate_bytes
from reporter.model.suggest import did_you_mean
from reporter.model.verdicts import Trouble
from reporter.resources.check_result import CheckResult, Inconclusive, check_decoded
from reporter.resources.components import LocatedDeployment
from reporter.resources.conditions import MAX_REASON_BYTES, absence_of, is_deleting, object_trouble
from reporter.snapshot.lookups import why_incomplete
from reporter.snapshot.snapshot import Snapshot


# --------------------------------------------------------------------
# AuthorizationPolicies whose extension provider MeshConfig does not define.
#
# Istio denies every request that such a policy covers, and reports it in istiod's log only.
# Sources: security.istio.io/v1 AuthorizationPolicy (action CUSTOM, spec.provider.name) and MeshConfig's
# extensionProviders, in Istio's API reference.


PROVIDER_NOT_FOUND = "ProviderNotFound"
ISTIOD_LABEL, REVISION_LABEL = ("app", "istiod"), "istio.io/rev"


def find_provider_policies(snapshot: Snapshot, namespace: str) -> tuple[AuthorizationPolicy, ...]:
    """
    Return the policies of a namespace that name a provider, without those being deleted.

    None proves nothing while `why_policies_unread` gives a reason.
    """
    if not snapshot.has_synced(istio.AUTHORIZATION_POLICIES):
        return ()
    policies = snapshot.by_index(
        istio.AUTHORIZATION_POLICIES, AuthorizationPolicy, namespace_key(namespace)
    )
    return tuple(each for each in policies if each.provider_name and not is_deleting(each))


def why_policies_unread(snapshot: Snapshot, namespace: str, *, now: datetime) -> str:
    """
    Return why a namespace may have policies that are not known, "" if there are none.

    Without the source istio they are not read on purpose, and count as none.
    """
    if istio.AUTHORIZATION_POLICIES.table not in snapshot.tables:
        return ""
    return why_incomplete(snapshot, istio.AUTHORIZATION_POLICIES, namespace, now=now)


def find_provider_troubles(
    snapshot: Snapshot, namespace: str, istio_namespace: str
) -> Iterable[CheckResult | None]:
    """
    Check the providers of a namespace's policies against the MeshConfig in *istio_namespace*.

    Nothing is checked while either is not watched, or where an istiod runs as a named revision.
    """
    policies = find_provider_policies(snapshot, namespace)
    if not policies or not snapshot.has_synced(istio.MESH_CONFIG_MAPS) or _has_revisions(snapshot):
        return []
    name = istio.MESH_CONFIG_MAPS.object_name
    undecodable = check_decoded(snapshot, istio.MESH_CONFIG_MAPS, istio_namespace, name)
    if undecodable is not None:
        return [undecodable]
    config = snapshot.get(istio.MESH_CONFIG_MAPS, MeshConfigMap, istio_namespace, name)
    if config is None:
        ref = istio.MESH_CONFIG_MAPS.ref(istio_namespace, name)
        deleted = absence_of(snapshot, ref).was_deleted
        # A MeshConfig never seen may be under a name that is not read, so its absence proves nothing.
        return [Inconclusive(f"ConfigMap {istio_namespace}/{name} was deleted")] if deleted else []
    providers = config.providers
    if providers is None:
        return []
    return [
        _unknown_provider_trouble(each, providers)
        for each in policies
        if each.provider_name not in providers
    ]


def _has_revisions(snapshot: Snapshot) -> bool:
    """
    Return whether any istiod runs as a named revision.

    Each revision reads a ConfigMap of its own (``istio-<revision>``), and these are not watched.
    """
    istiods = snapshot.by_index(DEPLOYMENTS, Deployment, label_key(*ISTIOD_LABEL))
    return any(each.metadata.label(REVISION_LABEL) not in {"", "default"} for each in istiods)


def _unknown_provider_trouble(policy: AuthorizationPolicy, providers: Iterable[str]) -> Trouble:
    kind, provider = istio.AUTHORIZATION_POLICIES, policy.provider_name
    asks = f'asks provider "{truncate_bytes(sanitize(provider), MAX_REASON_BYTES)}"'
    state = f"{asks}, which MeshConfig does not have{did_you_mean(provider, providers)}"
    return object_trouble(kind, policy, PROVIDER_NOT_FOUND, TroubleKind.DECLARED, state)


# --------------------------------------------------------------------
# The backend Service that an external authorization filter asks.
#
# Services are not watched. Gateway auth's Deployments, which have the names of their Services, and the
# namespaces stand for them.


SERVICE_CLUSTER = re.compile(
    r"outbound\|\d+\|[^|]*\|(?P<name>[a-z0-9-]+)\.(?P<namespace>[a-z0-9-]+)\.svc\."
)
"""Istio's name of a Service's Envoy cluster: ``outbound|<port>|<subset>|<host>``."""


class BackendService(Struct, frozen=True):
    """The Service that a filter asks, by the host in Istio's name of its Envoy cluster."""

    name: str
    namespace: str


def called_services(envoy_filter: EnvoyFilter) -> Iterator[BackendService]:
    """Yield the Services that the patches of a filter call, by the names of their Envoy clusters."""
    for match in map(SERVICE_CLUSTER.match, envoy_filter.spec.clusters):
        if match is not None:
            yield BackendService(match["name"], match["namespace"])


def auth_backend_trouble(
    snapshot: Snapshot, envoy_filter: EnvoyFilter, backends: Sequence[LocatedDeployment]
) -> Trouble | None:
    """
    Return the trouble of the first backend of a filter that does not exist; a filter may have two.
    """
    for service in called_services(envoy_filter):
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
        ref = NAMESPACES.ref("", service.namespace)
        absence = absence_of(snapshot, ref)
        existing = [each.metadata.name for each in snapshot.all(NAMESPACES)]
        state = absence.describe(did_you_mean(service.namespace, existing))
        text = f"{asks}, whose namespace {state}"
        trouble = object_trouble(
            istio.ENVOY_FILTERS, envoy_filter, "NamespaceNotFound", absence.trouble_kind, text
        )
        return replace(trouble, missing=ref)
    actual = _actual_backend(snapshot, service, backends)
    if not actual:
        return None
    state = f"{asks}, but gateway auth is {actual}"
    return object_trouble(
        istio.ENVOY_FILTERS, envoy_filter, "ServiceNotFound", TroubleKind.DECLARED, state
    )


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
    # One that shares its namespace or its name with the Service is likely meant.
    meant = [
        meta
        for meta in running
        if service.namespace == meta.namespace or service.name == meta.name
    ]
    return f"{meant[0].namespace}/{meant[0].name}" if meant else ""


def _has_labelled_deployment(snapshot: Snapshot, service: BackendService) -> bool:
    """
    Return whether a Deployment of the namespace has the Service's name as one of its app labels.
    """
    keys = (label_key(label, service.name) for label in COMPONENT_LABELS)
    deployments = (d for key in keys for d in snapshot.by_index(DEPLOYMENTS, Deployment, key))
    return any(each.metadata.namespace == service.namespace for each in deployments)
