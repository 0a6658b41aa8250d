"""
From what was found out about a workload namespace to the verdict.
"""

from collections.abc import Iterable
from typing import TypeAlias

from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.observations import NotServed
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import (
    Active,
    Clear,
    InvolvedObject,
    ObjectRef,
    Trouble,
    Unknown,
    Verdict,
)
from reporter.stages.resources.workloads.deployments import Inconclusive
from reporter.stages.snapshot.snapshot import Snapshot


CheckResult: TypeAlias = Trouble | Inconclusive


def to_verdict(
    snapshot: Snapshot, key: FindingKey, found: Iterable[CheckResult | None]
) -> Verdict:
    """
    One that could not be looked at makes all Unknown, as it may have been in trouble before.
    """
    troubles = []
    for each in found:
        if isinstance(each, Inconclusive):
            return Unknown(key, each.why)
        troubles += [each] if each is not None else []
    if not troubles:
        return Clear(key)
    ordered = tuple(sorted(troubles, key=lambda trouble: trouble.cause))
    return Active(key, ordered, involved_namespace(snapshot, key.subject.namespace))


def involved_namespace(snapshot: Snapshot, namespace: str) -> InvolvedObject:
    """
    A namespace with its uid, the last known one if it is gone.
    """
    found = snapshot.get(NAMESPACES, Namespace, "", namespace)
    gone = snapshot.deleted_uids.get(ObjectRef(NAMESPACES.group_resource, "", namespace), "")
    return InvolvedObject("v1", "Namespace", namespace, found.metadata.uid if found else gone)


def check_served(snapshot: Snapshot, *kinds: ResourceKind) -> Inconclusive | None:
    """
    That a kind is not served, so that what was kept of it means nothing.
    """
    for kind in kinds:
        if isinstance(snapshot.tables[kind.resource].watch_state, NotServed):
            return Inconclusive(f"{kind.group_resource} are not served")
    return None


def check_decoded(
    snapshot: Snapshot, kind: ResourceKind, namespace: str, name: str
) -> Inconclusive | None:
    if not snapshot.undecodable:
        return None
    ref = ObjectRef(kind.group_resource, namespace, name)
    if ref not in snapshot.undecodable:
        return None
    where = f"{namespace}/{name}" if namespace else name
    return Inconclusive(f"{kind.kind} {where} could not be decoded")
