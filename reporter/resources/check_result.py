"""The results of the checks of one subject, and their sum: the verdict."""

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.resource_kind import ResourceKind
from reporter.model import verdicts
from reporter.model.observations import NotServed
from reporter.model.subjects import FindingKey
from reporter.snapshot.lookups import why_undecodable
from reporter.snapshot.snapshot import Snapshot


class Inconclusive(Struct, frozen=True):
    """
    The result of a check without usable input; *why* is shown in ``/status``.

    Typical reasons: a status older than its spec, an object that could not be decoded, a kind that
    was not listed yet.
    *objects*: the cause objects whose trouble it leaves open; empty for every object.
    *is_brief*: a few more observations will show the state.
    """

    why: str
    objects: frozenset[verdicts.ObjectRef] = frozenset()
    is_brief: bool = False


CheckResult: TypeAlias = verdicts.Trouble | Inconclusive


def to_verdict(
    snapshot: Snapshot, key: FindingKey, results: Iterable[CheckResult | None]
) -> verdicts.Verdict:
    """
    Combine results into one verdict about a workload namespace; None stands for no trouble.

    An inconclusive result hides no trouble of another object, but the verdict is never Clear with
    one.
    """
    found = [result for result in results if result is not None]
    if not found:
        return verdicts.Clear(key)
    troubles = [each for each in found if isinstance(each, verdicts.Trouble)]
    inconclusive = [each for each in found if isinstance(each, Inconclusive)]
    why = inconclusive[0].why if inconclusive else ""
    if not troubles:
        return verdicts.Unknown(key, why, any(each.is_brief for each in inconclusive))
    ordered = tuple(sorted(troubles, key=lambda trouble: trouble.cause))
    involved = involved_namespace(snapshot, key.subject.namespace)
    return verdicts.Active(
        key, ordered, involved, partial_notes(why), why, open_objects(inconclusive)
    )


def limit_to(result: CheckResult | None, *objects: verdicts.ObjectRef) -> CheckResult | None:
    """
    Return the result of a check that is only about *objects*, so that it leaves no other object open.
    """
    if isinstance(result, Inconclusive) and not result.objects:
        return replace(result, objects=frozenset(objects))
    return result


def open_objects(inconclusive: Iterable[Inconclusive]) -> frozenset[verdicts.ObjectRef]:
    """
    Return the cause objects that inconclusive results leave open; none stands for every object.
    """
    objects = [each.objects for each in inconclusive]
    return frozenset().union(*objects) if all(objects) else frozenset()


def partial_notes(why: str) -> tuple[str, ...]:
    """Return the note of a verdict that does not cover all objects; *why* is empty if it does."""
    return (f"evaluated in part: {why}",) if why else ()


def first_trouble(*results: CheckResult | None) -> CheckResult | None:
    """
    Return the first trouble among the checks of one object, else the first inconclusive result.

    A fact that needs no writer counts although a status beside it is older than its spec.
    """
    first = None
    for result in results:
        if isinstance(result, verdicts.Trouble):
            return result
        first = first or result
    return first


def involved_namespace(snapshot: Snapshot, name: str) -> verdicts.InvolvedObject:
    """Return a namespace as involvedObject, with its last known uid if it was deleted."""
    namespace = snapshot.peek(NAMESPACES, Namespace, "", name)
    if namespace is not None:
        uid = namespace.metadata.uid
    else:
        uid = snapshot.deleted_uids.get(NAMESPACES.ref("", name), "")
    return verdicts.InvolvedObject("v1", "Namespace", name, uid)


def check_served(snapshot: Snapshot, *kinds: ResourceKind) -> Inconclusive | None:
    """
    Return an inconclusive result for the first kind that the API server does not serve.

    The objects of such a kind stay in the snapshot, but nobody updates them any more.
    """
    for kind in kinds:
        if isinstance(snapshot.tables[kind.table].watch_state, NotServed):
            return Inconclusive(f"{kind.group_resource} are not served")
    return None


def check_decoded(
    snapshot: Snapshot, kind: ResourceKind, namespace: str, name: str
) -> Inconclusive | None:
    """
    Return an inconclusive result if the newest version of an object could not be decoded.

    Needed only where trouble of other objects still counts: a verdict on such an object alone
    becomes Unknown without this check.
    """
    if not snapshot.undecodable:
        return None
    if verdicts.ObjectRef(kind.watch_name, namespace, name) not in snapshot.undecodable:
        return None
    return Inconclusive(why_undecodable(kind, (namespace, name)))
