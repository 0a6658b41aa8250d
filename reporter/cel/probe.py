"""
Probe for the objects of a kind that a catalogue declares, by expressions in CEL.

A kind that is not served does not apply, which is no trouble.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from reporter.catalogue.entries import ProbeSpec
from reporter.cel.evaluation import ObjectResult
from reporter.cel.missing import check_needed
from reporter.cel.parameters import CelParameters, CelReason
from reporter.cel.prepare import prepare_entries
from reporter.cel.results import check_subject, why_too_many
from reporter.kinds.core import NAMESPACES
from reporter.kinds.objects import NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Clear, ObjectRef, Trouble, Unknown, Verdict
from reporter.probes.probe import Probe, ProbeRequest
from reporter.resources.check_result import (
    CheckResult,
    Inconclusive,
    check_served,
    involved_namespace,
    to_verdict,
)
from reporter.snapshot.lookups import CheckedSnapshot, why_undecodable
from reporter.snapshot.snapshot import Snapshot


RELEASE_NAMESPACE_FLAG = "release-namespace"
MAX_TROUBLES = 100
"""Objects of one subject that have a clock of their own; the others are counted."""

MAX_INCONCLUSIVE = 100


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
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


def _kinds_of(
    reason: CelReason,
) -> tuple[tuple[ResourceKind, ...], tuple[ResourceKind, ...]]:
    consulted = (*reason.lookups.values(), *reason.needed_by)
    return (reason.kind.watched,), tuple(dict.fromkeys(each.watched for each in consulted))


PROBE = Probe(
    ProbeSpec(
        name="cel",
        parameters_type=CelParameters,
        message_fields=frozenset({"object", "name", "state", "count"}),
        any_cause_code=True,
        optional_kinds=(NAMESPACES,),
        prepare=prepare_entries,
        kinds_of=_kinds_of,
    ),
    evaluate,
)
