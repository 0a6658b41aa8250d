"""
The loop that asks the metrics engine about all clusters while this process leads, and the fleet it finds.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from typing import NoReturn

from reporter.hub.document import FleetView
from reporter.hub.fold import fold
from reporter.hub.poller import Poller
from reporter.hub.query_results import Answers
from reporter.hub.records import Fleet, FleetRules, Members, members_of
from reporter.kinds.objects import NamespacedName
from reporter.kinds.productionstack import ProductionStackCluster
from reporter.kube.leadership import Leadership, run_whenever_leading
from reporter.model.enums import Engage
from reporter.model.fleet_status import QueryResult
from reporter.model.observations import NotServed, NotSynced
from reporter.process.clock import Clock
from reporter.process.heap import rare_collections
from reporter.process.subscribers import Subscribers
from reporter.rollup.desired import evaluation_interval
from reporter.store.written_objects import WrittenObjectStore


PAUSE_AFTER_CHANGE = 1.0
"""Seconds by which changes of objects are gathered before the fleet is folded anew."""

PAUSE_AFTER_FAULT = 30.0
STALLED_INTERVALS = 5
SLACK = timedelta(minutes=1)
"""A round that begins later than this and so many intervals after the one before makes a hub not live."""

RENEWAL_SPACING = timedelta(seconds=0.2)
"""The time between two writes that only renew times: half of the rate of writes."""

NOT_LEADING = "this replica does not lead, so it asks nothing; the leader is {holder}"
NOT_LISTED = "ProductionStackClusters cannot be listed: {why}"
NOT_SERVED = "the CRD of ProductionStackClusters is not installed"
NOT_STARTED = "the first round is under way"

logger = logging.getLogger(__name__)


class FleetCache:
    """
    Owns the fleet; nobody else changes it. A fold is pure, and runs in a thread.

    *changes*: notified after each change of its content. *objects*: None if all clusters that are seen are
    answered for.
    *on_round* is called after each round with the seconds that it took, and the fleet if there was a
    complete answer about clusters.
    """

    def __init__(  # noqa: PLR0913
        self,
        poller: Poller,
        objects: WrittenObjectStore[ProductionStackCluster] | None,
        leadership: Leadership,
        clock: Clock,
        *,
        rules: FleetRules,
        interval: timedelta,
        on_round: Callable[[float, Fleet | None], None] = lambda _, __: None,
    ) -> None:
        self._poller, self._objects, self._leadership = poller, objects, leadership
        self._clock, self._interval, self._on_round = clock, interval, on_round
        self.rules = rules
        self.fleet = Fleet()
        self._answered_at: datetime | None = None
        self._rounds = 0
        self._last_tick = clock.seconds()
        self._folded_generations: Mapping[NamespacedName, tuple[str, int]] = {}
        self._revision = 0
        self._shown: tuple[object, ...] = ()
        self._changed = asyncio.Event()
        self.changes: Subscribers[[]] = Subscribers()
        self._members_changed = asyncio.Event()
        if objects is not None:
            objects.changes.subscribe(self._members_changed.set)

    @property
    def why_unknown(self) -> str:
        """
        Return why nothing is known of any cluster; empty if it is.

        This process does not lead, the objects cannot be listed, or the first round is under way.
        """
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
        why = self.why_unknown
        return FleetView(
            Fleet() if why else self.fleet,
            self.rules,
            self._clock.seconds(),
            self._answered_at,
            self._poller.entries,
            why,
            self.not_leading,
            self._revision,
        )

    async def next_change(self) -> None:
        """Wait until the content of the fleet has changed."""
        await self._changed.wait()

    # ------------------------------------------------------------ health
    #
    # An engine that does not answer makes no hub unhealthy: to restart it would help nobody.

    def why_not_live(self) -> str:
        """
        Return why /livez fails; empty if it does not.

        It fails in a leader that has begun no round for STALLED_INTERVALS intervals and SLACK. An engine
        without an answer and a replica that does not lead are live.
        """
        stalled = timedelta(seconds=self._clock.seconds() - self._last_tick)
        if self.not_leading or stalled <= STALLED_INTERVALS * self._interval + SLACK:
            return ""
        return f"no round was begun for {stalled.total_seconds():.0f}s"

    def why_not_ready(self) -> str:
        """
        Return why /readyz fails; empty if it does not.

        It fails in a leader before the end of its first round, as long as the clusters can be listed.
        """
        if self.not_leading or self.why_not_listed or self._rounds:
            return ""
        return "no round was finished yet"

    def describe_limits(self) -> str:
        """
        Return why a ready hub knows no cluster, and each query without a complete answer, a line for each.
        """
        why = self.why_unknown
        lines = [f"unknown: {why}"] if why else []
        lines += [
            f"not answered: {each.query}: {each.why}"
            for each in self._poller.entries
            if each.result is not QueryResult.COMPLETE
        ]
        return "\n".join(lines)

    # ------------------------------------------------------------ the loop

    async def run(self) -> NoReturn:
        """
        Ask the metrics engine round after round in each term of leadership; never return.

        The fleet is forgotten at the end of a term. After a fault of the hub the rounds begin again in
        PAUSE_AFTER_FAULT seconds.
        """
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
            started = self._last_tick = self._clock.seconds()
            if not self.why_not_listed:
                is_new = self.rules.engage is Engage.SEEN and not self.fleet.remembers
                answers = await self._poller.ask(with_history=is_new)
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
                    await self._members_changed.wait()
            except TimeoutError:
                return
            await asyncio.sleep(min(PAUSE_AFTER_CHANGE, left))
            self._members_changed.clear()
            if self._rounds == 0:
                return
            # What this process itself writes into objects changes none of this.
            if not self.why_not_listed and self._generations() != self._folded_generations:
                await self._fold(Answers())

    async def _fold(self, answers: Answers) -> None:
        before, now = self.fleet, self._clock.seconds()
        objects = dict(self._objects.objects) if self._objects is not None else {}
        self._folded_generations = self._generations()

        def folded() -> Fleet:
            members = self._members(objects.values(), before, now=now)
            return fold(before, members, answers, now=now, rules=self.rules)

        with rare_collections():
            self.fleet = await asyncio.to_thread(folded)
        if answers.clusters is not None:
            self._answered_at = self._clock.now()
        self._notify_change()

    def _generations(self) -> Mapping[NamespacedName, tuple[str, int]]:
        objects = self._objects.objects if self._objects is not None else {}
        return {
            name: (each.metadata.uid, each.metadata.generation) for name, each in objects.items()
        }

    def _members(
        self, objects: Collection[ProductionStackCluster], before: Fleet, *, now: float
    ) -> Members:
        if self.rules.engage is Engage.SEEN:
            return {}
        # Twice the time after which a status is renewed: one write may fail.
        stale = timedelta(seconds=self.rules.stale)
        max_age = 2 * evaluation_interval(len(objects), spacing=RENEWAL_SPACING) + stale
        wall_time = self._clock.now()
        return members_of(objects, before.clusters, now=now, wall_time=wall_time, max_age=max_age)

    def _notify_change(self) -> None:
        """Wake those who wait if what is shown has changed, ages apart."""
        results = tuple((each.query, each.result) for each in self._poller.entries)
        shown = (self.fleet.revision, results, self.why_unknown)
        if shown != self._shown:
            self._shown = shown
            self._revision += 1
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()
            self.changes.notify()
