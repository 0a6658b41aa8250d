"""
The loop of passes: at once after a change, at the moment a hold falls due, and regularly over all.

Owns the judgement and the voice; nobody else changes them. A pass over many subjects lets others have
their turn, but changes both only at its end, so what reads them between two awaits sees one moment.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NoReturn, Protocol

from reporter.model.event_record import EventRecord
from reporter.model.observations import NotSynced
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import InvolvedObject
from reporter.runtime.clock import Clock
from reporter.stages.announcing.announcement_state import AnnouncementState
from reporter.stages.announcing.episodes import apply_evaluation, next_episode_deadline
from reporter.stages.announcing.outcome import WriteOutcome, apply_outcome
from reporter.stages.announcing.restore import restore_episodes
from reporter.stages.announcing.schedule import CachedWrite, PublishContext
from reporter.stages.evaluation.evaluation import Evaluation
from reporter.stages.pipeline import Evaluator
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.subjects import ALL_LAYERS
from reporter.stages.store.store import Store


CHANGE_BATCH_WINDOW = timedelta(milliseconds=20)
"""
Changes within this time after a pass that a change led to are judged together; within more time if
the pass took more, so that an outage of all models at once leaves time for saying it. Changes that
waited for a pass over everything have waited enough.
"""


FAILED_LIST_WAIT = timedelta(seconds=3)
"""
How long to wait for kinds that could not be listed at first.
"""


class PassObserver(Protocol):
    """
    Told of each pass.
    """

    def on_pass(self, before: Evaluation, after: Evaluation, took: timedelta) -> None: ...


@dataclass(slots=True)
class PassTimes:
    """
    When passes were finished, in seconds of the event loop; None before the first.
    """

    finished: float | None = None
    finished_at: datetime | None = None
    first_finished: asyncio.Event = field(default_factory=asyncio.Event)


class Controller:
    """
    *home*: the involvedObject of a subject's Ready. *resync*: the time between full passes.
    """

    def __init__(
        self,
        store: Store,
        court: Evaluator,
        clock: Clock,
        *,
        resync: timedelta,
        involved_for: Callable[[Snapshot, Subject], InvolvedObject],
        observers: Iterable[PassObserver] = (),
    ) -> None:
        self.evaluation = Evaluation()
        self.announcement_state = AnnouncementState()
        self.pass_times = PassTimes()
        self.pass_finished = asyncio.Event()
        self._store, self._evaluator, self._clock = store, court, clock
        self._resync, self._involved_for, self._observers = resync, involved_for, tuple(observers)
        self._changed = asyncio.Event()
        self._first_pass_at: datetime | None = None
        self._write_cache: dict[FindingKey, CachedWrite] = {}
        self._snapshot = store.snapshot()
        store.subscribe(self._changed.set)

    @property
    def has_synced(self) -> bool:
        """
        Whether every kind was listed once or is known to be out of sight.
        """
        return all(sight != NotSynced() for sight in self._store.watch_states)

    async def run(self) -> NoReturn:
        await self._wait_for_sync()
        resync_at, changed = self._clock.now(), False
        while True:
            now = self._clock.now()
            # The first answers of the server may set the clock back.
            full = not now < resync_at <= now + self._resync
            if full:
                resync_at = now + self._resync
            took = await self._run_pass_yielding(full=full)
            rest = max(CHANGE_BATCH_WINDOW.total_seconds(), took) if changed and not full else 0.0
            changed = await self._wait_for_change(resync_at, rest)

    async def _wait_for_sync(self) -> None:
        """
        A kind whose first list failed gets a moment more: its objects may be the cause of the rest.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(FAILED_LIST_WAIT.total_seconds()):
                while any(isinstance(sight, NotSynced) for sight in self._store.watch_states):
                    self._changed.clear()
                    await self._changed.wait()
        while not self.has_synced:
            self._changed.clear()
            await self._changed.wait()

    def run_pass(self, *, full: bool) -> None:
        """
        One pass, without a pause.
        """
        for _ in self._pass_steps(full=full):
            pass

    async def _run_pass_yielding(self, *, full: bool) -> float:
        """
        One pass; the lease, the watches and the probes of the kubelet have their turns in between.

        Returns how many seconds it took.
        """
        begun = asyncio.get_running_loop().time()
        for _ in self._pass_steps(full=full):
            await asyncio.sleep(0)
        return asyncio.get_running_loop().time() - begun

    def _pass_steps(self, *, full: bool) -> Iterator[None]:
        """
        Of one moment's snapshot. Yields between two parts, and changes nothing before the end.
        """
        loop = asyncio.get_running_loop()
        begun, now = loop.time(), self._clock.now()
        self._changed.clear()
        dirty = self._store.take_dirty()
        before, snapshot = self.evaluation, self._store.snapshot()
        if full or self._has_kind_become_unknown(snapshot, now):
            dirty |= ALL_LAYERS
        hearing = self._evaluator.plan(before, snapshot, dirty, now=now)
        yield
        heard = self._evaluator.begin(before, hearing)
        for verdicts in hearing.run_in_batches():
            heard = self._evaluator.add(heard, verdicts, now=now)
            yield
        announced = frozenset(self.announcement_state.episodes)
        after = yield from self._evaluator.finish(before, hearing, heard, announced=announced)
        yield
        self._snapshot, self.evaluation = snapshot, after
        terms, catalogue = self._evaluator.settings, self._evaluator.catalogue
        self.announcement_state = apply_evaluation(
            self.announcement_state, after, catalogue, terms, now=now
        )
        self._first_pass_at = self._first_pass_at or now
        self.pass_times.finished, self.pass_times.finished_at = loop.time(), now
        self.pass_times.first_finished.set()
        self.pass_finished.set()
        for observer in self._observers:
            yield
            observer.on_pass(before, after, timedelta(seconds=loop.time() - begun))

    def _has_kind_become_unknown(self, snapshot: Snapshot, now: datetime) -> bool:
        """
        Time alone may make a kind blind, which touches every subject.
        """
        return any(
            (moment := snapshot.unknown_from(kind)) is not None and moment <= now
            for kind in self._store.kinds
        )

    async def _wait_for_change(self, resync_at: datetime, rest: float) -> bool:
        """
        Whether a change ended it, for which it lasts *rest* seconds unless something falls due.
        """
        await asyncio.sleep(0)
        # From the time that was judged: what fell due since then must not be passed over.
        until = min(
            resync_at, *self._deadlines(now=self.evaluation.evaluated_at or self._clock.now())
        )
        begun = asyncio.get_running_loop().time()
        left = max((until - self._clock.now()).total_seconds(), 0.0)
        try:
            async with asyncio.timeout(left):
                await self._changed.wait()
        except TimeoutError:
            return False
        waited = asyncio.get_running_loop().time() - begun
        await asyncio.sleep(max(min(rest, left) - waited, 0.0))
        return True

    def _deadlines(self, *, now: datetime) -> Iterable[datetime]:
        settle = self._evaluator.settings.delays.settle
        judged = self._evaluator.next_deadline(self.evaluation, self._snapshot, now=now)
        said = next_episode_deadline(self.announcement_state, settle=settle, now=now)
        return [moment for moment in (judged, said, now + self._resync) if moment is not None]

    # ------------------------------------------------------------ for the speaker

    def publish_context(self) -> PublishContext:
        """
        All that speaking is decided from at this moment.
        """
        snapshot = self._snapshot
        return PublishContext(
            self.announcement_state,
            self.evaluation,
            self._evaluator.catalogue,
            self._evaluator.settings,
            lambda subject: self._involved_for(snapshot, subject),
            self._write_cache,
        )

    def write_finished(self, record: EventRecord, outcome: WriteOutcome) -> None:
        self.announcement_state = apply_outcome(
            self.announcement_state, record, outcome, self._evaluator.catalogue
        )
        if record.key not in self.evaluation.gate.finding_states:
            self._changed.set()  # it was over before it was said

    def restored(self, records: Iterable[EventRecord]) -> None:
        """
        Take the Events that a predecessor left. What is over by now has a moment to wake for.
        """
        catalogue, terms, now = (
            self._evaluator.catalogue,
            self._evaluator.settings,
            self._clock.now(),
        )
        since = min(self._first_pass_at or now, now)
        voice = restore_episodes(
            AnnouncementState(), records, catalogue, terms, now=now, since=since
        )
        self.announcement_state = apply_evaluation(
            voice, self.evaluation, catalogue, terms, now=now
        )
        self._changed.set()

    def stood_down(self) -> None:
        """
        This process does not speak any more, and what it said is its successor's.
        """
        self.announcement_state = AnnouncementState()
        self._changed.set()
