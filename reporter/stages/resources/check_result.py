"""
The results of the checks of one subject, and their sum: the verdict.
"""

from collections.abc import Iterable
from dataclasses import dataclass
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
from reporter.stages.snapshot.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """
    The result of a check without usable input; *why* is shown in ``/status``.

    Typical reasons: a status older than its spec, an object that could not be decoded, a kind that
    was not listed yet.
    """

    why: str


CheckResult: TypeAlias = Trouble | Inconclusive


def to_verdict(
    snapshot: Snapshot,
    key: FindingKey,
    results: Iterable[CheckResult | None],
    *,
    requires: tuple[ResourceKind, ...] = (),
) -> Verdict:
    """
    Combine results into one verdict about a workload namespace; None stands for no trouble.

    A single inconclusive result makes the verdict Unknown, because the object that was not checked
    may be the one an earlier pass found in trouble. So does a kind of *requires* that is not served.
    """
    not_served = check_served(snapshot, *requires) if requires else None
    if not_served is not None:
        return Unknown(key, not_served.why)
    troubles = []
    for result in results:
        if isinstance(result, Inconclusive):
            return Unknown(key, result.why)
        if result is not None:
            troubles.append(result)
    if not troubles:
        return Clear(key)
    ordered = tuple(sorted(troubles, key=lambda trouble: trouble.cause))
    return Active(key, ordered, involved_namespace(snapshot, key.subject.namespace))


def involved_namespace(snapshot: Snapshot, name: str) -> InvolvedObject:
    """
    Return a namespace as involvedObject, with its last known uid if it was deleted.
    """
    namespace = snapshot.peek(NAMESPACES, Namespace, "", name)
    if namespace is not None:
        uid = namespace.metadata.uid
    else:
        uid = snapshot.deleted_uids.get(ObjectRef(NAMESPACES.group_resource, "", name), "")
    return InvolvedObject("v1", "Namespace", name, uid)


def check_served(snapshot: Snapshot, *kinds: ResourceKind) -> Inconclusive | None:
    """
    Return an inconclusive result for the first kind that the API server does not serve.

    The objects of such a kind stay in the snapshot, but nobody updates them any more.
    """
    for kind in kinds:
        if isinstance(snapshot.tables[kind.resource].watch_state, NotServed):
            return Inconclusive(f"{kind.group_resource} are not served")
    return None


def check_decoded(
    snapshot: Snapshot, kind: ResourceKind, namespace: str, name: str
) -> Inconclusive | None:
    """
    Return an inconclusive result if the newest version of an object could not be decoded.
    """
    if not snapshot.undecodable:
        return None
    if ObjectRef(kind.group_resource, namespace, name) not in snapshot.undecodable:
        return None
    full_name = f"{namespace}/{name}" if namespace else name
    return Inconclusive(f"{kind.kind} {full_name} could not be decoded")
