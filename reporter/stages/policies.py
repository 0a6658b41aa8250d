"""
Whether the provider that an AuthorizationPolicy asks is one of MeshConfig's.

Istio denies every request of a policy whose provider it does not know, and says so only in its log.
"""

from collections.abc import Iterable

from reporter.model.kinds import AUTHORIZATION_POLICIES, DEPLOYMENTS, MESH_CONFIGS
from reporter.model.mesh_config import MeshConfig
from reporter.model.mesh_objects import AuthorizationPolicy
from reporter.model.objects import Deployment
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.model.words import Kind
from reporter.stages.conditions import LONGEST
from reporter.stages.deployments import Stale
from reporter.stages.foreign import clean, shorten
from reporter.stages.indexes import by_label, in_namespace
from reporter.stages.likeness import nearest
from reporter.stages.ruling import Found, undecoded
from reporter.stages.snapshot import Snapshot


NOT_FOUND = "ProviderNotFound"
ISTIOD, REVISION = ("app", "istiod"), "istio.io/rev"


def asked(snapshot: Snapshot, namespace: str) -> tuple[AuthorizationPolicy, ...]:
    """
    The policies there that ask a provider; none where policies are not seen.
    """
    if not snapshot.sees(AUTHORIZATION_POLICIES):
        return ()
    found = snapshot.find(AUTHORIZATION_POLICIES, AuthorizationPolicy, in_namespace(namespace))
    return tuple(
        each for each in found if each.provider and each.metadata.deletion_timestamp is None
    )


def troubles(snapshot: Snapshot, namespace: str, home: str) -> Iterable[Found | None]:
    """
    *home*: the namespace of istiod, where its MeshConfig is.
    """
    policies = asked(snapshot, namespace)
    if not policies or not snapshot.sees(MESH_CONFIGS) or _is_revised(snapshot):
        return []
    blind = undecoded(snapshot, MESH_CONFIGS, home, MESH_CONFIGS.name)
    config = snapshot.get(MESH_CONFIGS, MeshConfig, home, MESH_CONFIGS.name)
    if blind is not None or (config is None and _was_there(snapshot, home)):
        return [blind or Stale(f"ConfigMap {home}/{MESH_CONFIGS.name} was deleted")]
    known = config.providers if config is not None else None
    if known is None:
        return []
    return [_unknown(each, known) for each in policies if each.provider not in known]


def _is_revised(snapshot: Snapshot) -> bool:
    """
    Whether an istiod has a revision, and with it a MeshConfig of its own that is not read.
    """
    found = snapshot.find(DEPLOYMENTS, Deployment, by_label(*ISTIOD))
    return any(each.metadata.label(REVISION) not in {"", "default"} for each in found)


def _was_there(snapshot: Snapshot, home: str) -> bool:
    return ObjectRef(MESH_CONFIGS.qualified, home, MESH_CONFIGS.name) in snapshot.gone


def _unknown(policy: AuthorizationPolicy, known: Iterable[str]) -> Trouble:
    meta, provider = policy.metadata, policy.provider
    asks = f'asks provider "{shorten(clean(provider), LONGEST)}"'
    return Trouble(
        cause=Cause(
            ObjectRef(AUTHORIZATION_POLICIES.qualified, meta.namespace, meta.name), NOT_FOUND
        ),
        kind=Kind.DECLARED,
        out=True,
        born=meta.creation_timestamp,
        fields={
            "object": f"AuthorizationPolicy {meta.name}",
            "state": f"{asks}, which MeshConfig does not have{nearest(provider, known)}",
        },
    )
