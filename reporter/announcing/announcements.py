"""
The announcement state of this process, between the controller and the publisher.

The controller hands in each Evaluation and asks which keys are announced. The publisher, which is the
LeaderWriter with the EventPlan, asks what to write and reports what became of it. Neither knows the
other.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Protocol

from reporter.announcing import restore
from reporter.announcing.announcement_state import AnnouncementState, WriteOutcome, apply_outcome
from reporter.announcing.episodes import apply_evaluation, keep_episodes, next_episode_deadline
from reporter.announcing.schedule import CachedWrite, PublishContext
from reporter.catalogue.entries import Catalogue
from reporter.evaluation.catalogue_change import stays_evaluated
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.remembered import NOTHING_REMEMBERED, Remembered
from reporter.kinds.health_events import HealthEvent
from reporter.kinds.objects import NamespacedName
from reporter.kube.event_record import EventRecord
from reporter.model.enums import EventType
from reporter.model.observations import NotSynced, WatchState
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject
from reporter.process.clock import Clock
from reporter.process.subscribers import Subscribers
from reporter.snapshot.snapshot import Snapshot


class EpisodeObserver(Protocol):
    """Counts episodes that begin and end while this process leads, for the metrics."""

    def on_episode_begin(self, key: FindingKey) -> None:
        """
        Count an episode once its first Warning was sent; one that Events restored is not counted.
        """

    def on_episode_end(self, key: FindingKey, lasted: timedelta) -> None:
        """Count the end of an episode. *lasted*: the time from its first Event to its end."""


class StoredEpisodes(Protocol):
    """The HealthEvents of this program in the cluster, as a watch shows them."""

    @property
    def watch_state(self) -> WatchState:
        """The state of the watch. NotSynced and NotServed mean that the objects are not known."""

    @property
    def objects(self) -> Mapping[NamespacedName, HealthEvent]:
        """
        The objects of this program by namespace and name, without those that cannot be decoded.
        """

    @property
    def changes(self) -> Subscribers[[]]:
        """The subscribers to notify whenever an object has changed in the cluster."""


InvolvedObjectLookup = Callable[[Snapshot, Subject], InvolvedObject]

_NO_SNAPSHOT = Snapshot({}, {}, {}, {})


class Announcements:
    """
    Own the episodes; nobody else changes them.

    *involved_for* returns the involvedObject of a subject's Ready Event. *first_evaluation* is set
    by the first Evaluation.
    *stored_changed* is set when the HealthEvents in the cluster have changed.
    *observer* is called when an episode of a finding begins and ends while this process leads.
    *complete*: the episodes of a predecessor are among those of *state*, and their findings continued.
    *unread_events*: why the Events of earlier processes are not known; empty once they were read.
    *awaits_events*: they are being read for the first time, for which the first pass waits a moment.

    *pass_needed*: notified when what became of Events makes another pass necessary. *changes*: after each
    Evaluation and each change of the state. *event_written*: of each Event that was written, before the
    state knows of it.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        settings: EvaluationSettings,
        clock: Clock,
        *,
        involved_for: InvolvedObjectLookup,
        observer: EpisodeObserver | None = None,
    ) -> None:
        self.state = AnnouncementState()
        self.complete = asyncio.Event()
        self.first_evaluation = asyncio.Event()
        self._catalogue, self._settings, self._clock = catalogue, settings, clock
        self._involved_for = involved_for
        self._evaluation, self._snapshot = Evaluation(), _NO_SNAPSHOT
        self._evaluating_since: datetime | None = None
        # The findings of a predecessor for the next pass, once its Events were restored. Until a pass
        # takes them, no Evaluation knows of them, and none is applied to the restored episodes.
        self._remembered: Remembered | None = None
        # The Events that every replica reads at its start. The next pass makes findings of them on its
        # snapshot, which tells whose subject was made anew; none if this process restores Events itself.
        self._earlier: tuple[EventRecord, ...] = ()
        # Events were restored, and some of their subjects were not looked at yet, as a pass can be cut:
        # *complete* is not set before, so nothing is written.
        self._is_continuing = False
        self.unread_events, self.awaits_events = "", False
        self._write_cache: dict[FindingKey, CachedWrite] = {}
        self._observer = observer
        self._stored: StoredEpisodes | None = None
        self.stored_changed = asyncio.Event()
        self.pass_needed: Subscribers[[]] = Subscribers()
        self.changes: Subscribers[[]] = Subscribers()
        self.event_written: Subscribers[EventRecord] = Subscribers()

    def restore_from(self, stored: StoredEpisodes) -> None:
        """Restore also the episodes that are stored and have no Event any more."""
        self._stored = stored
        stored.changes.subscribe(self.stored_changed.set)

    @property
    def stored(self) -> Collection[HealthEvent] | None:
        """The HealthEvents in the cluster; None while they are not listed yet."""
        if self._stored is None:
            return ()
        is_listed = self._stored.watch_state != NotSynced()
        return self._stored.objects.values() if is_listed else None

    # ------------------------------------------------------------ for the controller

    def update(self, evaluation: Evaluation, snapshot: Snapshot, *, now: datetime) -> None:
        """Take a new Evaluation and the snapshot that it was made from."""
        self._evaluation, self._snapshot = evaluation, snapshot
        # Else its pass began before the Events were restored, and the next one takes their findings.
        if self._remembered is None:
            self.state = self._apply_evaluation(self.state, now=now)
            if self._is_continuing and evaluation.remembered.subjects.isdisjoint(
                evaluation.subjects
            ):
                self._is_continuing = False
                self.complete.set()
        self._evaluating_since = self._evaluating_since or now
        self.first_evaluation.set()
        self.changes.notify()

    @property
    def has_remembered(self) -> bool:
        """True if the next pass is to take what `take_remembered` returns."""
        return self._remembered is not None or bool(self._earlier)

    def take_remembered(self, snapshot: Snapshot) -> Remembered:
        """
        Return the findings of a predecessor that the pass that begins now, on *snapshot*, is to continue.

        Each is returned once.
        """
        earlier, self._earlier = self._earlier, ()
        # A leader has restored the Events itself, with their episodes. A follower takes the findings alone.
        if earlier and not self._is_continuing and not self.is_complete:
            _, self._remembered = self._continue(earlier, snapshot, now=self._clock.now())
        remembered, self._remembered = self._remembered, None
        return remembered or NOTHING_REMEMBERED

    def prepare_catalogue(
        self, catalogue: Catalogue, settings: EvaluationSettings, evaluation: Evaluation
    ) -> Callable[[], None]:
        """
        Return a function that puts another catalogue and the *evaluation* that fits it in effect.

        Nothing changes before it is called.
        """
        before, after = self.state, keep_episodes(self.state, catalogue, settings)

        def commit() -> None:
            self._catalogue, self._settings, self._evaluation = catalogue, settings, evaluation
            self._write_cache.clear()
            self.state = after
            if self._remembered is not None:
                self._remembered = self._remembered.kept(stays_evaluated(catalogue, settings))
            self._report_ends(before, after, now=self._clock.now())
            self.changes.notify()

        return commit

    @property
    def is_complete(self) -> bool:
        """
        True once the episodes of the predecessor are known, without which nothing may be announced.
        """
        return self.complete.is_set()

    @property
    def announced(self) -> frozenset[FindingKey]:
        """
        The keys with an open episode, of findings and of groups; none while another process leads.
        """
        return frozenset(self.state.episodes)

    def episode_starts(self) -> Mapping[FindingKey, datetime]:
        """Return when each open episode was announced first; none while another process leads."""
        return {key: each.event.episode_start for key, each in self.state.episodes.items()}

    def next_deadline(self, *, now: datetime) -> datetime | None:
        """Return the next moment at which time alone changes the state; None without one."""
        return next_episode_deadline(self.state, settle=self._settings.delays.settle, now=now)

    # ------------------------------------------------------------ for the publisher (EventPlan)

    def publish_context(self) -> PublishContext:
        """Return everything that decides what is written at this moment."""
        snapshot = self._snapshot
        return PublishContext(
            self.state,
            self._evaluation,
            self._catalogue,
            self._settings,
            lambda subject: self._involved_for(snapshot, subject),
            snapshot,
            self._write_cache,
        )

    def possible_keys(self) -> restore.PossibleKeyFinder:
        """Return the finder of the possible keys of Events that admission left without labels."""
        return restore.PossibleKeyFinder(self._catalogue, self._evaluation.subjects)

    def write_finished(self, record: EventRecord, outcome: WriteOutcome) -> None:
        """
        Update the episodes by the outcome of a write.

        The key may have left the catalogue meanwhile, and then nothing changes. An episode whose finding
        ended during the write is closed by a pass that this asks for.
        """
        if not self._is_announced_at_all(record.key):
            return  # the catalogue has changed while the Event was written
        if outcome is WriteOutcome.WRITTEN:
            # Before the state forgets the groups that a Ready names.
            self.event_written.notify(record)
        is_new = record.key not in self.state.episodes and record.type is EventType.WARNING
        self.state = apply_outcome(self.state, record, outcome, self._catalogue)
        if is_new and self._observer is not None:
            self._observer.on_episode_begin(record.key)
        self.changes.notify()
        if record.key not in self._evaluation.tracked.finding_states:
            # The finding ended while its Event was written: a pass must close the new episode.
            self.pass_needed.notify()

    def restored(self, records: Iterable[EventRecord]) -> None:
        """
        Continue the episodes of Events that a predecessor wrote, at the start of a term as leader.

        The passes that follow continue their findings. Once they have, or if there are none, *complete* is
        set; until then nothing is written.
        """
        now = self._clock.now()
        self.state, remembered = self._continue(records, self._snapshot, now=now)
        if remembered:
            self._remembered, self._is_continuing = remembered, True
        else:
            self.state = self._apply_evaluation(self.state, now=now)
            self.complete.set()
        self.pass_needed.notify()
        self.changes.notify()

    def remember(self, records: Iterable[EventRecord]) -> None:
        """
        Continue the findings of Events that another process wrote and may still renew, not the episodes.

        The next pass does so, unless this process has restored Events as the leader by then.
        """
        self._earlier = tuple(records)
        self.events_read()

    def await_events(self, why: str) -> None:
        """
        Note that earlier Events are to be read, and *why* they are not known yet.

        The first pass waits a moment for them.
        """
        self.unread_events, self.awaits_events = why, True

    def events_read(self, why_not: str = "") -> None:
        """
        Note that earlier Events were read, or *why_not*; the first pass waits for them no longer.
        """
        self.unread_events, self.awaits_events = why_not, False
        self.pass_needed.notify()

    def _continue(
        self, records: Iterable[EventRecord], snapshot: Snapshot, *, now: datetime
    ) -> tuple[AnnouncementState, Remembered]:
        told = restore.with_stored(records, restore.stored_episodes(self.stored or (), now=now))
        state = restore.restore_episodes(
            AnnouncementState(),
            restore.of_living_subjects(told, snapshot.born_at),
            self._catalogue,
            self._settings,
            now=now,
            since=min(self._evaluating_since or now, now),
        )
        return state, restore.remember_findings(
            state, self._evaluation, self._catalogue, self._settings, now=now
        )

    def stood_down(self) -> None:
        """
        Forget all episodes: this process no longer leads, and its successor continues them.

        Restored findings that no pass has taken yet stay, as a follower knows what is announced too.
        """
        self.state, self._is_continuing = AnnouncementState(), False
        self.complete.clear()
        self.pass_needed.notify()
        self.changes.notify()

    def _is_announced_at_all(self, key: FindingKey) -> bool:
        entry = self._catalogue.entries.get(key.reason)
        if entry is None or not entry.enabled:
            return False
        return (entry.layer, entry.subject_kind) == (key.subject.layer, key.subject.kind)

    def _apply_evaluation(self, state: AnnouncementState, *, now: datetime) -> AnnouncementState:
        after = apply_evaluation(state, self._evaluation, self._catalogue, self._settings, now=now)
        self._report_ends(state, after, now=now)
        return after

    def _report_ends(
        self, before: AnnouncementState, after: AnnouncementState, *, now: datetime
    ) -> None:
        if self._observer is None:
            return
        for key in before.episodes.keys() - after.episodes.keys():
            event = before.episodes[key].event
            if event.type is EventType.WARNING:
                self._observer.on_episode_end(key, now - event.episode_start)
