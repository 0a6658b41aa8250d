"""
Whether the provider that an AuthorizationPolicy asks is one of MeshConfig's.

Istio denies every request of a policy whose provider it does not know, and says so only in its log.
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
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.stages.resources.check_result import CheckResult, check_decoded
from reporter.stages.resources.conditions import MAX_REASON_BYTES
from reporter.stages.resources.workloads.deployments import Inconclusive
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.text.sanitize import sanitize, truncate_bytes
from reporter.stages.text.suggest import did_you_mean


PROVIDER_NOT_FOUND = "ProviderNotFound"
ISTIOD_LABEL, REVISION_LABEL = ("app", "istiod"), "istio.io/rev"


def find_provider_policies(snapshot: Snapshot, namespace: str) -> tuple[AuthorizationPolicy, ...]:
    """
    The policies there that ask a provider; none where policies are not seen.
    """
    if not snapshot.has_synced(AUTHORIZATION_POLICIES):
        return ()
    found = snapshot.by_index(
        AUTHORIZATION_POLICIES, AuthorizationPolicy, namespace_key(namespace)
    )
    return tuple(
        each for each in found if each.provider_name and each.metadata.deletion_timestamp is None
    )


def find_provider_troubles(
    snapshot: Snapshot, namespace: str, home: str
) -> Iterable[CheckResult | None]:
    """
    *home*: the namespace of istiod, where its MeshConfig is.
    """
    policies = find_provider_policies(snapshot, namespace)
    if not policies or not snapshot.has_synced(MESH_CONFIG_MAPS) or _has_revisions(snapshot):
        return []
    blind = check_decoded(snapshot, MESH_CONFIG_MAPS, home, MESH_CONFIG_MAPS.object_name)
    config = snapshot.get(MESH_CONFIG_MAPS, MeshConfigMap, home, MESH_CONFIG_MAPS.object_name)
    if blind is not None or (config is None and _was_mesh_config_deleted(snapshot, home)):
        return [
            blind or Inconclusive(f"ConfigMap {home}/{MESH_CONFIG_MAPS.object_name} was deleted")
        ]
    known = config.providers if config is not None else None
    if known is None:
        return []
    return [
        _unknown_provider_trouble(each, known)
        for each in policies
        if each.provider_name not in known
    ]


def _has_revisions(snapshot: Snapshot) -> bool:
    """
    Whether an istiod has a revision, and with it a MeshConfig of its own that is not read.
    """
    found = snapshot.by_index(DEPLOYMENTS, Deployment, label_key(*ISTIOD_LABEL))
    return any(each.metadata.label(REVISION_LABEL) not in {"", "default"} for each in found)


def _was_mesh_config_deleted(snapshot: Snapshot, home: str) -> bool:
    return (
        ObjectRef(MESH_CONFIG_MAPS.group_resource, home, MESH_CONFIG_MAPS.object_name)
        in snapshot.deleted_uids
    )


def _unknown_provider_trouble(policy: AuthorizationPolicy, known: Iterable[str]) -> Trouble:
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
            "state": f"{asks}, which MeshConfig does not have{did_you_mean(provider, known)}",
        },
    )
