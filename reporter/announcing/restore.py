"""
Continue the episodes of a predecessor from its Events, after a restart or a change of leader.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime

import msgspec
from msgspec.structs import replace

from reporter.announcing.announcement_state import AnnouncementState, Episode, OwedReady
from reporter.announcing.episodes import apply_evaluation
from reporter.announcing.grouping import EventGroup
from reporter.catalogue.entries import Catalogue
from reporter.evaluation.catalogue_change import stays_evaluated
from reporter.evaluation.clocks import READ_BACK_WINDOW
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.remembered import Remembered, RememberedFinding
from reporter.kinds.health_events import HealthEvent, Phase, subject_of
from reporter.kube.announced import (
    ANNOUNCED_ANNOTATION,
    MAX_TROUBLES,
    Announced,
    AnnouncedFinding,
    OtherFinding,
    decode_announced,
)
from reporter.kube.event_record import EventRecord, StrippedEvent
from reporter.model.enums import Emission, EventType, Layer, Reason, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject, qualified_name
from reporter.snapshot.seen_before import SeenBefore


def of_living_subjects(
    records: Iterable[EventRecord], born_at: Callable[[Subject], datetime | None]
) -> Iterator[EventRecord]:
    """
    Yield the Events that are no older than their subject; others are about an earlier one of its name.

    *born_at*: returns when a subject was created; None if that is not known.
    """
    for each in records:
        born = born_at(each.key.subject)
        if born is None or born <= each.last_timestamp:
            yield each


def restore_episodes(
    state: AnnouncementState,
    records: Iterable[EventRecord],
    catalogue: Catalogue,
    settings: EvaluationSettings,
    *,
    now: datetime,
    since: datetime,
) -> AnnouncementState:
    """
    Return the state with the episodes that the Events read back prove to be running.

    Nothing is written for the restart itself. A finding that is clear by now gets its Ready once it
    has been clear for the settle.

    *since*: when this process began to evaluate. Trouble that it saw settle is not restored
    (``episodes.apply_evaluation``), and what was clear since then may be Ready at once.
    """
    stays = stays_evaluated(catalogue, settings)
    episodes, ready_owed, groups = dict(state.episodes), dict(state.ready_owed), dict(state.groups)
    for record in _running(records, catalogue, now=now):
        key = record.key
        if not stays(key):
            continue  # nobody sees it end, so it expires without a Ready
        # Whether the last write was a heartbeat is not known: the least interval is kept after it.
        rewritten_at = record.last_timestamp if record.count > 1 else None
        episodes[key] = Episode(record, restored_since=since, rewritten_at=rewritten_at)
        if key.subject.layer is Layer.MODELDEPLOYMENT and key.subject.is_unnamed:
            # The message names three members only, so the others are not known.
            groups[key] = EventGroup(restored=True)
        if not catalogue[key.reason].orthogonal:
            due_at = since + settings.delays.settle
            ready_owed[key.subject] = OwedReady(due_at, record.last_timestamp)
    records = [each.event for each in episodes.values()]
    for key in _overtaken(records, catalogue, settings.emission) & episodes.keys():
        # Clear by now, it is over: it was when the other one was announced.
        episodes[key] = replace(episodes[key], restored_since=since - settings.delays.settle)
    return replace(state, episodes=episodes, ready_owed=ready_owed, groups=groups)


def remember_findings(
    state: AnnouncementState,
    evaluation: Evaluation,
    catalogue: Catalogue,
    settings: EvaluationSettings,
    *,
    now: datetime,
) -> Remembered:
    """
    Return the findings of restored episodes that are not over by now, with what their Events say.

    Findings that only the suffix of an Event names are remembered as not announced, unless they
    have an Event of their own.
    """
    running = state.episodes
    if evaluation.evaluated_at is not None:
        running = apply_evaluation(state, evaluation, catalogue, settings, now=now).episodes
    records = [each.event for key, each in state.episodes.items() if key in running]
    overtaken = _overtaken(records, catalogue, settings.emission)
    telling = [each for each in records if each.key not in overtaken]
    suppressing: defaultdict[FindingKey, frozenset[Reason]] = defaultdict(frozenset)
    for record in telling:
        # An Event names as suppressed what the findings beside its own suppress, too.
        for root in (record.key, *dict(_named(record))):
            suppressing[root] |= frozenset(_announced(record).suppressing)
    with_event = [each for each in records if each.key not in state.groups]
    remembered = Remembered(
        _findings_named(telling, overtaken) | _findings_with_event(with_event, records, overtaken),
        frozenset(state.groups),
        suppressing,
        SeenBefore.union(map(_seen_before, telling)),
    )
    return remembered.kept(stays_evaluated(catalogue, settings))


def _findings_with_event(
    those: Iterable[EventRecord], records: Iterable[EventRecord], overtaken: frozenset[FindingKey]
) -> dict[FindingKey, RememberedFinding]:
    """Return what *those* of the Events say of their own finding, and all of them of its clock."""
    unknown_since = {
        also: other.unknown_since
        for each in sorted(records, key=lambda record: record.last_timestamp)
        for also, other in _named(each)
    }
    found = {each.key: _remembered(each, _announced(each).finding) for each in those}
    return {
        key: replace(
            each,
            is_overtaken=key in overtaken,
            unknown_since=each.unknown_since or unknown_since.get(key),
        )
        for key, each in found.items()
    }


def _findings_named(
    telling: Iterable[EventRecord], overtaken: frozenset[FindingKey]
) -> dict[FindingKey, RememberedFinding]:
    """Return what Events say of the findings beside their own; of several the first counts."""
    found: dict[FindingKey, RememberedFinding] = {}
    for record in telling:
        for also, other in _named(record):
            if also not in overtaken:
                found.setdefault(also, replace(_remembered(record, other), has_event=False))
    return found


def _overtaken(
    records: Iterable[EventRecord], catalogue: Catalogue, emission: Emission
) -> frozenset[FindingKey]:
    """
    Return the keys that were not in trouble when another finding of their subject was announced.

    That Event is later than the last one that tells of them. An Event names all findings in trouble
    beside its own. One that does not tell which is written only if no finding of higher rank was in
    trouble.
    """
    told_at: dict[FindingKey, datetime] = {}
    ranked: dict[Subject, list[EventRecord]] = defaultdict(list)
    for each in sorted(records, key=lambda record: record.last_timestamp):
        told_at |= dict.fromkeys((each.key, *dict(_named(each))), each.last_timestamp)
        if catalogue[each.key.reason].rank is not None:
            ranked[each.key.subject].append(each)

    def excludes(later: EventRecord, key: FindingKey) -> bool:
        if later.announced is not None and len(later.announced.also) < MAX_TROUBLES - 1:
            return key not in dict(_named(later))
        is_lower = rank_of(later.key) > rank_of(key)
        return later.announced is None and emission is Emission.PRIMARY and is_lower

    def rank_of(key: FindingKey) -> int:
        return catalogue[key.reason].rank or 0

    return frozenset(
        key
        for key, at in told_at.items()
        if key.reason in catalogue.entries
        and catalogue[key.reason].rank is not None
        and any(
            later.last_timestamp > at and excludes(later, key) for later in ranked[key.subject]
        )
    )


def _announced(record: EventRecord) -> Announced:
    return record.announced or Announced(AnnouncedFinding(more=1))


def _named(record: EventRecord) -> Iterable[tuple[FindingKey, OtherFinding]]:
    """Return the findings that the suffix of an Event names."""
    others = record.announced.also if record.announced is not None else ()
    return ((FindingKey(record.key.subject, e.reason, e.item), e) for e in others)


def _remembered(record: EventRecord, finding: AnnouncedFinding) -> RememberedFinding:
    return RememberedFinding(
        tuple(each.trouble for each in finding.troubles),
        record.involved_object,
        record.episode_start,
        seen_at={each.trouble.cause.object: each.seen for each in finding.troubles if each.seen},
        is_whole=not finding.more,
        began={
            each.trouble.cause.object: each.began
            for each in finding.troubles
            if each.began is not None
        },
        out_since=finding.out_since,
        unknown_since=finding.unknown_since,
    )


def _seen_before(record: EventRecord) -> SeenBefore:
    """
    Return what an Event tells of objects. A Workspace that is younger than it has an error of its own.
    """
    subject, announced = record.key.subject, _announced(record)
    existed = frozenset(announced.existing_objects)
    is_of_model = subject.layer is Layer.MODELDEPLOYMENT and not subject.is_unnamed
    return SeenBefore(
        existed,
        {subject: existed} if is_of_model and existed else {},
        {
            name: each.condition(record.last_timestamp)
            for each in announced.errors
            for name in each.workspaces
        },
        {
            each.trouble.cause.object: frozenset({record.key.reason})
            for each in announced.finding.troubles
            if each.kind is TroubleKind.LOST
        },
    )


def _last_ready_by_subject(records: Iterable[EventRecord]) -> Mapping[Subject, datetime]:
    last: dict[Subject, datetime] = {}
    for record in records:
        if record.type is EventType.NORMAL:
            subject = record.key.subject
            last[subject] = max(record.last_timestamp, last.get(subject, record.last_timestamp))
    return last


def _running(
    records: Iterable[EventRecord], catalogue: Catalogue, *, now: datetime
) -> Iterator[EventRecord]:
    """
    Yield the Events of running episodes, oldest first: of several of one key the latest one remains.

    A Ready ends no episode of a reason without a rank, but all that its Event names beside it.
    """
    known = [record for record in records if record.key.reason in catalogue.entries]
    last_ready = _last_ready_by_subject(known)
    for record in sorted(known, key=lambda each: (each.last_timestamp, each.episode_start)):
        ready_at = last_ready.get(record.key.subject)
        if _is_running(record, ready_at, now=now):
            yield record
        elif catalogue[record.key.reason].orthogonal and _is_running(record, None, now=now):
            alone = record.announced and msgspec.structs.replace(record.announced, also=())
            yield replace(record, announced=alone)


def _is_running(record: EventRecord, ready_at: datetime | None, *, now: datetime) -> bool:
    if record.type is not EventType.WARNING or now - record.last_timestamp > READ_BACK_WINDOW:
        return False
    # Timestamps are whole seconds: an episode that began in the second of a Ready came after it.
    return ready_at is None or ready_at < record.last_timestamp or ready_at <= record.episode_start


# --------------------------------------------------------------------
# Continue episodes from their HealthEvents, where the Events are gone.


def stored_episodes(objects: Iterable[HealthEvent], *, now: datetime) -> Iterator[EventRecord]:
    """
    Yield the Event of each episode that an Active object keeps.

    When the Event was last written is not known, so it counts as the oldest that may be read back:
    a Ready that is there ends it, and otherwise its heartbeat is due.
    """
    for found in objects:
        announced = decode_announced(found.metadata.annotations, ANNOUNCED_ANNOTATION)
        involved = announced.involved_object if announced is not None else None
        if found.phase is not Phase.ACTIVE or found.is_deleting or involved is None:
            continue
        spec, status = found.spec, found.status or {}
        begun = datetime.fromtimestamp(spec.episode, UTC)
        last = max(begun, (now - READ_BACK_WINDOW).replace(microsecond=0))
        yield EventRecord(
            key=FindingKey(subject_of(spec), Reason(spec.check_name), spec.item),
            type=EventType.WARNING,
            involved_object=involved,
            episode_start=begun,
            message=str(status.get("message") or spec.message),
            content_digest=str(status.get("contentDigest") or spec.content_digest),
            count=1,
            first_timestamp=begun,
            last_timestamp=last,
            owner=spec.owner,
            announced=announced,
        )


def with_stored(
    records: Iterable[EventRecord], stored: Iterable[EventRecord]
) -> tuple[EventRecord, ...]:
    """
    Return the Events that were read back, and those of stored episodes that have none any more.
    """
    read = tuple(records)
    newest: dict[FindingKey, datetime] = {}
    for each in read:
        newest[each.key] = max(each.episode_start, newest.get(each.key, each.episode_start))
    missing = {
        each.key: each
        for each in stored
        if each.key not in newest or newest[each.key] < each.episode_start
    }
    return (*read, *missing.values())


# --------------------------------------------------------------------
# The keys that an Event may be about when admission has removed its labels and annotations.


class PossibleKeyFinder:
    """
    Finds the keys that an Event without labels and annotations may be about, of *subjects* that exist.

    An Event of a deleted subject is not continued.
    """

    def __init__(self, catalogue: Catalogue, subjects: Iterable[Subject]) -> None:
        self._catalogue = catalogue
        self._named: defaultdict[tuple[Layer, str], list[Subject]] = defaultdict(list)
        for subject in subjects:
            if not subject.is_unnamed:
                self._named[subject.layer, subject.namespace].append(subject)

    def __call__(self, event: StrippedEvent) -> Iterator[FindingKey]:
        """Yield each key that has the reason of the event, and a subject that it may be about."""
        entry = self._catalogue.entries.get(event.reason)
        if entry is None:
            return
        if entry.layer is Layer.CLUSTER:
            yield FindingKey(CLUSTER_SUBJECT, event.reason)
            yield FindingKey(CLUSTER_SUBJECT, event.reason, event.involved_name)
            return
        kind = entry.subject_kind
        whole = Subject(entry.layer, event.involved_name, qualified_name(kind, ""))
        yield FindingKey(whole, event.reason)
        for subject in self._named.get((entry.layer, event.involved_name), ()):
            # The message names the object, and a hash takes longer than a look.
            if subject.kind == kind and subject.object_name in event.message:
                yield FindingKey(subject, event.reason)
