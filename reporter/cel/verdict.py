"""
Evaluate the objects of a kind that a catalogue declares, by expressions in CEL.

A kind that is not served does not apply, which is no trouble.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from reporter.cel.compile import (
    CelReason,
    ReadKind,
)
from reporter.cel.evaluation import ObjectResult, check_subject, why_too_many
from reporter.kinds.objects import NamespacedName
from reporter.kinds.resource_kind import ResourceKind, parse_fields
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Cause, Clear, ObjectRef, Trouble, Unknown, Verdict
from reporter.probes.probe import ProbeRequest
from reporter.resources.check_result import (
    CheckResult,
    Inconclusive,
    check_served,
    involved_namespace,
    to_verdict,
)
from reporter.resources.conditions import Absence
from reporter.snapshot.lookups import CheckedSnapshot, why_undecodable
from reporter.snapshot.snapshot import Snapshot


# --------------------------------------------------------------------
# The trouble of an object that is needed and does not exist.
#
# A stack of which nothing is installed needs no controller. So an object is needed while there
# are objects of other kinds, and its absence alone is no trouble.


NAME = "metadata.name"
CODE = "Deleted"


def check_needed(snapshot: Snapshot, reason: CelReason, *, now: datetime) -> CheckResult | None:
    """
    Return the trouble that there is no object of the reason's kind; None if none is needed.

    One that was never seen may have another name or run outside of the cluster, so that is unknown.
    """
    whys = [_why_not_needed(snapshot, each.watched, now=now) for each in reason.needed_by]
    if None not in whys:
        return next((Inconclusive(why) for why in whys if why), None)
    last = _last_known(snapshot, reason.kind.watched)
    if last is not None:
        return _missing_trouble(reason.kind, last)
    return Inconclusive(
        f"{_describe(reason.kind)} does not exist; if something else does its work, set neededBy to []"
        " for this reason in an overlay"
    )


def _why_not_needed(snapshot: Snapshot, kind: ResourceKind, *, now: datetime) -> str | None:
    """
    Return None if there is an object of the kind, else why that is not known; empty if there is none.
    """
    not_served = check_served(snapshot, kind)
    is_undecodable = any(ref.resource == kind.watch_name for ref in snapshot.undecodable)
    has_any = is_undecodable or len(snapshot.tables[kind.table].objects) > 0
    if not_served is not None:
        # Its objects are forgotten once a second discovery confirms that it is gone.
        return not_served.why if has_any else ""
    why = snapshot.why_unknown(kind, now=now)
    return why or (None if has_any else "")


def _missing_trouble(kind: ReadKind, last: NamespacedName) -> Trouble:
    absence, labels = Absence(was_deleted=True), kind.watched.label_selector
    state = absence.describe()
    if labels:
        state += f" or no longer has {labels}"  # which a watch shows as a deletion too
    namespace, name = last
    return Trouble(
        cause=Cause(ObjectRef(kind.declared.group_resource, namespace, name), CODE),
        kind=absence.trouble_kind,
        is_out=True,
        message_fields={
            "object": f"{kind.declared.kind} {'/'.join(filter(None, last))}",
            "name": name,
            "state": state,
            "count": "1 of 1",
        },
        foreign_text=f"it {state}",
    )


def _last_known(snapshot: Snapshot, kind: ResourceKind) -> NamespacedName | None:
    """
    Return the object that is being deleted, or was deleted as the last one; None if none was seen.
    """
    deleting = sorted(snapshot.tables[kind.table].objects.keys())
    deleted = [
        (r.namespace, r.name) for r in snapshot.deleted_uids if r.resource == kind.watch_name
    ]
    return next(iter([*deleting, *reversed(deleted)]), None)


def _describe(kind: ReadKind) -> str:
    """Return the kind and what its selectors limit it to: ``Deployment team-a/operator``."""
    fields = parse_fields(kind.watched.field_selector)
    name = next((r.value for r in fields if r.field == NAME and r.wanted), "")
    labels = kind.watched.label_selector
    shown = "/".join(filter(None, (kind.watched.namespace, name))) or (labels and f"with {labels}")
    return f"{kind.declared.kind} {shown}".rstrip()


RELEASE_NAMESPACE_FLAG = "release-namespace"
MAX_TROUBLES = 100
"""Objects of one subject that have a clock of their own; the others are counted."""

MAX_INCONCLUSIVE = 100


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """
    Yield the one verdict on the objects of a subject, by the expressions of the reason's entry.

    A kind that is not served makes it Clear, or Unknown if its objects make the subjects. It is Unknown,
    too, for more objects than can be evaluated.
    """
    reason: CelReason = request.parameters
    not_served = check_served(snapshot, reason.kind.watched)
    if not_served is not None:
        # Subjects whose own kind goes are gone with it soon: none of them has recovered.
        makes = reason.rule.makes is not None
        yield Unknown(request.key(), not_served.why) if makes else Clear(request.key())
        return
    if why := why_too_many(snapshot, request):
        yield Unknown(request.key(), why)
        return
    found, total = check_subject(snapshot, request)
    undecodable = [*_undecodable(snapshot, request, reason)]
    results: list[CheckResult | None]
    results = [*_limited(_without(found, undecodable), total), *undecodable]
    if not total and not undecodable:
        results.append(check_needed(snapshot, reason, now=request.now))
    verdict = to_verdict(snapshot, request.key(), results)
    if not isinstance(verdict, Active):
        yield verdict
        return
    notes = tuple(sorted({each.note for each in found if each.note}))[:1]
    verdict = msgspec.structs.replace(verdict, notes=(*verdict.notes, *notes))
    if request.subject.layer is not Layer.CLUSTER:
        yield verdict
        return
    where = verdict.troubles[0].cause.object.namespace or request.flags[RELEASE_NAMESPACE_FLAG]
    yield msgspec.structs.replace(verdict, involved_object=involved_namespace(snapshot, where))


def _limited(found: Sequence[ObjectResult], total: int) -> Iterator[CheckResult]:
    """
    Yield the results of the first objects by name, with how many of all objects are in trouble.
    """
    troubles = [each.result for each in found if isinstance(each.result, Trouble)]
    count = f"{len(troubles)} of {total}"
    troubles.sort(key=lambda trouble: trouble.cause.object)
    for trouble in troubles[:MAX_TROUBLES]:
        fields = {**trouble.message_fields, "count": count}
        yield msgspec.structs.replace(trouble, message_fields=fields)
    inconclusive = [each.result for each in found if isinstance(each.result, Inconclusive)]
    inconclusive.sort(key=lambda each: each.why)
    yield from inconclusive[:MAX_INCONCLUSIVE]
    more = len(inconclusive) - MAX_INCONCLUSIVE
    if more > 0:
        yield Inconclusive(f"{inconclusive[0].why}; and {more} more")


def _undecodable(
    snapshot: Snapshot, request: ProbeRequest, reason: CelReason
) -> Iterator[Inconclusive]:
    """Yield the objects of the subject whose newest version could not be decoded."""
    kind = reason.kind.watched
    for name in _undecodable_names(snapshot, request.subject, reason):
        cause = ObjectRef(reason.kind.declared.group_resource, *name)
        yield Inconclusive(why_undecodable(kind, name), frozenset({cause}))


def _undecodable_names(
    snapshot: Snapshot, subject: Subject, reason: CelReason
) -> Iterable[NamespacedName]:
    if not isinstance(snapshot, CheckedSnapshot):
        return ()
    kind = reason.kind.watched
    if subject.layer is Layer.CLUSTER:
        refs = snapshot.undecodable
        return [(r.namespace, r.name) for r in refs if r.resource == kind.watch_name]
    stored = snapshot.tables[kind.table].objects
    return snapshot.undecodable_objects.find(kind, stored, reason.rule.key(subject))


def _without(
    found: Sequence[ObjectResult], undecodable: Iterable[Inconclusive]
) -> Sequence[ObjectResult]:
    """Leave out the troubles of objects of which only an earlier version is known."""
    refs = frozenset().union(*(each.objects for each in undecodable))
    if not refs:
        return found
    return [
        each
        for each in found
        if not (isinstance(each.result, Trouble) and each.result.cause.object in refs)
    ]
