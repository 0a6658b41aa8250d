"""
What was said, and what is due to be said: episodes, heartbeats, Ready.

Holds keys, not texts: a text is composed, and its truth checked, at the moment of sending.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from reporter.model.entries import Catalogue
from reporter.model.events import EventRecord
from reporter.model.subjects import Key, Subject
from reporter.model.words import EventType, Layer
from reporter.stages.collapse import Group, collapse
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.records import READ_BACK, Record


@dataclass(frozen=True, slots=True)
class Episode:
    """
    From the first announcement of a key to its settled clear.

    *record*: the Event as last sent. *uncertain*: whether it arrived is not known, so it is sent
    again under the same name. *rewritten*: when its content last changed. *silent*: it was outranked
    or suppressed since it was last sent. *resumed*: if it was read back, since when we have judged.
    """

    record: EventRecord
    uncertain: bool = False
    rewritten: datetime | None = None
    silent: bool = False
    resumed: datetime | None = None


@dataclass(frozen=True, slots=True)
class Voice:
    """
    All that was said and is not over.

    *owed*: subjects of which something was announced and not yet taken back by a Ready, with the
    time from which it must have been well.
    """

    episodes: Mapping[Key, Episode] = field(default_factory=dict)
    owed: Mapping[Subject, datetime] = field(default_factory=dict)
    groups: Mapping[Key, Group] = field(default_factory=dict)


def follow(
    voice: Voice, judged: Judgement, catalogue: Catalogue, terms: Terms, *, now: datetime
) -> Voice:
    """
    Take a new judgement: end episodes that have settled, note who fell silent, form groups.
    """
    alone = frozenset(k.subject for k in voice.episodes if k.subject.name)
    before = {k: g for k, g in voice.groups.items() if not g.resumed or k in voice.episodes}
    groups = collapse(before, judged.gate, judged.silence, catalogue, alone=alone)
    after = replace(voice, groups=_of_those_there({**_kept_names(voice), **groups}, judged))
    settle = terms.patience.settle
    ready = frozenset(readies(after, judged, catalogue, now=now))
    there = _there(after, judged)
    episodes = {
        key: each if each.silent else _fallen_silent(key, each, after, judged, terms)
        for key, each in voice.episodes.items()
        if key in ready
        or (key.subject in there and _lasts(key, each, judged, after, now=now, settle=settle))
    }
    owed = {s: since for s, since in voice.owed.items() if s in there}
    return replace(after, episodes=episodes, owed=owed)


def _fallen_silent(
    key: Key, episode: Episode, voice: Voice, judged: Judgement, terms: Terms
) -> Episode:
    muted = _muted(key, judged, voice) and not may_speak(key, voice, judged, terms)
    return replace(episode, silent=True) if muted else episode


def wakes(voice: Voice, *, settle: timedelta, now: datetime) -> datetime | None:
    """
    When time alone ends an episode that was read back, or makes its Ready true.
    """
    moments = list(voice.owed.values())
    moments += [e.resumed + settle for e in voice.episodes.values() if e.resumed is not None]
    return min((moment for moment in moments if moment > now), default=None)


def _kept_names(voice: Voice) -> Mapping[Key, Group]:
    """
    Groups with nobody left, whose names their Ready still needs.
    """
    return {
        key: replace(group, members=frozenset())
        for key, group in voice.groups.items()
        if key.subject in voice.owed
    }


def _of_those_there(groups: Mapping[Key, Group], judged: Judgement) -> Mapping[Key, Group]:
    """
    Without the deleted ones, which are not said to be ready again.
    """
    sets = _sets(judged, groups.values())
    there = {
        key: replace(group, ever=group.ever & judged.subjects)
        for key, group in groups.items()
        if not group.resumed or key.subject.namespace in sets
    }
    return {key: group for key, group in there.items() if group.ever or group.resumed}


def _there(after: Voice, judged: Judgement) -> frozenset[Subject]:
    """
    The subjects that exist, groups of which somebody does among them.
    """
    return judged.subjects | {key.subject for key in after.groups}


def _lasts(
    key: Key,
    episode: Episode,
    judged: Judgement,
    voice: Voice,
    *,
    now: datetime,
    settle: timedelta,
) -> bool:
    group = voice.groups.get(key)
    if group is not None and (group.members or not group.resumed):
        return bool(group.members)
    record = judged.gate.records.get(key)
    if record is not None:
        return not _is_of_before(episode, record, settle=settle)
    if key in judged.gate.unseen:
        return True
    return episode.resumed is not None and episode.resumed > now - settle


def _is_of_before(episode: Episode, record: Record, *, settle: timedelta) -> bool:
    """
    Whether the trouble of an Event that another wrote has settled before our eyes, and this is new.
    """
    if episode.resumed is None or record.ended is None:
        return False
    return record.ended >= episode.record.last + settle


def _muted(key: Key, judged: Judgement, voice: Voice) -> bool:
    """
    Outranked or suppressed, which a later turn to speak must say; not merely settling.
    """
    group = voice.groups.get(key, Group())
    keys = [Key(member, key.reason) for member in group.members] or [key]
    return any(k in judged.silence.by or _outranked(k, judged) for k in keys)


def _outranked(key: Key, judged: Judgement) -> bool:
    primary = judged.candidates(key.subject).primary
    return bool(primary) and key not in primary


def speakers(voice: Voice, judged: Judgement, terms: Terms) -> Iterable[Key]:
    """
    The keys whose Event may be written now, if one is due.
    """
    for standing in judged.standings.values():
        for key in standing.speakers(terms.emission):
            record = judged.gate.records[key]
            if record.spoken and not record.unknown and not _in_group(key, voice):
                yield key
    for key, group in voice.groups.items():
        if any(_speaks(Key(m, key.reason), judged, terms) for m in group.members):
            yield key


def may_speak(key: Key, voice: Voice, judged: Judgement, terms: Terms) -> bool:
    """
    Whether this key is one of the *speakers*.
    """
    if key in voice.groups:
        return any(_speaks(Key(m, key.reason), judged, terms) for m in voice.groups[key].members)
    return _speaks(key, judged, terms) and not _in_group(key, voice)


def _in_group(key: Key, voice: Voice) -> bool:
    """
    Whether a group of the same trouble speaks for all, so that one with its own Event falls silent.
    """
    group = voice.groups.get(Key(Subject(key.subject.layer, key.subject.namespace), key.reason))
    return bool(key.subject.name) and group is not None and bool(group.members)


def _speaks(key: Key, judged: Judgement, terms: Terms) -> bool:
    record = judged.gate.records.get(key)
    if record is None or record.unknown or not record.spoken:
        return False
    return key in judged.candidates(key.subject).speakers(terms.emission)


def readies(
    voice: Voice,
    judged: Judgement,
    catalogue: Catalogue,
    *,
    now: datetime,
    only: Iterable[Subject] | None = None,
) -> list[Key]:
    """
    The Ready keys that are owed and true; of all subjects, or of some *only*.
    """
    if not voice.owed:
        return []
    waiting, groups = _open(voice, catalogue), _by_subject(voice)
    sets = _sets(judged, voice.groups.values())
    return [
        Key(subject, catalogue.ready(subject.layer).reason)
        for subject in (voice.owed if only is None else only)
        if subject in voice.owed
        and voice.owed[subject] <= now
        and subject not in waiting
        and catalogue.ready(subject.layer).enabled
        and judged.unwell.isdisjoint(_stood_for(subject, groups.get(subject, ()), sets))
    ]


def _open(voice: Voice, catalogue: Catalogue) -> frozenset[Subject]:
    """
    The subjects with an episode that a Ready has to wait for.
    """
    entries = ((key.subject, catalogue[key.reason]) for key in voice.episodes)
    return frozenset(s for s, entry in entries if not entry.orthogonal and not entry.ready)


def _by_subject(voice: Voice) -> Mapping[Subject, list[Group]]:
    found: defaultdict[Subject, list[Group]] = defaultdict(list)
    for key, group in voice.groups.items():
        found[key.subject].append(group)
    return found


def _stood_for(
    subject: Subject, groups: Sequence[Group], sets: Mapping[str, set[Subject]]
) -> frozenset[Subject]:
    found = frozenset({subject}).union(*(group.ever for group in groups))
    unknown = any(group.resumed for group in groups)
    return found.union(sets.get(subject.namespace, ())) if unknown else found


def _sets(judged: Judgement, groups: Iterable[Group]) -> Mapping[str, set[Subject]]:
    """
    InferenceSets by namespace, if it is not known whom one of the groups stood for.
    """
    found: defaultdict[str, set[Subject]] = defaultdict(set)
    if any(group.resumed for group in groups):
        for subject in judged.subjects:
            if subject.layer is Layer.MODELDEPLOYMENT:
                found[subject.namespace].add(subject)
    return found


def resume(
    voice: Voice,
    records: Iterable[EventRecord],
    catalogue: Catalogue,
    terms: Terms,
    *,
    now: datetime,
    since: datetime,
) -> Voice:
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
            closed[subject] = max(record.last, closed.get(subject, record.last))
    episodes, owed, groups = dict(voice.episodes), dict(voice.owed), dict(voice.groups)
    for record in sorted(known, key=lambda r: (r.last, r.episode)):
        key = record.key
        shut = closed.get(key.subject)
        running = record.type is EventType.WARNING and now - record.last <= READ_BACK
        if running and (shut is None or shut < record.last or shut <= record.episode):
            episodes[key] = Episode(record, resumed=since)
            if key.subject.layer is Layer.MODELDEPLOYMENT and not key.subject.name:
                groups[key] = Group(resumed=True)
            if not catalogue[key.reason].orthogonal:
                owed[key.subject] = since + terms.patience.settle
    return replace(voice, episodes=episodes, owed=owed, groups=groups)
