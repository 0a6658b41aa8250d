"""The evaluation of one object: whether it is current, and if not, what is wrong with it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from reporter.cel.compile import CelReason, Expression, KeptResults, ReadKind
from reporter.cel.library import Bindings, EvaluationError, Lookup, evaluate
from reporter.cel.limits import MAX_LOOKUPS, TooMuchContent, encode_content
from reporter.kinds.objects import ApiObject
from reporter.model.enums import Layer, TroubleKind
from reporter.model.redact import redact
from reporter.model.subjects import Subject
from reporter.model.times import parse_zoned_time
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.probes.probe import ProbeRequest
from reporter.resources.check_result import CheckResult, Inconclusive, check_served
from reporter.resources.conditions import exclude_deleting
from reporter.snapshot.lookups import CheckedSnapshot
from reporter.snapshot.snapshot import Snapshot, TableSnapshot


CODES = {
    TroubleKind.FAILED: "Failed",
    TroubleKind.STARTING: "InProgress",
    TroubleKind.LOST: "NotCurrent",
}
STATES = {
    TroubleKind.FAILED: "has failed",
    TroubleKind.STARTING: "is not current yet",
    TroubleKind.LOST: "is no longer current",
}
NOT_REMEMBERED = "is not current"
"""The state of an object of which nobody knows whether it was current before."""

MAX_CODE_CHARACTERS = 64
MAX_TEXT_CHARACTERS = 4096
MAX_SHOWN_CHARACTERS = 60
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NOT_IN_A_CODE = re.compile(r"[^A-Za-z0-9]")


class ObjectResult(NamedTuple):
    """
    The result of the check of one object, None if it is current.

    *note*: what the author of the reason must correct; empty if there is nothing.
    """

    result: CheckResult | None
    note: str = ""


CURRENT = ObjectResult(None)


class Moment(NamedTuple):
    """
    The values that an evaluation reads beside the object.

    *was_current*: whether the object was current at any time before; None if that is not remembered.
    *lookup*: None if no expression looks objects up.
    """

    now: datetime
    was_current: bool | None
    lookup: Lookup | None = None


def check_object(reason: CelReason, each: ApiObject, moment: Moment) -> ObjectResult:
    """Return the trouble of an object; an inconclusive result if an expression has no value."""
    try:
        content = read_content(reason.kind, each)
        bindings = Bindings(content, moment.now, reason.parameters, moment.lookup)
        return _Check(reason, each, content, bindings).run(moment)
    except EvaluationError as err:
        return inconclusive(reason, each, str(err))


def check_together(
    reasons: Sequence[CelReason], each: ApiObject, was_current: frozenset[str]
) -> tuple[ObjectResult, ...]:
    """
    Return the results of reasons that depend on the object alone.

    *was_current*: the definitions of current that it has met.
    """
    try:
        content = read_content(reasons[0].kind, each)
    except EvaluationError as err:
        return tuple(inconclusive(reason, each, str(err)) for reason in reasons)
    found = []
    for reason, bindings in _with_bindings(reasons, content):
        try:
            check = _Check(reason, each, content, bindings)
            found.append(check.run(Moment(EPOCH, reason.current_id in was_current)))
        except EvaluationError as err:
            found.append(inconclusive(reason, each, str(err)))
    return tuple(found)


def find_current(reasons: Sequence[CelReason], each: ApiObject) -> list[str]:
    """
    Return the definitions of current that an object meets; the reasons depend on the object alone.
    """
    try:
        content = read_content(reasons[0].kind, each)
    except EvaluationError:
        return []
    if is_stale(reasons[0].kind, content, each):
        return []
    found = []
    for reason, bindings in _with_bindings(reasons, content):
        with suppress(EvaluationError):
            if _boolean(reason.expressions["current"], bindings):
                found.append(reason.current_id)
    return found


def _with_bindings(
    reasons: Iterable[CelReason], content: dict[str, Any]
) -> Iterator[tuple[CelReason, Bindings]]:
    """
    Yield each reason with the values for its expressions; reasons without parameters share them.

    Making the object known to the library takes longer than most expressions.
    """
    shared = Bindings(content, EPOCH, {}, None)
    for reason in reasons:
        given = reason.parameters
        yield reason, Bindings(content, EPOCH, given, None) if given else shared


def inconclusive(reason: CelReason, each: ApiObject, why: str) -> ObjectResult:
    """
    Return the result of an object that an expression has no value for, so that its reason is Unknown.
    """
    ref = object_ref(reason.kind, each)
    return ObjectResult(Inconclusive(f"{describe(reason.kind, each)}: {why}", frozenset({ref})))


def read_content(kind: ReadKind, each: ApiObject) -> dict[str, Any]:
    """Return the fields of an object that are read, as its JSON has them."""
    try:
        encoded = encode_content(each)
    except TooMuchContent as err:
        raise EvaluationError(str(err)) from None
    content: dict[str, Any] = msgspec.json.decode(encoded)
    declared = kind.declared
    # The items of a list of a built-in kind have neither kind nor apiVersion.
    content.setdefault("kind", declared.kind)
    if declared.version:
        content.setdefault("apiVersion", f"{declared.group}/{declared.version}".removeprefix("/"))
    return content


def is_stale(kind: ReadKind, content: dict[str, Any], each: ApiObject) -> bool:
    """Return whether the status is of an earlier generation of the spec."""
    if not kind.declared.observes_generation:
        return False
    status = content.get("status")
    observed = status.get("observedGeneration") if isinstance(status, dict) else None
    return isinstance(observed, int) and observed < each.metadata.generation


def object_ref(kind: ReadKind, each: ApiObject) -> ObjectRef:
    """Return the reference by which causes and Events name an object of a declared kind."""
    meta = each.metadata
    return ObjectRef(kind.declared.group_resource, meta.namespace, meta.name)


def describe(kind: ReadKind, each: ApiObject) -> str:
    """Return an object's kind and name for a message, with its namespace if it has one."""
    meta = each.metadata
    return f"{kind.declared.kind} {f'{meta.namespace}/' if meta.namespace else ''}{meta.name}"


class _Check:
    """
    The check of one object. *note*: what could not be read of a trouble that is known without it.
    """

    def __init__(
        self, reason: CelReason, each: ApiObject, content: dict[str, Any], bindings: Bindings
    ) -> None:
        self.reason, self.each, self.content, self.bindings = reason, each, content, bindings
        self.note = ""

    def run(self, moment: Moment) -> ObjectResult:
        expressions = self.reason.expressions
        if is_stale(self.reason.kind, self.content, self.each):
            place = expressions["current"].place
            raise EvaluationError(f"{place}: its status is older than its spec")
        if _boolean(expressions["current"], self.bindings):
            return CURRENT
        kind = self._kind(was_current=moment.was_current is not False)
        is_remembered = kind is not TroubleKind.LOST or moment.was_current is not None
        ref, since = object_ref(self.reason.kind, self.each), self._since()
        states_no_time = kind is TroubleKind.FAILED and since is None
        trouble = Trouble(
            cause=Cause(ref, self._code(kind)),
            kind=kind,
            is_out=True,
            since=since,
            unchanged_since=self._newest_time() if states_no_time else None,
            object_created_at=self.each.metadata.creation_timestamp,
            message_fields={
                "object": describe(self.reason.kind, self.each),
                "name": self.each.metadata.name,
                "state": STATES[kind] if is_remembered else NOT_REMEMBERED,
            },
            foreign_text=(self._detail("text", str) or "")[:MAX_TEXT_CHARACTERS],
        )
        return ObjectResult(trouble, self.note)

    def _kind(self, *, was_current: bool) -> TroubleKind:
        expressions = self.reason.expressions
        if "failed" in expressions and _boolean(expressions["failed"], self.bindings):
            return TroubleKind.FAILED
        if "inProgress" in expressions and _boolean(expressions["inProgress"], self.bindings):
            return TroubleKind.STARTING
        return TroubleKind.LOST if was_current else TroubleKind.STARTING

    def _code(self, kind: TroubleKind) -> str:
        cause = self._detail("cause", str)
        return _NOT_IN_A_CODE.sub("", cause or "")[:MAX_CODE_CHARACTERS] or CODES[kind]

    def _since(self) -> datetime | None:
        found = self._detail("since", str, datetime)
        if found == "":
            return None  # as an expression can say that the object does not state it
        if isinstance(found, str):
            try:
                found = datetime.fromisoformat(found)
            except ValueError:
                self._note_wrong("since", found, "a time such as 2026-01-31T12:00:00Z")
                return None
        return found if found is None or found.tzinfo is not None else None

    def _newest_time(self) -> datetime | None:
        """
        Return the newest time of the object: its creation, or a transition that an expression reads.
        """
        times = [self.each.metadata.creation_timestamp]
        status = self.content.get("status")
        conditions = status.get("conditions") if isinstance(status, dict) else None
        for condition in conditions if isinstance(conditions, list) else ():
            text = condition.get("lastTransitionTime") if isinstance(condition, dict) else None
            times.append(parse_zoned_time(text))
        return max((each for each in times if each is not None), default=None)

    def _detail(self, key: str, *types: type) -> Any:
        """Return the value of an expression that adds detail; None if it has none, with a note."""
        expression = self.reason.expressions.get(key)
        if expression is None:
            return None
        try:
            found = _value(expression, self.bindings)
        except EvaluationError as err:
            self.note = str(err)
            return None
        if isinstance(found, types):
            return found
        self._note_wrong(key, found, "a text" if key != "since" else "a time")
        return None

    def _note_wrong(self, key: str, found: object, wanted: str) -> None:
        expression = self.reason.expressions[key]
        self.note = f"{expression.place}: {key} is {_shown(found)}, and must be {wanted}"


def _boolean(expression: Expression, bindings: Bindings) -> bool:
    found = _value(expression, bindings)
    if not isinstance(found, bool):
        where = f"{expression.place}: {expression.key}"
        raise EvaluationError(f"{where} is {_shown(found)}, and must be true or false")
    return found


def _value(expression: Expression, bindings: Bindings) -> Any:
    try:
        return evaluate(expression.compiled, bindings)
    except EvaluationError as err:
        where = f"{expression.place}: {expression.key}"
        raise EvaluationError(f"{where}: {_quoted(str(err))}") from err


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return f"a {'list' if isinstance(value, list) else 'map'}"
    return "null" if value is None else f"`{_quoted(str(value))[:MAX_SHOWN_CHARACTERS]}`"


def _quoted(text: str) -> str:
    """
    Return a text with contents of an object as it may be shown: on one line, without secrets.
    """
    text = redact(text[:MAX_TEXT_CHARACTERS])
    return "".join(each if each.isprintable() else " " for each in text)


# --------------------------------------------------------------------
# The results of all objects of a subject, kept for as long as the objects stay the same.


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
    """
    Check all objects of a subject by one reason, which its request names.

    Results that depend on the objects alone are kept from pass to pass.
    """
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
    """
    Return why so many objects are not evaluated, and to add a selector; empty if they are not too many.

    The number of evaluations is limited, not that of objects. *are_kept*: results are kept until an
    object changes, so that all *reasons* of the kind share the limit.
    """
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
