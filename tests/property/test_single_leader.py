"""
Laws of the elector under pauses, slow and lost answers, on clocks that only the test moves.

Each candidate is a real elector on an event loop of its own: a loop that is not run is a process
that was stopped, and finds its timers and answers all at once when it wakes.
"""

import asyncio
import heapq
import itertools
import logging
import selectors
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.kube.objects.leases import Lease
from reporter.kube.wire.errors import Conflict, NotFound, Unreachable
from reporter.model.lease_record import LeaseRecord
from reporter.runtime.leaderelection.elector import Elector
from reporter.runtime.leaderelection.rules import LeaseTiming


TERMS = LeaseTiming()
TICK = 0.1


class NonBlockingSelector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None):
        return super().select(0)


class LeaseNetwork:
    """
    One Lease, the time, and the network between it and the candidates.
    """

    def __init__(self) -> None:
        self.now = 100.0
        self.record: LeaseRecord | None = None
        self.version = 0
        self.latency = 0.01
        self.down = False
        self._order = itertools.count()
        self._inbox: list[tuple[float, int, Callable[[], None]]] = []

    def send(self, request: Callable[[], None]) -> None:
        heapq.heappush(self._inbox, (self.now + self.latency, next(self._order), request))

    def advance(self, seconds: float) -> None:
        self.now += seconds
        while self._inbox and self._inbox[0][0] <= self.now:
            heapq.heappop(self._inbox)[2]()

    def read(self) -> Lease | None:
        if self.record is None:
            return None
        return Lease(self.record, str(self.version).encode())

    def create(self, record: LeaseRecord) -> Lease | None:
        if self.record is not None:
            raise Conflict("create lease")
        return self._put(record)

    def update(self, lease: Lease, record: LeaseRecord) -> Lease | None:
        if self.record is None:
            raise NotFound("update lease")
        if lease.raw != str(self.version).encode():
            raise Conflict("update lease")
        return self._put(record)

    def _put(self, record: LeaseRecord) -> Lease | None:
        self.record, self.version = record, self.version + 1
        return self.read()


class DelayedLeaseLock:
    """
    A candidate's book: what was sent arrives, even when its sender no longer waits.
    """

    def __init__(self, world: LeaseNetwork) -> None:
        self._world = world

    async def read(self) -> Lease | None:
        return await self._call(self._world.read)

    async def create(self, record: LeaseRecord) -> Lease:
        lease = await self._call(lambda: self._world.create(record))
        assert lease
        return lease

    async def update(self, lease: Lease, record: LeaseRecord) -> Lease:
        written = await self._call(lambda: self._world.update(lease, record))
        assert written
        return written

    async def _call(self, request: Callable[[], Lease | None]) -> Lease | None:
        if self._world.down:
            raise Unreachable("call")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Lease | None] = loop.create_future()
        delay = self._world.latency

        def deliver(outcome: Lease | Exception | None) -> None:
            if answer.done():
                return
            if isinstance(outcome, Exception):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

        def arrive() -> None:
            outcome: Lease | Exception | None
            try:
                outcome = request()
            except (Conflict, NotFound) as err:
                outcome = err
            if not loop.is_closed():
                loop.call_later(delay, deliver, outcome)

        self._world.send(arrive)
        return await answer


class Candidate:
    """
    *skew*: seconds by which its wall clock is wrong.
    """

    def __init__(self, world: LeaseNetwork, name: str, skew: float) -> None:
        self.loop = asyncio.SelectorEventLoop(NonBlockingSelector())
        self.loop.time = lambda: world.now  # type: ignore[method-assign]
        self.elector = self.loop.run_until_complete(self._elector(world, name, skew))
        self.task: asyncio.Task[None] = self.loop.create_task(self.elector.run())

    async def _elector(self, world: LeaseNetwork, name: str, skew: float) -> Elector:
        return Elector(
            DelayedLeaseLock(world),
            TERMS,
            identity=name,
            wall_clock=lambda: datetime.fromtimestamp(world.now + skew, UTC),
            jitter=lambda: 0.5,
        )

    def step(self) -> None:
        """
        Run until nothing is left to do at this moment.
        """
        for _ in range(10):
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()

    def release(self) -> None:
        self.task.cancel()
        self.step()
        self.task = self.loop.create_task(self.elector.release())

    def close(self) -> None:
        self.task.cancel()
        self.step()
        self.loop.close()


class Candidates:
    def __init__(self, *skews: float) -> None:
        self.world = LeaseNetwork()
        self.processes = [
            Candidate(self.world, f"reporter-{number}", skew) for number, skew in enumerate(skews)
        ]
        self.ever: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.close()

    def advance(
        self, seconds: float, *, stopped: Collection[int] = (), tick: float = TICK
    ) -> None:
        """
        Let time pass, and look at every moment whether two hold the lease.

        A stopped process is asked too: it might be about to write as its first act on waking.
        """
        for _ in range(round(seconds / tick)):
            self.world.advance(tick)
            for number, process in enumerate(self.processes):
                if number not in stopped:
                    process.step()
                    assert len(self.holders()) <= 1
            self.ever.update(self.holders())

    def holders(self) -> list[int]:
        return [n for n, process in enumerate(self.processes) if process.elector.holds_lease()]


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL)


spans = st.integers(1, 50).map(lambda ticks: ticks / 2)
stretches = st.tuples(
    spans,
    st.sets(st.integers(0, 2), max_size=2),
    st.sampled_from([0.01, 0.01, 0.4, 3.0, 8.0, 20.0]),
    st.sampled_from([False, False, False, True]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(stretches, max_size=10), st.tuples(*[st.floats(-1e6, 1e6)] * 3))
def test_never_two_hold_whatever_stops_or_is_slow_or_lost(story, skews):
    with Candidates(*skews) as cluster:
        for seconds, stopped, latency, down in story:
            cluster.world.latency, cluster.world.down = latency, down
            cluster.advance(seconds, stopped=stopped, tick=0.5)
        cluster.world.latency, cluster.world.down = 0.01, False
        cluster.advance(60, tick=0.5)
        assert len(cluster.holders()) == 1


@pytest.mark.parametrize("skew", [0.0, 3600.0, -3600.0])
def test_a_healthy_leader_is_never_replaced_by_one_with_another_clock(skew: float):
    with Candidates(0.0, skew) as cluster:
        cluster.advance(5)
        (leader,) = cluster.holders()
        cluster.advance(100)
        assert cluster.ever == {leader}
        assert cluster.world.record
        assert cluster.world.record.transitions == 0


def test_a_stopped_leader_is_replaced_when_the_lease_runs_out_and_does_not_hold_on_waking():
    with Candidates(0.0, 0.0) as cluster:
        cluster.advance(5)
        (leader,) = cluster.holders()
        cluster.advance(11, stopped={leader})
        assert cluster.holders() == []
        cluster.advance(6, stopped={leader})
        assert cluster.holders() == [1 - leader]
        assert cluster.processes[leader].elector.is_leader
        assert not cluster.processes[leader].elector.holds_lease()
        cluster.advance(2)
        assert not cluster.processes[leader].elector.is_leader
        assert cluster.holders() == [1 - leader]


def test_a_leader_that_reaches_nobody_gives_up_after_the_deadline_and_stays_a_candidate():
    with Candidates(0.0) as cluster:
        cluster.advance(5)
        cluster.world.down = True
        cluster.advance(7)
        assert cluster.holders() == [0]
        cluster.advance(4)
        assert cluster.holders() == []
        cluster.world.down = False
        cluster.advance(3)
        assert cluster.holders() == [0]


def test_one_hanging_call_does_not_cost_the_lead():
    with Candidates(0.0, 0.0) as cluster:
        cluster.advance(5)
        (leader,) = cluster.holders()
        cluster.world.latency = 60.0
        cluster.advance(2)
        cluster.world.latency = 0.01
        cluster.advance(30)
        assert cluster.ever == {leader}


def test_a_released_lease_is_taken_within_a_retry_period():
    with Candidates(0.0, 0.0) as cluster:
        cluster.advance(5)
        (leader,) = cluster.holders()
        cluster.processes[leader].release()
        cluster.advance(2.5)
        assert cluster.holders() == [1 - leader]
        assert cluster.processes[leader].task.done()


def test_a_release_that_gets_no_answer_ends_in_time():
    with Candidates(0.0) as cluster:
        cluster.advance(5)
        cluster.world.latency = 600.0
        cluster.processes[0].release()
        cluster.advance(6)
        assert cluster.processes[0].task.done()
        assert cluster.holders() == []


def test_a_deleted_lease_is_made_anew_by_its_holder():
    with Candidates(0.0, 0.0) as cluster:
        cluster.advance(5)
        (leader,) = cluster.holders()
        cluster.world.record = None
        cluster.advance(60)
        assert cluster.ever == {leader}


def test_a_foreign_write_to_the_lease_does_not_cost_the_lead():
    with Candidates(0.0, 0.0) as cluster:
        cluster.advance(5)
        (leader,) = cluster.holders()
        cluster.world.version += 1
        cluster.advance(60)
        assert cluster.ever == {leader}


def test_a_leader_whose_lease_went_to_another_stops_at_once():
    with Candidates(0.0) as cluster:
        cluster.advance(5)
        assert cluster.world.record
        cluster.world.record = replace(cluster.world.record, holder="somebody")
        cluster.world.version += 1
        cluster.advance(3)
        assert not cluster.processes[0].elector.is_leader
        cluster.advance(20)
        assert cluster.holders() == [0]


@pytest.mark.parametrize("offset", [0.0, 0.6, 1.2, 1.8, 2.4, 3.0, 3.6])
def test_a_renewal_whose_answer_was_read_after_a_long_stop_renews_nothing(offset: float):
    with Candidates(0.0, 0.0) as cluster:
        cluster.world.latency = 1.0
        cluster.advance(10 + offset)
        (leader,) = cluster.holders()
        cluster.advance(30, stopped={leader})
        assert cluster.holders() == [1 - leader]
        cluster.advance(30)
        assert cluster.holders() == [1 - leader]
