"""The results of all objects of a subject, kept for as long as the objects stay the same."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from reporter.cel.evaluation import (
    Moment,
    ObjectResult,
    check_object,
    check_together,
    inconclusive,
    read_content,
)
from reporter.cel.library import EvaluationError
from reporter.cel.limits import MAX_LOOKUPS
from reporter.cel.parameters import CelReason, KeptResults
from reporter.kinds.objects import ApiObject
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.probes.probe import ProbeRequest
from reporter.resources.check_result import check_served
from reporter.resources.conditions import exclude_deleting
from reporter.snapshot.lookups import CheckedSnapshot
from reporter.snapshot.snapshot import Snapshot, TableSnapshot


MAX_EVALUATIONS = 500_000
"""
Objects of one subject times the reasons about them that are evaluated together: they take some ten
seconds, in which nothing else runs. The Lease is lost after 15.
"""

FRESH_WEIGHT = 10
"""The weight of a reason that is evaluated anew in every pass: it counts as so many kept ones."""

MIN_KEPT = 512
"""Number of kept subjects from which those without objects are forgotten."""


class SubjectResults(NamedTuple):
    """The results of the objects that are not current, and the number of all objects."""

    found: list[ObjectResult]
    total: int


class _SubjectPart(NamedTuple):
    """Objects that change together: those of a subject, or those of a shard of the table."""

    key: int | str
    source: object
    objects: Iterable[ApiObject]


def check_subject(snapshot: Snapshot, request: ProbeRequest) -> SubjectResults:
    """Check all objects of a subject."""
    reason: CelReason = request.parameters
    results = _kept_results if reason.depends_on_object_alone else _fresh_results
    return results(snapshot, request, reason)


def why_too_many(snapshot: Snapshot, request: ProbeRequest) -> str:
    """Return why the objects of a subject are not evaluated; empty if they are."""
    reason: CelReason = request.parameters
    kind = reason.kind.watched
    if request.subject.layer is Layer.CLUSTER:
        objects = len(snapshot.tables[kind.table].objects)
    else:
        objects = len(_find_objects(snapshot, request.subject, reason))
    are_kept = reason.depends_on_object_alone
    reasons = len(reason.group.members) if are_kept else FRESH_WEIGHT
    return describe_excess(objects, reasons, are_kept=are_kept)


def describe_excess(objects: int, reasons: int, *, are_kept: bool) -> str:
    most = MAX_EVALUATIONS // max(reasons, 1)
    if objects <= most:
        return ""
    about = f"{reasons} reasons" if are_kept else "a reason that reads the time or other objects"
    return f"{objects} objects, of which {about} may be about {most}; add a selector to the kind"


def _parts(snapshot: Snapshot, request: ProbeRequest, reason: CelReason) -> Iterator[_SubjectPart]:
    kind = reason.kind.watched
    if request.subject.layer is Layer.CLUSTER:
        for number, shard in enumerate(snapshot.tables[kind.table].objects.shards):
            yield _SubjectPart(number, shard, shard.values())
        return
    found = _find_objects(snapshot, request.subject, reason)
    yield _SubjectPart(reason.rule.key(request.subject), found, found)


def _find_objects(
    snapshot: Snapshot, subject: Subject, reason: CelReason
) -> tuple[ApiObject, ...]:
    """
    Return the objects of a subject below the cluster.

    It bypasses the notes of gaps: the probe names the objects that cannot be decoded itself.
    """
    kind = reason.kind.watched
    return Snapshot.by_index(snapshot, kind, kind.type, reason.rule.key(subject))


def _fresh_results(snapshot: Snapshot, request: ProbeRequest, reason: CelReason) -> SubjectResults:
    """Check objects for a reason that depends on the time or on other objects too."""
    parts = _parts(snapshot, request, reason)
    objects = [each for part in parts for each in exclude_deleting(part.objects)]
    checked = (_check_fresh(snapshot, reason, each, request.now) for each in objects)
    return SubjectResults([each for each in checked if each.result is not None], len(objects))


def _check_fresh(
    snapshot: Snapshot, reason: CelReason, each: ApiObject, now: datetime
) -> ObjectResult:
    """
    Check one object. A lookup that cannot be read makes this object inconclusive, and no other.
    """
    lookup = _Lookups(snapshot, reason).find if reason.lookups else None
    was_current = None
    if reason.remembers_current:
        table = snapshot.tables[reason.kind.watched.table]
        was_current = reason.current_id in _was_current(table, each)
    result = check_object(reason, each, Moment(now, was_current, lookup))
    gaps = snapshot.take_gaps() if isinstance(snapshot, CheckedSnapshot) else ()
    return inconclusive(reason, each, min(gaps).why) if gaps else result


class _Lookups:
    """The objects that the expressions about one object look up."""

    def __init__(self, snapshot: Snapshot, reason: CelReason) -> None:
        self._snapshot, self._kinds, self._left = snapshot, reason.lookups, MAX_LOOKUPS

    def find(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        """Return the content of an object; None if there is none. Raises EvaluationError."""
        if not self._left:
            raise EvaluationError(f"more than {MAX_LOOKUPS} objects are looked up")
        self._left -= 1
        read = self._kinds[kind]
        if check_served(self._snapshot, read.watched):
            return None
        found = self._snapshot.get(read.watched, read.watched.type, namespace, name)
        return read_content(read, found) if found is not None else None


def _kept_results(snapshot: Snapshot, request: ProbeRequest, reason: CelReason) -> SubjectResults:
    group, table = reason.group, snapshot.tables[reason.kind.watched.table]
    member = reason.member
    found: list[ObjectResult] = []
    total = 0
    for part in _parts(snapshot, request, reason):
        kept = group.kept.get(part.key)
        if kept is None or kept.source is not part.source:
            kept = group.kept[part.key] = _check_part(group.members, part, table, kept)
            _forget_empty(group.kept, table)
        rows = (row for row in kept.rows if row is not None)
        found += [row[member] for row in rows if row[member].result is not None]
        total += len(kept.objects)
    return SubjectResults(found, total)


def _check_part(
    members: Sequence[CelReason],
    part: _SubjectPart,
    table: TableSnapshot,
    before: KeptResults | None,
) -> KeptResults:
    """Check the objects of a part; those that are the same as before keep their results."""
    objects = exclude_deleting(part.objects)
    known = dict(zip(map(id, before.objects), before.rows, strict=True)) if before else {}
    rows = [
        known[id(each)] if id(each) in known else _check_new(members, each, table)
        for each in objects
    ]
    return KeptResults(part.source, objects, rows)


def _check_new(members: Sequence[CelReason], each: ApiObject, table: TableSnapshot) -> Any:
    row = check_together(members, each, _was_current(table, each))
    return row if any(result.result is not None for result in row) else None


def _was_current(table: TableSnapshot, each: ApiObject) -> frozenset[str]:
    return table.was_current.get((each.metadata.namespace, each.metadata.name)) or frozenset()


def _forget_empty(kept: dict[int | str, KeptResults], table: TableSnapshot) -> None:
    """Forget the results of subjects without objects, which would stay in memory; now and then."""
    if len(kept) < MIN_KEPT or len(kept) & (len(kept) - 1):
        return
    for key in [key for key in kept if isinstance(key, str) and table.index.get(key) is None]:
        del kept[key]
