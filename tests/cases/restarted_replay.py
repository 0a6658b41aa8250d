"""
Replays of a case in which the process stops at some moment, and another one starts in its place.
"""

import copy
import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, NamedTuple, Self, TypeAlias

from msgspec.structs import replace

from reporter.announcing.announcement_state import AnnouncementState
from reporter.announcing.eligibility import announceable_keys
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.kube.event_record import EventRecord
from reporter.model.enums import Layer
from reporter.model.states import State
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from reporter.rollup.blockers import RECOVERING, SETTLING
from reporter.rollup.findings import collect_findings
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.stories.format import START, parse_duration
from reporter.stories.story_replay import OBSERVE_AFTER_LAST_STEP, StoryReplay


Shown: TypeAlias = tuple[State, bool | None]
"""The state of a subject, and of an InferenceSet if it is available."""


CLEAR = "clear"


class Moment(NamedTuple):
    """The subjects as they are shown from a moment on, and the class of each ranked finding."""

    at: timedelta
    shown: Mapping[Subject, Shown]
    classes: Mapping[FindingKey, str]


RESYNC = timedelta(minutes=5)

BRIEF = timedelta(seconds=1)
"""
A difference that is no longer comes from deadlines that two processes meet at other milliseconds.
"""


class ObservedProcess(StoryReplay):
    """
    A replay that evaluates as the controller does: what changed, and all now and then.

    It notes what it shows, and each subject that is Current while an episode of it runs. *course*: what
    it shows from each moment on, which the jumps of a clock do not change.
    """

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.hidden: list[str] = []
        self.course: list[Moment] = []
        self._due_at: datetime | None = None
        self._resyncs, self._dirty = -1, frozenset[Subject]()
        super().__init__(case)

    @property
    def elapsed(self) -> timedelta:
        return self.now - START - self._jumped

    def run_pass(self) -> "ObservedProcess":
        """Run a pass if there is anything to do."""
        resyncs, self._dirty = self.elapsed // RESYNC, self._dirty | self.store.take_dirty()
        if resyncs != self._resyncs or any(
            moment <= self.now for moment in self.snapshot.unknown_moments()
        ):
            self._resyncs, self._dirty = resyncs, self._dirty | ALL_LAYERS
        if self._dirty or (self._due_at is not None and self._due_at <= self.now):
            self._run_pass_of(self._dirty)
        return self

    def _run_pass_of(self, dirty: frozenset[Subject]) -> None:
        self.subjects = dirty
        super().run_pass()
        self._dirty = frozenset()
        self._due_at = super()._next_deadline()
        self.course.append(Moment(self.elapsed, shown_by(self.rollup), self._classes()))
        for key in self.announcement_state.episodes:
            entry = self.catalogue[key.reason]
            if not (entry.orthogonal or entry.is_ready_reason) and self._is_current(key):
                self.hidden.append(f"{self.elapsed} {key} is announced, and its subject Current")

    def _next_deadline(self) -> datetime | None:
        return self._due_at

    def restart(self, *, back_after: float = 0.0) -> Self:
        self._resyncs = -1
        return super().restart(back_after=back_after)

    def take_over(self) -> Self:
        self._resyncs = -1
        return super().take_over()

    def rollup_input(self) -> RollUpInput:
        given = super().rollup_input()
        return replace(given, dirty=given.dirty | self._dirty)

    def _is_current(self, key: FindingKey) -> bool:
        shown = self.course[-1].shown.get(key.subject)
        return shown is not None and shown[0] is State.CURRENT

    def _classes(self) -> Mapping[FindingKey, str]:
        evaluation = self.evaluation
        found = collect_findings(evaluation, evaluation.subjects, self.rollup_rules)
        return {
            key: name
            for each in found.values()
            for name in ("failed", "unknown", "held", "settling", "unread")
            for key in getattr(each, name)
        }


class OldProcess(ObservedProcess):
    """
    The process that is stopped, at the chosen ones of the seconds around which something happens or is
    written; it goes on beside its successors.

    *most*: the most that are chosen; None for all. *announced_at*: the last moment at which the Event of
    a key might be renewed.
    """

    def __init__(self, case: Mapping[str, Any], name: str, *, most: int | None) -> None:
        self.successors: list[Successor] = []
        self.announced_at: dict[FindingKey, datetime] = {}
        self._random, self._most, self._told = Random(name), most, 0
        self._telling = _telling_seconds(case)
        super().__init__(case)

    def run_pass(self) -> "OldProcess":
        written = len(self.writes)
        super().run_pass()
        state, evaluation = self.announcement_state, self.evaluation
        keys = announceable_keys(state, evaluation, self.settings)
        self.announced_at |= dict.fromkeys(keys, self.now)
        if len(self.writes) > written:
            self._stop(back_after=1.0)
        return self

    def _advance_without_status(self, end: datetime) -> None:
        for second in self._telling:
            moment = START + second + self._jumped
            if self.now < moment <= end:
                super()._advance_without_status(moment)
                self._stop()
        super()._advance_without_status(end)

    def observe_longer(self) -> None:
        """Let another hour pass after the end of the case, once."""
        if self._most != 0:
            self._most = 0
            self._advance_until(self.now + timedelta(hours=1))

    def _stop(self, *, back_after: float = 0.0) -> None:
        """Keep a successor, each with the same probability."""
        number, self._told = self._told, self._told + 1
        if self._most is None or number < self._most:
            self.successors.append(Successor(self, back_after))
        elif (place := self._random.randint(0, number)) < self._most:
            self.successors[place] = Successor(self, back_after)


class Successor(ObservedProcess):
    """
    A process that starts in the place of another one: it knows the objects and Events that are there.

    *inherited*: the number of Events that its predecessor wrote. *running*: the episodes that it left.
    *told*: the findings of which these tell.
    """

    def __init__(self, old: OldProcess, back_after: float) -> None:
        vars(self).update(vars(old))
        self._back_after, self.stopped_at = back_after, old.elapsed
        self.hidden, self.course, self.writes = [], [], list(old.writes)
        self.inherited, self.statuses, self.crds = len(old.writes), {}, dict(old.crds)
        self.running = frozenset(old.announcement_state.episodes)
        self.told, self._blockers = frozenset(_told_by(old)), _announced_blockers(old)
        self._heartbeats = dict(_heartbeats(old))
        self._world_of(old)
        self._before = old.store.snapshot()

    def _world_of(self, old: OldProcess) -> None:
        """Copy what the rest of the case changes."""
        self.world = dataclasses.replace(
            old.world,
            **{
                name: copy.copy(each)
                for name, each in vars(old.world).items()
                if isinstance(each, dict)
            },
        )
        engines = old.pages.engines
        self.pages = dataclasses.replace(
            old.pages,
            words=dict(old.pages.words),
            bytes_left=dict(old.pages.bytes_left),
            engines=dataclasses.replace(
                engines, counts=dict(engines.counts), since=dict(engines.since)
            ),
        )
        if old.health_events is not None:
            self.health_events = copy.copy(old.health_events)
            self.health_events.existing = dict(old.health_events.existing)

    def _read_back(self) -> AnnouncementState:
        written = self.writes
        self.writes = [self._heartbeats.get(number, each) for number, each in enumerate(written)]
        try:
            return super()._read_back()
        finally:
            self.writes = written

    def run(self) -> "Successor":
        self._start_store(self._before)
        self.restart(back_after=self._back_after)
        after = _announced_blockers(self)
        self.hidden += [
            f"{key} {code} since {since} is so since {after[key][1]}"
            for key, (code, since) in self._blockers.items()
            if key in after and after[key][0] == code and after[key][1] != since
        ]
        # What it showed before it had read the Events is not what they say.
        del self.course[:-1]
        return super().run()


def _heartbeats(old: OldProcess) -> Iterator[tuple[int, EventRecord]]:
    """
    Yield the last write of each episode, by its number, as the last heartbeat left it.

    A replay writes no heartbeats, without which an Event is too old to be read back after an hour.
    """
    last = {(each.key, each.episode_start): n for n, each in enumerate(old.writes)}
    for key, announced_at in old.announced_at.items():
        episode = old.announcement_state.episodes.get(key)
        if episode is not None:
            number = last[key, episode.event.episode_start]
            event = old.writes[number]
            renewed_at = max(event.last_timestamp, announced_at - EvaluationSettings().heartbeat)
            yield number, replace(event, last_timestamp=renewed_at)


def _told_by(old: OldProcess) -> Iterator[FindingKey]:
    for key, episode in old.announcement_state.episodes.items():
        yield key
        also = episode.event.announced.also if episode.event.announced is not None else ()
        yield from (FindingKey(key.subject, each.reason, each.item) for each in also)


def _announced_blockers(replay: StoryReplay) -> Mapping[FindingKey, tuple[str, datetime | None]]:
    """
    Return code and beginning of each finding that blocks its subject and whose Event says all of it.

    When trouble ended, or paused since its last write, is not in the Event.
    """
    episodes, states = replay.announcement_state.episodes, replay.evaluation.tracked.finding_states
    told = {
        key
        for key, each in episodes.items()
        if key in states
        and all(
            clock.cause_since is None or clock.cause_since <= each.event.last_timestamp
            for clock in states[key].clocks
        )
    }
    cluster = replay.rollup.cluster
    subject_states = [cluster.subject_state] if cluster is not None else []
    for each in replay.rollup.namespaces.values():
        subject_states += [each.harness, *(found.subject_state for found in each.sets.values())]
    blockers = [each.blocker for each in subject_states if each.state is State.FAILED]
    return {
        each.key: (each.code, each.since)
        for each in blockers
        if each is not None and each.key in told and each.code not in {SETTLING, RECOVERING}
    }


def shown_by(rollup: RollUp) -> Mapping[Subject, Shown]:
    found: dict[Subject, Shown] = {}
    if rollup.cluster is not None:
        found[CLUSTER_SUBJECT] = (rollup.cluster.subject_state.state, None)
    for name, each in rollup.namespaces.items():
        found[Subject(Layer.MODELHARNESS, name)] = (each.harness.state, None)
        for set_name, of_set in each.sets.items():
            subject = Subject(Layer.MODELDEPLOYMENT, name, set_name)
            found[subject] = (of_set.subject_state.state, of_set.available)
    return found


def broken_law(old: OldProcess, new: Successor) -> Iterator[str]:
    """Yield what differs after a restart, and may not."""
    extra = list(_written_by_new_alone(old, new))
    if extra:
        # A clock that stood still while something could not be read is late: a new process, which
        # believes the time that a condition states, may announce what the old one would have later.
        old.observe_longer()
        extra = list(_written_by_new_alone(old, new))
    yield from extra
    yield from new.hidden
    yield from _shown_otherwise(old, new)


def _written_by_new_alone(old: OldProcess, new: Successor) -> Iterator[str]:
    """
    Yield what a new process has written, and the old one would not have.

    Of a running episode the texts are compared, except for numbers in them and the suffixes. What is
    announced anew may be described by what a new process can know: that an object does not exist, not
    that it was deleted.
    """

    def told(record: EventRecord) -> tuple[str, ...]:
        key = record.key
        text = _plain(record) if key in new.running else ""
        return (record.type.value, key.reason, str(key.subject), key.item, text)

    after = [
        each
        for before, each in _with_last_text(new.writes[new.inherited :])
        # The suffix of what is announced anew may grow as what follows serves its hold anew.
        if each.key in new.running or _plain(each) != before
    ]
    extra = Counter(map(told, after)) - Counter(map(told, old.writes[new.inherited :]))
    for record in after:
        if extra[told(record)] > 0:
            extra[told(record)] -= 1
            yield f"{record.last_timestamp - START} {record.type} {record.key}: {record.message}"


def _plain(record: EventRecord) -> str:
    """Return the text without numbers and suffixes."""
    text = re.sub(r" \((also|suppressing downstream reasons): [^)]*\).*", "", record.message)
    return re.sub(r"\d+", "N", text)


def _with_last_text(records: Iterable[EventRecord]) -> Iterator[tuple[str, EventRecord]]:
    """Yield each Event with the text of the last one of its episode."""
    last: dict[tuple[FindingKey, datetime], str] = {}
    for each in records:
        episode = (each.key, each.episode_start)
        yield last.get(episode, ""), each
        last[episode] = _plain(each)


def _shown_otherwise(old: OldProcess, new: Successor) -> Iterator[str]:
    """Yield the subjects whose state is neither that which the old process shows nor Unknown."""
    end = new.elapsed
    since: dict[Subject, tuple[timedelta, str]] = {}
    for at, was, now in _side_by_side(old.course, new.course):
        wrong = dict(_wrongly_shown(was, now, new)) if at < end else {}
        for subject in since.keys() - wrong.keys():
            began, text = since.pop(subject)
            if at - began > BRIEF:
                yield f"{began} to {at} {subject} is {text}"
        since |= {subject: (at, wrong[subject]) for subject in wrong.keys() - since.keys()}
    for subject, (began, text) in since.items():
        if end - began > BRIEF:
            yield f"{began} to the end {subject} is {text}"


def _wrongly_shown(was: Moment, now: Moment, new: Successor) -> Iterator[tuple[Subject, str]]:
    told, missing_crd = new.told, new.catalogue.missing_crd_reason
    for subject in was.shown.keys() | now.shown.keys():
        before, after = was.shown.get(subject), now.shown.get(subject)
        if before == after or _is_less_known(before, after):
            continue
        others = {
            key: (was.classes.get(key, CLEAR), now.classes.get(key, CLEAR))
            for key in was.classes.keys() | now.classes.keys()
            if key.subject == subject and was.classes.get(key) != now.classes.get(key)
        }
        # A new process discovers at once, and the old one in its turn.
        if any(key.reason == missing_crd for key in others):
            continue
        if not others or any(_is_wrong(each, key in told) for key, each in others.items()):
            described = ", ".join(f"{key.reason} {' -> '.join(e)}" for key, e in others.items())
            yield subject, f"{after}, not {before} ({described})"


def _is_less_known(old: Shown | None, new: Shown | None) -> bool:
    if old is None or new is None:
        return False
    return new[0] is State.UNKNOWN or (new[0] is old[0] and new[1] is None)


def _is_wrong(classes: tuple[str, str], is_told: bool) -> bool:
    """
    Return whether a restart may not change the class of a finding like this.

    Of what no Event tells, holds, settles and windows are served anew: it is found later, or it is
    gone sooner. Of what was announced, the settle alone is.
    """
    if is_told:
        return classes != (CLEAR, "settling")
    return classes[0] == CLEAR and classes[1] not in {"settling", "unread"}


def _side_by_side(
    old: Sequence[Moment], new: Sequence[Moment]
) -> Iterator[tuple[timedelta, Moment, Moment]]:
    """
    Yield what both show from each moment on at which one had a pass, since the new process started.
    """
    start, last_old, last_new = new[0].at, old[0], new[0]
    changes = [(each.at, True, each) for each in old] + [(each.at, False, each) for each in new]
    for at, is_old, each in sorted(changes, key=lambda change: change[0]):
        last_old, last_new = (each, last_new) if is_old else (last_old, each)
        if at >= start:
            yield at, last_old, last_new


def span_of(case: Mapping[str, Any]) -> timedelta:
    if case.get("until"):
        return parse_duration(case["until"])
    steps = case["story"]
    return parse_duration(steps[-1]["at"] if steps else "0s") + OBSERVE_AFTER_LAST_STEP


def _telling_seconds(case: Mapping[str, Any]) -> Iterable[timedelta]:
    """Return the seconds around which something happens."""
    end = span_of(case)
    seconds = {
        _moment_of(step) + timedelta(seconds=each)
        for step in case["story"]
        for each in (-5, 5, 40)
    }
    return sorted(each for each in seconds if timedelta(0) < each < end)


def _moment_of(step: Mapping[str, Any]) -> timedelta:
    return parse_duration(step["at"])


def mixed(one: Mapping[str, Any], other: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a case in which the steps of two happen to one stack."""
    steps = sorted([*one["story"], *other["story"]], key=_moment_of)
    end = int(max(span_of(one), span_of(other)).total_seconds())
    return {"why": "two at once", "of": [], "story": steps, "until": f"{end}s", "announced": {}}


def can_be_mixed(case: Mapping[str, Any]) -> bool:
    """Return whether a case has nothing but steps: no settings and no stack of its own."""
    return case.keys() <= {
        "why",
        "of",
        "real",
        "story",
        "until",
        "announced",
        "status",
        "notes",
        "orders",
    }


def can_happen_together(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether neither case changes an object that the other one deletes."""
    (changed, deleted), (others, deleted_others) = map(_changed_objects, (one, other))
    return not (changed & deleted_others or others & deleted)


def _changed_objects(case: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Return the objects that a case changes, and those that it deletes."""
    changes = [change for step in case["story"] for change in (step.get("change") or {}).items()]
    return {name for name, _ in changes}, {name for name, content in changes if content is None}
