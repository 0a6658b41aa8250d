"""
From what was found out about a workload namespace to the verdict.
"""

from collections.abc import Iterable
from typing import TypeAlias

from reporter.model.kinds import NAMESPACES, ResourceKind
from reporter.model.objects import Namespace
from reporter.model.observations import Unserved
from reporter.model.subjects import Key
from reporter.model.verdicts import (
    Active,
    Clear,
    Involved,
    ObjectRef,
    Trouble,
    Unknown,
    Verdict,
)
from reporter.stages.deployments import Stale
from reporter.stages.snapshot import Snapshot


Found: TypeAlias = Trouble | Stale


def ruling(snapshot: Snapshot, key: Key, found: Iterable[Found | None]) -> Verdict:
    """
    One that could not be looked at makes all Unknown, as it may have been in trouble before.
    """
    troubles = []
    for each in found:
        if isinstance(each, Stale):
            return Unknown(key, each.why)
        troubles += [each] if each is not None else []
    if not troubles:
        return Clear(key)
    ordered = tuple(sorted(troubles, key=lambda trouble: trouble.cause))
    return Active(key, ordered, involved(snapshot, key.subject.namespace))


def involved(snapshot: Snapshot, namespace: str) -> Involved:
    """
    A namespace with its uid, the last known one if it is gone.
    """
    found = snapshot.get(NAMESPACES, Namespace, "", namespace)
    gone = snapshot.gone.get(ObjectRef(NAMESPACES.qualified, "", namespace), "")
    return Involved("v1", "Namespace", namespace, found.metadata.uid if found else gone)


def unserved(snapshot: Snapshot, *kinds: ResourceKind) -> Stale | None:
    """
    That a kind is not served, so that what was kept of it means nothing.
    """
    for kind in kinds:
        if isinstance(snapshot.tables[kind.resource].sight, Unserved):
            return Stale(f"{kind.qualified} are not served")
    return None


def undecoded(snapshot: Snapshot, kind: ResourceKind, namespace: str, name: str) -> Stale | None:
    if not snapshot.spoilt:
        return None
    ref = ObjectRef(kind.qualified, namespace, name)
    if ref not in snapshot.spoilt:
        return None
    where = f"{namespace}/{name}" if namespace else name
    return Stale(f"{kind.kind} {where} could not be decoded")
