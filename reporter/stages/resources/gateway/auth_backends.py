"""
The backend Service that an external authorization filter asks.

Services are not watched. Gateway auth's Deployments, which have the names of their Services, and the
namespaces stand for them.
"""

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.keys import label_key
from reporter.model.kinds.base.objects import Metadata
from reporter.model.kinds.core.deployments import COMPONENT_LABELS, DEPLOYMENTS, Deployment
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.kinds.istio.envoy_filters import EnvoyFilter
from reporter.model.text.suggest import did_you_mean
from reporter.model.verdicts import ObjectRef, Trouble
from reporter.stages.resources.existence import absence_of
from reporter.stages.resources.gateway.envoy_filters import envoy_filter_trouble
from reporter.stages.resources.workloads.components import LocatedDeployment
from reporter.stages.snapshot.snapshot import Snapshot


SERVICE_CLUSTER = re.compile(
    r"outbound\|\d+\|[^|]*\|(?P<name>[a-z0-9-]+)\.(?P<namespace>[a-z0-9-]+)\.svc\."
)
"""Istio's name of a Service's Envoy cluster: ``outbound|<port>|<subset>|<host>``."""


class BackendService(Struct, frozen=True):
    name: str
    namespace: str


def auth_backend_trouble(
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
        text = f"{asks}, whose namespace {state}"
        trouble = envoy_filter_trouble(
            envoy_filter, "NamespaceNotFound", absence.trouble_kind, text
        )
        return replace(trouble, missing=ref)
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
    """Return whether a backend shares its namespace or its name with a Service."""
    return service.namespace == backend.namespace or service.name == backend.name


def _has_labelled_deployment(snapshot: Snapshot, service: BackendService) -> bool:
    """
    Return whether a Deployment of the namespace has the Service's name as one of its app labels.
    """
    keys = (label_key(label, service.name) for label in COMPONENT_LABELS)
    deployments = (d for key in keys for d in snapshot.by_index(DEPLOYMENTS, Deployment, key))
    return any(each.metadata.namespace == service.namespace for each in deployments)
