"""The loop of rounds while this process leads, and the fleet that comes of it."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import NoReturn, Protocol

from reporter.hub.document import FleetMoment, FleetView
from reporter.hub.fold import Engagements, fold
from reporter.hub.membership import Engagement, engagements_of
from reporter.hub.records import Fleet, FleetRules
from reporter.kinds.objects import NamespacedName
from reporter.kinds.productionstack import ProductionStackCluster
from reporter.kube.leadership import Leadership, run_whenever_leading
from reporter.model.fleet_answers import Answers
from reporter.model.fleet_status import Engage, QueryEntry
from reporter.model.observations import NotServed, NotSynced
from reporter.process.clock import Clock
from reporter.rollup.wanted import evaluation_interval
from reporter.store.written_objects import WrittenObjectStore


PAUSE_AFTER_CHANGE = 1.0
"""Seconds by which changes of objects are gathered before the fleet is folded anew."""

PAUSE_AFTER_FAULT = 30.0
RENEWAL_SPACING = timedelta(seconds=0.2)
"""The time between two writes that only renew times: half of the rate of writes."""

NOT_LEADING = "this replica does not lead, so it asks nothing; the leader is {holder}"
NOT_LISTED = "ProductionStackClusters cannot be listed: {why}"
NOT_SERVED = "the CRD of ProductionStackClusters is not installed"
NOT_STARTED = "the first round is under way"

logger = logging.getLogger(__name__)


class RoundAsker(Protocol):
    """Asks the queries of a round."""

    async def ask(self) -> Answers: ...

    @property
    def entries(self) -> tuple[QueryEntry, ...]: ...


class FleetKeeper:
    """
    Owns the fleet; nobody else changes it. A fold is pure, and runs in a thread.

    *objects*: None if all clusters that are seen are answered for.
    *on_round* is called after each round with the seconds that it took, and the fleet if there was a
    complete answer about clusters.
    """

    def __init__(  # noqa: PLR0913
        self,
        asker: RoundAsker,
        objects: WrittenObjectStore[ProductionStackCluster] | None,
        leadership: Leadership,
        clock: Clock,
        *,
        rules: FleetRules,
        interval: timedelta,
        on_round: Callable[[float, Fleet | None], None] = lambda _, __: None,
    ) -> None:
        self._asker, self._objects, self._leadership = asker, objects, leadership
        self._clock, self._interval, self._on_round = clock, interval, on_round
        self.rules = rules
        self.fleet = Fleet()
        self._answered_at: datetime | None = None
        self._rounds = 0
        self.last_tick = clock.seconds()
        self._folded_generations: Mapping[NamespacedName, tuple[str, int]] = {}
        self._revision = 0
        self._shown: tuple[object, ...] = ()
        self._changed = asyncio.Event()
        self._followers: list[Callable[[], None]] = []
        self._engaged_changed = asyncio.Event()
        if objects is not None:
            objects.subscribe(self._engaged_changed.set)

    @property
    def finished_rounds(self) -> int:
        """The number of rounds since this process leads."""
        return self._rounds

    @property
    def why_unknown(self) -> str:
        """Return why no cluster is known; empty if they are."""
        return self.not_leading or self.why_not_listed or ("" if self._rounds else NOT_STARTED)

    @property
    def not_leading(self) -> str:
        """
        Return why this process asks nothing; empty if it leads.

        After a pause others may lead, although this process has not seen it yet.
        """
        if self._leadership.holds_lease():
            return ""
        holder = "" if self._leadership.is_leader else self._leadership.holder
        return NOT_LEADING.format(holder=holder or "not known")

    @property
    def why_not_listed(self) -> str:
        """Return why it is not known which clusters to answer for; empty if it is."""
        if self._objects is None:
            return ""
        state = self._objects.watch_state
        if isinstance(state, NotServed):
            return NOT_SERVED
        if isinstance(state, NotSynced):
            return NOT_LISTED.format(why=state.why or "the first list is under way")
        return ""

    def view(self) -> FleetView:
        """Return the fleet as of this moment, which later rounds do not change."""
        moment = FleetMoment(self._clock.seconds(), self._answered_at)
        why = self.why_unknown
        return FleetView(
            Fleet() if why else self.fleet,
            self.rules,
            moment,
            self._asker.entries,
            why,
            self.not_leading,
            self._revision,
        )

    async def next_change(self) -> None:
        """Wait until the content of the fleet has changed."""
        await self._changed.wait()

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* after each such change from now on; it must be quick."""
        self._followers.append(on_change)

    # ------------------------------------------------------------ the loop

    async def run(self) -> NoReturn:
        await run_whenever_leading(
            self._leadership,
            self._ask_for_ever,
            on_fault=lambda err: logger.error(
                "a round failed by a fault of the hub", exc_info=err
            ),
            stand_down=self._forget,
            pause_after_fault=PAUSE_AFTER_FAULT,
        )

    def _forget(self) -> None:
        """
        Forget the fleet: another leader writes the objects, from which the next start begins.
        """
        self.fleet = Fleet(revision=self.fleet.revision + 1)
        self._rounds, self._answered_at = 0, None
        self._notify_change()

    async def _ask_for_ever(self) -> NoReturn:
        while True:
            started = self.last_tick = self._clock.seconds()
            if not self.why_not_listed:
                answers = await self._asker.ask()
                await self._fold(answers)
                self._rounds += 1
                is_answer = answers.clusters is not None
                took = self._clock.seconds() - started
                self._on_round(took, self.fleet if is_answer else None)
            self._notify_change()
            await self._wait(started + self._interval.total_seconds())

    async def _wait(self, until: float) -> None:
        """Wait for the next round. What objects ask for is taken over meanwhile."""
        while True:
            left = until - self._clock.seconds()
            if left <= 0:
                return
            try:
                async with asyncio.timeout(left):
                    await self._engaged_changed.wait()
            except TimeoutError:
                return
            await asyncio.sleep(min(PAUSE_AFTER_CHANGE, left))
            self._engaged_changed.clear()
            if self._rounds == 0:
                return
            # What this process itself writes into objects changes none of this.
            if not self.why_not_listed and self._generations() != self._folded_generations:
                await self._fold(Answers())

    async def _fold(self, answers: Answers) -> None:
        before, now = self.fleet, self._clock.seconds()
        objects = dict(self._objects.objects) if self._objects is not None else {}
        self._folded_generations = self._generations()
        self.fleet = await asyncio.to_thread(self._folded, before, objects, answers, now)
        if answers.clusters is not None:
            self._answered_at = self._clock.now()
        self._notify_change()

    def _generations(self) -> Mapping[NamespacedName, tuple[str, int]]:
        objects = self._objects.objects if self._objects is not None else {}
        return {
            name: (each.metadata.uid, each.metadata.generation) for name, each in objects.items()
        }

    def _folded(
        self,
        before: Fleet,
        objects: Mapping[NamespacedName, ProductionStackCluster],
        answers: Answers,
        now: float,
    ) -> Fleet:
        return fold(before, self._engaged(objects), answers, now=now, rules=self.rules)

    def _engaged(self, objects: Mapping[NamespacedName, ProductionStackCluster]) -> Engagements:
        if self.rules.engage is Engage.SEEN:
            return NONE_ENGAGED
        # Twice the time after which a status is renewed: one write may fail.
        stale = timedelta(seconds=self.rules.stale)
        max_age = 2 * evaluation_interval(len(objects), spacing=RENEWAL_SPACING) + stale
        return engagements_of(objects.values(), now=self._clock.now(), max_age=max_age)

    def _notify_change(self) -> None:
        """Wake those who wait if what is shown has changed, ages apart."""
        results = tuple((each.query, each.result) for each in self._asker.entries)
        shown = (self.fleet.revision, results, self.why_unknown)
        if shown != self._shown:
            self._shown = shown
            self._revision += 1
            self._notify()

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        for each in self._followers:
            each()


NONE_ENGAGED: dict[str, Engagement] = {}
