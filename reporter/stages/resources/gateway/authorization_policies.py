"""
AuthorizationPolicies whose extension provider MeshConfig does not define.

Istio denies every request that such a policy covers, and reports it in istiod's log only.
Sources: security.istio.io/v1 AuthorizationPolicy (action CUSTOM, spec.provider.name) and MeshConfig's
extensionProviders, in Istio's API reference.
"""

from collections.abc import Iterable

from reporter.model.enums import TroubleKind
from reporter.model.kinds.base.keys import label_key, namespace_key
from reporter.model.kinds.core.deployments import DEPLOYMENTS, Deployment
from reporter.model.kinds.istio.authorization_policies import (
    AUTHORIZATION_POLICIES,
    AuthorizationPolicy,
)
from reporter.model.kinds.istio.mesh_config import MESH_CONFIG_MAPS, MeshConfigMap
from reporter.model.text.suggest import did_you_mean
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.stages.resources.check_result import CheckResult, Inconclusive, check_decoded
from reporter.stages.resources.conditions import MAX_REASON_BYTES
from reporter.stages.resources.existence import absence_of, is_deleting
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.sanitize import sanitize, truncate_bytes


PROVIDER_NOT_FOUND = "ProviderNotFound"
ISTIOD_LABEL, REVISION_LABEL = ("app", "istiod"), "istio.io/rev"


def find_provider_policies(snapshot: Snapshot, namespace: str) -> tuple[AuthorizationPolicy, ...]:
    """
    Return the policies of a namespace that name a provider; none if policies are not watched.
    """
    if not snapshot.has_synced(AUTHORIZATION_POLICIES):
        return ()
    policies = snapshot.by_index(
        AUTHORIZATION_POLICIES, AuthorizationPolicy, namespace_key(namespace)
    )
    return tuple(each for each in policies if each.provider_name and not is_deleting(each))


def find_provider_troubles(
    snapshot: Snapshot, namespace: str, istio_namespace: str
) -> Iterable[CheckResult | None]:
    """
    Check the providers of a namespace's policies against the MeshConfig in *istio_namespace*.
    """
    policies = find_provider_policies(snapshot, namespace)
    if not policies or not snapshot.has_synced(MESH_CONFIG_MAPS) or _has_revisions(snapshot):
        return []
    name = MESH_CONFIG_MAPS.object_name
    undecodable = check_decoded(snapshot, MESH_CONFIG_MAPS, istio_namespace, name)
    if undecodable is not None:
        return [undecodable]
    config = snapshot.get(MESH_CONFIG_MAPS, MeshConfigMap, istio_namespace, name)
    if config is None:
        ref = ObjectRef(MESH_CONFIG_MAPS.group_resource, istio_namespace, name)
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
    meta, provider = policy.metadata, policy.provider_name
    asks = f'asks provider "{truncate_bytes(sanitize(provider), MAX_REASON_BYTES)}"'
    return Trouble(
        cause=Cause(
            ObjectRef(AUTHORIZATION_POLICIES.group_resource, meta.namespace, meta.name),
            PROVIDER_NOT_FOUND,
        ),
        kind=TroubleKind.DECLARED,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={
            "object": f"AuthorizationPolicy {meta.name}",
            "state": f"{asks}, which MeshConfig does not have{did_you_mean(provider, providers)}",
        },
    )
