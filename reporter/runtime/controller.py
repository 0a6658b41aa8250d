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

from reporter.clock import Clock
from reporter.model.events import EventRecord
from reporter.model.observations import Unlisted
from reporter.model.subjects import Key, Subject
from reporter.model.verdicts import Involved
from reporter.stages.judgement import Judgement
from reporter.stages.outcome import Outcome, tell
from reporter.stages.pacing import Decided, Stage
from reporter.stages.pipeline import Court
from reporter.stages.snapshot import Snapshot
from reporter.stages.store import Store
from reporter.stages.subjects import EVERYTHING
from reporter.stages.voice import Voice, follow, resume, wakes


BURST = timedelta(milliseconds=20)
"""
Changes within this time after a pass that a change led to are judged together; within more time if
the pass took more, so that an outage of all models at once leaves time for saying it. Changes that
waited for a pass over everything have waited enough.
"""


SECOND_TRY = timedelta(seconds=3)
"""
How long to wait for kinds that could not be listed at first.
"""


class Observer(Protocol):
    """
    Told of each pass.
    """

    def passed(self, before: Judgement, after: Judgement, took: timedelta) -> None: ...


@dataclass(slots=True)
class Pulse:
    """
    When passes were finished, in seconds of the event loop; None before the first.
    """

    last: float | None = None
    at: datetime | None = None
    first: asyncio.Event = field(default_factory=asyncio.Event)


class Controller:
    """
    *home*: the involvedObject of a subject's Ready. *resync*: the time between full passes.
    """

    def __init__(
        self,
        store: Store,
        court: Court,
        clock: Clock,
        *,
        resync: timedelta,
        home: Callable[[Snapshot, Subject], Involved],
        observers: Iterable[Observer] = (),
    ) -> None:
        self.judged = Judgement()
        self.voice = Voice()
        self.pulse = Pulse()
        self.passed = asyncio.Event()
        self._store, self._court, self._clock = store, court, clock
        self._resync, self._home, self._observers = resync, home, tuple(observers)
        self._changed = asyncio.Event()
        self._since: datetime | None = None
        self._decided: dict[Key, Decided] = {}
        self._snapshot = store.view()
        store.notify(self._changed.set)

    @property
    def listed(self) -> bool:
        """
        Whether every kind was listed once or is known to be out of sight.
        """
        return all(sight != Unlisted() for sight in self._store.sights)

    async def run(self) -> NoReturn:
        await self._until_listed()
        resync_at, changed = self._clock.now(), False
        while True:
            now = self._clock.now()
            # The first answers of the server may set the clock back.
            full = not now < resync_at <= now + self._resync
            if full:
                resync_at = now + self._resync
            took = await self._look(full=full)
            rest = max(BURST.total_seconds(), took) if changed and not full else 0.0
            changed = await self._pause(resync_at, rest)

    async def _until_listed(self) -> None:
        """
        A kind whose first list failed gets a moment more: its objects may be the cause of the rest.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(SECOND_TRY.total_seconds()):
                while any(isinstance(sight, Unlisted) for sight in self._store.sights):
                    self._changed.clear()
                    await self._changed.wait()
        while not self.listed:
            self._changed.clear()
            await self._changed.wait()

    def look(self, *, full: bool) -> None:
        """
        One pass, without a pause.
        """
        for _ in self._pass(full=full):
            pass

    async def _look(self, *, full: bool) -> float:
        """
        One pass; the lease, the watches and the probes of the kubelet have their turns in between.

        Returns how many seconds it took.
        """
        begun = asyncio.get_running_loop().time()
        for _ in self._pass(full=full):
            await asyncio.sleep(0)
        return asyncio.get_running_loop().time() - begun

    def _pass(self, *, full: bool) -> Iterator[None]:
        """
        Of one moment's snapshot. Yields between two parts, and changes nothing before the end.
        """
        loop = asyncio.get_running_loop()
        begun, now = loop.time(), self._clock.now()
        self._changed.clear()
        dirty = self._store.take_dirty()
        before, snapshot = self.judged, self._store.view()
        if full or self._blindness_changed(snapshot, now):
            dirty |= EVERYTHING
        hearing = self._court.hear(before, snapshot, dirty, now=now)
        yield
        heard = self._court.opened(before, hearing)
        for verdicts in hearing.parts():
            heard = self._court.take(heard, verdicts, now=now)
            yield
        announced = frozenset(self.voice.episodes)
        after = yield from self._court.rule(before, hearing, heard, announced=announced)
        yield
        self._snapshot, self.judged = snapshot, after
        terms, catalogue = self._court.terms, self._court.catalogue
        self.voice = follow(self.voice, after, catalogue, terms, now=now)
        self._since = self._since or now
        self.pulse.last, self.pulse.at = loop.time(), now
        self.pulse.first.set()
        self.passed.set()
        for observer in self._observers:
            yield
            observer.passed(before, after, timedelta(seconds=loop.time() - begun))

    def _blindness_changed(self, snapshot: Snapshot, now: datetime) -> bool:
        """
        Time alone may make a kind blind, which touches every subject.
        """
        return any(
            (moment := snapshot.blind_from(kind)) is not None and moment <= now
            for kind in self._store.kinds
        )

    async def _pause(self, resync_at: datetime, rest: float) -> bool:
        """
        Whether a change ended it, for which it lasts *rest* seconds unless something falls due.
        """
        await asyncio.sleep(0)
        # From the time that was judged: what fell due since then must not be passed over.
        until = min(resync_at, *self._wakes(now=self.judged.at or self._clock.now()))
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

    def _wakes(self, *, now: datetime) -> Iterable[datetime]:
        settle = self._court.terms.patience.settle
        judged = self._court.wakes(self.judged, self._snapshot, now=now)
        said = wakes(self.voice, settle=settle, now=now)
        return [moment for moment in (judged, said, now + self._resync) if moment is not None]

    # ------------------------------------------------------------ for the speaker

    def stage(self) -> Stage:
        """
        All that speaking is decided from at this moment.
        """
        snapshot = self._snapshot
        return Stage(
            self.voice,
            self.judged,
            self._court.catalogue,
            self._court.terms,
            lambda subject: self._home(snapshot, subject),
            self._decided,
        )

    def told(self, record: EventRecord, outcome: Outcome) -> None:
        self.voice = tell(self.voice, record, outcome, self._court.catalogue)
        if record.key not in self.judged.gate.records:
            self._changed.set()  # it was over before it was said

    def resumed(self, records: Iterable[EventRecord]) -> None:
        """
        Take the Events that a predecessor left. What is over by now has a moment to wake for.
        """
        catalogue, terms, now = self._court.catalogue, self._court.terms, self._clock.now()
        since = min(self._since or now, now)
        voice = resume(Voice(), records, catalogue, terms, now=now, since=since)
        self.voice = follow(voice, self.judged, catalogue, terms, now=now)
        self._changed.set()

    def silenced(self) -> None:
        """
        This process does not speak any more, and what it said is its successor's.
        """
        self.voice = Voice()
        self._changed.set()
