"""
What was said, and what is due to be said: episodes, heartbeats, Ready.

Holds keys, not texts: a text is composed, and its truth checked, at the moment of sending.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from reporter.model.entries import Catalogue
from reporter.model.enums import EventType, Layer
from reporter.model.event_record import EventRecord
from reporter.model.subjects import FindingKey, Subject
from reporter.stages.announcing.grouping import EventGroup, update_groups
from reporter.stages.evaluation.clocks import READ_BACK_WINDOW, FindingState
from reporter.stages.evaluation.evaluation import Evaluation, EvaluationSettings


@dataclass(frozen=True, slots=True)
class Episode:
    """
    From the first announcement of a key to its settled clear.

    *record*: the Event as last sent. *uncertain*: whether it arrived is not known, so it is sent
    again under the same name. *rewritten*: when its content last changed. *silent*: it was outranked
    or suppressed since it was last sent. *resumed*: if it was read back, since when we have judged.
    """

    event: EventRecord
    uncertain: bool = False
    rewritten_at: datetime | None = None
    muted: bool = False
    restored_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class AnnouncementState:
    """
    All that was said and is not over.

    *owed*: subjects of which something was announced and not yet taken back by a Ready, with the
    time from which it must have been well.
    """

    episodes: Mapping[FindingKey, Episode] = field(default_factory=dict)
    ready_owed: Mapping[Subject, datetime] = field(default_factory=dict)
    groups: Mapping[FindingKey, EventGroup] = field(default_factory=dict)


def apply_evaluation(
    voice: AnnouncementState,
    judged: Evaluation,
    catalogue: Catalogue,
    terms: EvaluationSettings,
    *,
    now: datetime,
) -> AnnouncementState:
    """
    Take a new judgement: end episodes that have settled, note who fell silent, form groups.
    """
    alone = frozenset(k.subject for k in voice.episodes if k.subject.name)
    before = {k: g for k, g in voice.groups.items() if not g.restored or k in voice.episodes}
    groups = update_groups(
        before, judged.gate, judged.suppressions, catalogue, individually_announced=alone
    )
    after = replace(voice, groups=_without_deleted({**_emptied_groups(voice), **groups}, judged))
    settle = terms.delays.settle
    ready = frozenset(due_ready_keys(after, judged, catalogue, now=now))
    there = _existing_subjects(after, judged)
    episodes = {
        key: each if each.muted else _mark_muted(key, each, after, judged, terms)
        for key, each in voice.episodes.items()
        if key in ready
        or (key.subject in there and _is_running(key, each, judged, after, now=now, settle=settle))
    }
    owed = {s: since for s, since in voice.ready_owed.items() if s in there}
    return replace(after, episodes=episodes, ready_owed=owed)


def _mark_muted(
    key: FindingKey,
    episode: Episode,
    voice: AnnouncementState,
    judged: Evaluation,
    terms: EvaluationSettings,
) -> Episode:
    muted = _is_muted(key, judged, voice) and not is_announceable(key, voice, judged, terms)
    return replace(episode, muted=True) if muted else episode


def next_episode_deadline(
    voice: AnnouncementState, *, settle: timedelta, now: datetime
) -> datetime | None:
    """
    When time alone ends an episode that was read back, or makes its Ready true.
    """
    moments = list(voice.ready_owed.values())
    moments += [
        e.restored_since + settle for e in voice.episodes.values() if e.restored_since is not None
    ]
    return min((moment for moment in moments if moment > now), default=None)


def _emptied_groups(voice: AnnouncementState) -> Mapping[FindingKey, EventGroup]:
    """
    Groups with nobody left, whose names their Ready still needs.
    """
    return {
        key: replace(group, members=frozenset())
        for key, group in voice.groups.items()
        if key.subject in voice.ready_owed
    }


def _without_deleted(
    groups: Mapping[FindingKey, EventGroup], judged: Evaluation
) -> Mapping[FindingKey, EventGroup]:
    """
    Without the deleted ones, which are not said to be ready again.
    """
    sets = _inference_sets_by_namespace(judged, groups.values())
    there = {
        key: replace(group, ever_members=group.ever_members & judged.subjects)
        for key, group in groups.items()
        if not group.restored or key.subject.namespace in sets
    }
    return {key: group for key, group in there.items() if group.ever_members or group.restored}


def _existing_subjects(after: AnnouncementState, judged: Evaluation) -> frozenset[Subject]:
    """
    The subjects that exist, groups of which somebody does among them.
    """
    return judged.subjects | {key.subject for key in after.groups}


def _is_running(
    key: FindingKey,
    episode: Episode,
    judged: Evaluation,
    voice: AnnouncementState,
    *,
    now: datetime,
    settle: timedelta,
) -> bool:
    group = voice.groups.get(key)
    if group is not None and (group.members or not group.restored):
        return bool(group.members)
    record = judged.gate.finding_states.get(key)
    if record is not None:
        return not _has_settled_since_restore(episode, record, settle=settle)
    if key in judged.gate.unknown_states:
        return True
    return episode.restored_since is not None and episode.restored_since > now - settle


def _has_settled_since_restore(
    episode: Episode, record: FindingState, *, settle: timedelta
) -> bool:
    """
    Whether the trouble of an Event that another wrote has settled before our eyes, and this is new.
    """
    if episode.restored_since is None or record.last_settled_at is None:
        return False
    return record.last_settled_at >= episode.event.last_timestamp + settle


def _is_muted(key: FindingKey, judged: Evaluation, voice: AnnouncementState) -> bool:
    """
    Outranked or suppressed, which a later turn to speak must say; not merely settling.
    """
    group = voice.groups.get(key, EventGroup())
    keys = [FindingKey(member, key.reason) for member in group.members] or [key]
    return any(k in judged.suppressions.suppressed_by or _is_outranked(k, judged) for k in keys)


def _is_outranked(key: FindingKey, judged: Evaluation) -> bool:
    primary = judged.ranking_of(key.subject).primary
    return bool(primary) and key not in primary


def announceable_keys(
    voice: AnnouncementState, judged: Evaluation, terms: EvaluationSettings
) -> Iterable[FindingKey]:
    """
    The keys whose Event may be written now, if one is due.
    """
    for standing in judged.rankings.values():
        for key in standing.keys_to_announce(terms.emission):
            record = judged.gate.finding_states[key]
            if record.announceable and not record.why_unknown and not _is_in_group(key, voice):
                yield key
    for key, group in voice.groups.items():
        if any(
            _is_announceable_ungrouped(FindingKey(m, key.reason), judged, terms)
            for m in group.members
        ):
            yield key


def is_announceable(
    key: FindingKey, voice: AnnouncementState, judged: Evaluation, terms: EvaluationSettings
) -> bool:
    """
    Whether this key is one of the *speakers*.
    """
    if key in voice.groups:
        return any(
            _is_announceable_ungrouped(FindingKey(m, key.reason), judged, terms)
            for m in voice.groups[key].members
        )
    return _is_announceable_ungrouped(key, judged, terms) and not _is_in_group(key, voice)


def _is_in_group(key: FindingKey, voice: AnnouncementState) -> bool:
    """
    Whether a group of the same trouble speaks for all, so that one with its own Event falls silent.
    """
    group = voice.groups.get(
        FindingKey(Subject(key.subject.layer, key.subject.namespace), key.reason)
    )
    return bool(key.subject.name) and group is not None and bool(group.members)


def _is_announceable_ungrouped(
    key: FindingKey, judged: Evaluation, terms: EvaluationSettings
) -> bool:
    record = judged.gate.finding_states.get(key)
    if record is None or record.why_unknown or not record.announceable:
        return False
    return key in judged.ranking_of(key.subject).keys_to_announce(terms.emission)


def due_ready_keys(
    voice: AnnouncementState,
    judged: Evaluation,
    catalogue: Catalogue,
    *,
    now: datetime,
    only: Iterable[Subject] | None = None,
) -> list[FindingKey]:
    """
    The Ready keys that are owed and true; of all subjects, or of some *only*.
    """
    if not voice.ready_owed:
        return []
    waiting, groups = _subjects_with_open_episode(voice, catalogue), _groups_by_subject(voice)
    sets = _inference_sets_by_namespace(judged, voice.groups.values())
    return [
        FindingKey(subject, catalogue.ready_entry(subject.layer).reason)
        for subject in (voice.ready_owed if only is None else only)
        if subject in voice.ready_owed
        and voice.ready_owed[subject] <= now
        and subject not in waiting
        and catalogue.ready_entry(subject.layer).enabled
        and judged.not_ready.isdisjoint(
            _represented_subjects(subject, groups.get(subject, ()), sets)
        )
    ]


def _subjects_with_open_episode(
    voice: AnnouncementState, catalogue: Catalogue
) -> frozenset[Subject]:
    """
    The subjects with an episode that a Ready has to wait for.
    """
    entries = ((key.subject, catalogue[key.reason]) for key in voice.episodes)
    return frozenset(
        s for s, entry in entries if not entry.orthogonal and not entry.is_ready_reason
    )


def _groups_by_subject(voice: AnnouncementState) -> Mapping[Subject, list[EventGroup]]:
    found: defaultdict[Subject, list[EventGroup]] = defaultdict(list)
    for key, group in voice.groups.items():
        found[key.subject].append(group)
    return found


def _represented_subjects(
    subject: Subject, groups: Sequence[EventGroup], sets: Mapping[str, set[Subject]]
) -> frozenset[Subject]:
    found = frozenset({subject}).union(*(group.ever_members for group in groups))
    unknown = any(group.restored for group in groups)
    return found.union(sets.get(subject.namespace, ())) if unknown else found


def _inference_sets_by_namespace(
    judged: Evaluation, groups: Iterable[EventGroup]
) -> Mapping[str, set[Subject]]:
    """
    InferenceSets by namespace, if it is not known whom one of the groups stood for.
    """
    found: defaultdict[str, set[Subject]] = defaultdict(set)
    if any(group.restored for group in groups):
        for subject in judged.subjects:
            if subject.layer is Layer.MODELDEPLOYMENT:
                found[subject.namespace].add(subject)
    return found


def restore_episodes(
    voice: AnnouncementState,
    records: Iterable[EventRecord],
    catalogue: Catalogue,
    terms: EvaluationSettings,
    *,
    now: datetime,
    since: datetime,
) -> AnnouncementState:
    """
    Take the Events read back: what was running goes on, and nothing is written for it.

    An Event is of a running episode when it was written within the hour and no Ready of its subject
    is newer. What is clear by now gets its Ready once it has been so for the settle; whoever has
    judged *since* then knows, and takes nothing up that has settled before its eyes.
    """
    known = [r for r in records if r.key.reason in catalogue.entries]
    closed: dict[Subject, datetime] = {}
    for record in known:
        if record.type is EventType.NORMAL:
            subject = record.key.subject
            closed[subject] = max(
                record.last_timestamp, closed.get(subject, record.last_timestamp)
            )
    episodes, owed, groups = dict(voice.episodes), dict(voice.ready_owed), dict(voice.groups)
    for record in sorted(known, key=lambda r: (r.last_timestamp, r.episode_start)):
        key = record.key
        shut = closed.get(key.subject)
        running = (
            record.type is EventType.WARNING and now - record.last_timestamp <= READ_BACK_WINDOW
        )
        if running and (
            shut is None or shut < record.last_timestamp or shut <= record.episode_start
        ):
            episodes[key] = Episode(record, restored_since=since)
            if key.subject.layer is Layer.MODELDEPLOYMENT and not key.subject.name:
                groups[key] = EventGroup(restored=True)
            if not catalogue[key.reason].orthogonal:
                owed[key.subject] = since + terms.delays.settle
    return replace(voice, episodes=episodes, ready_owed=owed, groups=groups)
