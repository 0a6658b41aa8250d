"""
The loop of passes: at once after a change, at the moment a deadline passes, and regularly over all.

Owns the Evaluation; nobody else changes it. A pass over many subjects lets other tasks run between
its batches, and commits only where it ends or is cut, so what reads between two awaits sees one
moment.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NoReturn

from msgspec.structs import replace

from reporter.announcing.announcements import Announcements
from reporter.controller.passes import (
    AdaptFunc,
    EvaluatorChange,
    PassCuts,
    PassFollower,
    PassInput,
    PassTimes,
)
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.finished_pass import FinishedPass, StateTracker
from reporter.evaluation.pipeline import Evaluator, PassPlan
from reporter.evaluation.remembered import NOTHING_REMEMBERED
from reporter.evaluation.suppression import with_upstream
from reporter.model.observations import NotSynced
from reporter.model.subjects import Subject
from reporter.process.clock import Clock
from reporter.store.store import Store


LONGEST_PAUSE = timedelta(milliseconds=250)
"""
The longest pause between two passes. It is as long as the first one took, and what changes meanwhile is
evaluated together: in an outage of all models at once there must be time left to write Events, and in its
middle the cause must not wait for what follows from it. Changes that waited for a full pass have waited enough.
"""

FAILED_LIST_WAIT = timedelta(seconds=3)
"""Time that the first pass waits for kinds whose first list failed."""


class Controller:
    """
    Runs passes when something has changed or is due.

    *resync* is the time between two full passes. *followers* get each pass, in this order.
    *leading*: returns whether this replica leads.
    """

    def __init__(  # noqa: PLR0913
        self,
        store: Store,
        evaluator: Evaluator,
        announcements: Announcements,
        clock: Clock,
        *,
        resync: timedelta,
        followers: Iterable[PassFollower] = (),
        leading: Callable[[], bool] = lambda: False,
    ) -> None:
        self.evaluation = Evaluation()
        self.pass_times = PassTimes()
        self._store, self._evaluator, self._clock = store, evaluator, clock
        self._announcements = announcements
        self._resync, self._followers, self._leading = resync, tuple(followers), leading
        self._tracker = StateTracker()
        self._loop_time = asyncio.get_running_loop().time
        self._changed = asyncio.Event()
        self._snapshot = store.snapshot()
        self._pass_started_at: datetime | None = None
        self._replacements: deque[EvaluatorChange] = deque()
        store.changes.subscribe(self._changed.set)
        announcements.pass_needed.subscribe(self._changed.set)

    def replace_evaluator(self, evaluator: Evaluator, adapt: AdaptFunc) -> asyncio.Future[None]:
        """
        Evaluate with another catalogue from the next pass on, which is a full one.

        *adapt* is called between two passes. If it raises, nothing changes, and the Future that is
        returned raises the same.
        """
        change = EvaluatorChange(evaluator, adapt, asyncio.get_running_loop().create_future())
        self._replacements.append(change)
        self._changed.set()
        return change.done

    def _change_evaluator(self) -> bool:
        """Make the changes that were asked for, and return whether there is another evaluator."""
        before = self._evaluator
        while self._replacements:
            evaluator, adapt, done = self._replacements.popleft()
            if done.cancelled():
                continue
            try:
                adapted = adapt(self.evaluation)
            except Exception as err:  # noqa: BLE001  the waiter logs it
                done.set_exception(err)
                continue
            # Not within the try: parts of two catalogues must not go on together after a fault.
            adapted.commit()
            self._evaluator, self.evaluation = evaluator, adapted.evaluation
            done.set_result(None)
        return self._evaluator is not before

    @property
    def has_synced(self) -> bool:
        """True once every kind was listed or is known to be unavailable; passes start then."""
        return all(state != NotSynced() for state in self._store.watch_states)

    async def run(self) -> NoReturn:
        """
        Wait for the first lists, then run passes until cancelled.

        A pass follows each change, bundled for a moment, and each deadline; a full one each
        *resync* and after another catalogue. Raises what a fault of this program raises in a pass.
        """
        await self._wait_for_sync()
        resync_at = self._clock.now()
        while True:
            now = self._clock.now()
            # The first answers of the server may set the clock back.
            full = self._change_evaluator() or not now < resync_at <= now + self._resync
            if full:
                resync_at = now + self._resync
            took = await self._run_pass_yielding(full=full)
            pause = 0.0 if full else min(took, LONGEST_PAUSE.total_seconds())
            await self._wait_for_change(resync_at, pause)

    async def _wait_for_sync(self) -> None:
        """
        Wait for every kind, and a moment longer for those whose first list failed.

        Their objects may be the cause of what the others show, and earlier Events what has been.
        """
        announcements = self._announcements
        with suppress(TimeoutError):
            async with asyncio.timeout(FAILED_LIST_WAIT.total_seconds()):
                while announcements.awaits_events or any(
                    isinstance(state, NotSynced) for state in self._store.watch_states
                ):
                    self._changed.clear()
                    await self._changed.wait()
        while not self.has_synced:
            self._changed.clear()
            await self._changed.wait()

    # ------------------------------------------------------------ one pass

    def run_pass(self, *, full: bool) -> None:
        """
        Run one pass to its end, without a turn for other tasks.

        *full*: of all subjects, and not only of changed ones. The tests step through passes with it.
        """
        for _ in self._pass_steps(full=full):
            pass

    async def _run_pass_yielding(self, *, full: bool) -> float:
        """
        Run one pass; lease renewals, watches and kubelet probes are served in between.

        Returns how many seconds it took.
        """
        started = self._loop_time()
        for _ in self._pass_steps(full=full):
            await asyncio.sleep(0)
        return self._loop_time() - started

    def _pass_steps(self, *, full: bool) -> Iterator[None]:
        """
        Evaluate the dirty subjects, or all. Yields where other tasks may run.

        A change or a deadline meanwhile cuts the pass: it commits what it has evaluated, then the changed
        subjects, and goes on with the rest. Each part is an ordinary pass on a snapshot of its own.
        """
        part, cuts = self._take_input(), PassCuts()
        self._pass_started_at = part.now
        if full or self._has_kind_become_unknown(part):
            part = replace(part, full=True)
        waiting = yield from self._run_part(part, cuts=cuts)
        while waiting:
            urgent = self._take_input()
            urgent = replace(urgent, dirty=with_upstream(urgent.dirty, waiting))
            waiting = yield from self._run_part(urgent, waiting=waiting)
            if waiting:
                rest = self._take_input()
                rest = replace(rest, dirty=rest.dirty | waiting)
                waiting = yield from self._run_part(rest, cuts=cuts)

    def _take_input(self) -> PassInput:
        self._changed.clear()
        unread = self._announcements.unread_events
        if unread != self.evaluation.unread_events:
            self.evaluation = replace(self.evaluation, unread_events=unread)
        remembered = NOTHING_REMEMBERED
        if self._announcements.has_remembered:
            remembered = self._announcements.take_remembered(self._store.snapshot())
            self._store.record_seen_before(remembered.seen)
            merged = self.evaluation.remembered.merged(remembered)
            self.evaluation = replace(self.evaluation, remembered=merged)
        dirty = self._store.take_dirty() | remembered.subjects
        return PassInput(self._store.snapshot(), dirty, self._clock.now(), self._loop_time())

    def _run_part(
        self,
        part: PassInput,
        *,
        waiting: frozenset[Subject] = frozenset(),
        cuts: PassCuts | None = None,
    ) -> Generator[None, None, frozenset[Subject]]:
        """
        Evaluate and commit the dirty subjects of *part*, with *cuts* only until a change or a deadline.

        Returns the subjects that still wait: of this part and of those that were *waiting*.
        """
        before, evaluator = self.evaluation, self._evaluator
        plan = yield from evaluator.plan(before, part.snapshot, part.requested, now=part.now)
        yield
        progress = evaluator.begin(before, plan)
        if cuts is not None:
            cuts.resumed(self._loop_time())
        for batch in plan.batches():
            progress = yield from evaluator.run_batch(progress, plan, batch)
            yield
            if plan.can_be_cut and cuts is not None and self._is_cut(cuts, part.now):
                break
        announced = self._announcements.announced
        after = yield from evaluator.finish(before, plan, progress, announced=announced)
        yield
        evaluated = frozenset(plan.subjects[: progress.evaluated])
        yield from self._commit(part, plan, after, evaluated)
        return plan.still_waiting(progress, waiting)

    def _is_cut(self, cuts: PassCuts, as_of: datetime) -> bool:
        cuts.batch_finished()
        if not cuts.is_allowed(self._loop_time()):
            return False
        if not self._changed.is_set() and not self._is_due(cuts, as_of):
            return False
        cuts.cut(self._loop_time())
        return True

    def _is_due(self, cuts: PassCuts, as_of: datetime) -> bool:
        """Return whether something became due after a part that evaluates *as_of* a moment began."""
        if cuts.due_at is None:  # to look it up is to walk over all findings
            cuts.due_at = min(each for each in self._deadlines(as_of) if each > as_of)
        return self._clock.now() >= cuts.due_at

    def _commit(
        self,
        part: PassInput,
        plan: PassPlan,
        after: Evaluation,
        evaluated: frozenset[Subject],
    ) -> Iterator[None]:
        self._snapshot, self.evaluation = part.snapshot, after
        self._announcements.update(after, part.snapshot, now=part.now)
        self.pass_times.finished, self.pass_times.finished_at = self._loop_time(), part.now
        self.pass_times.first_finished.set()
        yield
        leading = self._leading()
        finished = FinishedPass(
            evaluation=after,
            snapshot=part.snapshot,
            evaluated=evaluated,
            dirty=part.requested,
            now=part.now,
            changed=self._tracker.update(after, leading=leading),
            unchanged=part.unchanged(plan, evaluated),
            leading=leading,
            took=timedelta(seconds=self._loop_time() - part.started),
        )
        for follower in self._followers:
            yield
            yield from follower.follow(finished)

    def _has_kind_become_unknown(self, part: PassInput) -> bool:
        """Return whether a watch has been lost for too long; that affects every subject."""
        return any(moment <= part.now for moment in part.snapshot.unknown_moments())

    # ------------------------------------------------------------ between passes

    async def _wait_for_change(self, resync_at: datetime, pause: float) -> None:
        """Wait for a change or for a deadline, and in any case until *pause* seconds are over."""
        await asyncio.sleep(0)
        # Counted from the start of the last pass: its later parts do not look at all subjects, so
        # a deadline that passed meanwhile must not be skipped.
        until = min(resync_at, *self._deadlines(self._pass_started_at or self._clock.now()))
        started = self._loop_time()
        with suppress(TimeoutError):
            async with asyncio.timeout(max(self._clock.seconds_until(until), pause)):
                await self._changed.wait()
        waited = self._loop_time() - started
        await asyncio.sleep(max(pause - waited, 0.0))

    def _deadlines(self, now: datetime) -> Iterable[datetime]:
        """
        Return the moments at which time alone next changes something, seen from *now*.

        Some may be earlier, which the next pass finds due; the next resync is always one.
        """
        evaluation = self._evaluator.next_deadline(self.evaluation, self._snapshot, now=now)
        announcing = self._announcements.next_deadline(now=now)
        moments = (evaluation, announcing, now + self._resync)
        return [moment for moment in moments if moment is not None]
