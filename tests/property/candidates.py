"""
Candidates of an election under pauses, slow and lost responses, on clocks that only the test moves.

Each candidate is a real elector on an event loop of its own. A loop that is not run is a process that
was stopped: when it wakes, it finds its timers and responses all at once.
"""

import asyncio
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Self

from reporter.kube.elector import Elector
from reporter.kube.errors import Conflict, NotFound, Unreachable
from reporter.kube.lease_rules import LeaseRecord, LeaseTiming
from reporter.kube.leases import Lease
from tests.support.virtual_clock import VirtualClock, VirtualEventLoop


TIMING = LeaseTiming()
TICK = 0.1


class LeaseNetwork:
    """One Lease, and the network between it and the candidates, in virtual time."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.record: LeaseRecord | None = None
        self.version = 0
        self.latency = 0.01
        self.down = False

    def remove(self, *, emptied: bool) -> None:
        """Delete the Lease, or empty it, as by hand."""
        if self.record is not None:
            self.version += 1
            self.record = LeaseRecord("", timedelta(0), None, None) if emptied else None

    def send(self, request: Callable[[], None]) -> None:
        self.clock.call_after(self.latency, request)

    def advance(self, seconds: float) -> None:
        self.clock.now += seconds
        self.clock.run_due()

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
    The lock of a candidate. A request that was sent arrives, even when its sender no longer waits.
    """

    def __init__(self, network: LeaseNetwork) -> None:
        self._network = network

    async def read(self) -> Lease | None:
        return await self._call(self._network.read)

    async def create(self, record: LeaseRecord) -> Lease:
        lease = await self._call(lambda: self._network.create(record))
        assert lease
        return lease

    async def update(self, lease: Lease, record: LeaseRecord) -> Lease:
        written = await self._call(lambda: self._network.update(lease, record))
        assert written
        return written

    async def _call(self, request: Callable[[], Lease | None]) -> Lease | None:
        if self._network.down:
            raise Unreachable("call")
        loop = asyncio.get_running_loop()
        response: asyncio.Future[Lease | None] = loop.create_future()
        delay = self._network.latency

        def deliver(outcome: Lease | Exception | None) -> None:
            if response.done():
                return
            if isinstance(outcome, Exception):
                response.set_exception(outcome)
            else:
                response.set_result(outcome)

        def arrive() -> None:
            outcome: Lease | Exception | None
            try:
                outcome = request()
            except (Conflict, NotFound) as err:
                outcome = err
            if not loop.is_closed():
                loop.call_later(delay, deliver, outcome)

        self._network.send(arrive)
        return await response


class Candidate:
    """
    A real elector on an event loop of its own.

    *skew*: the seconds by which its wall clock is wrong.
    """

    def __init__(self, network: LeaseNetwork, name: str, skew: float) -> None:
        self.event_loop = VirtualEventLoop(network.clock)
        self.loop = self.event_loop.loop
        self.elector = self.loop.run_until_complete(self._elector(network, name, skew))
        self.task: asyncio.Task[None] = self.loop.create_task(self.elector.run())

    async def _elector(self, network: LeaseNetwork, name: str, skew: float) -> Elector:
        return Elector(
            DelayedLeaseLock(network),
            TIMING,
            identity=name,
            wall_clock=lambda: network.clock.wall_time + timedelta(seconds=skew),
            jitter=lambda: 0.5,
        )

    def release(self) -> None:
        self.task.cancel()
        self.event_loop.run_until_idle()
        self.task = self.loop.create_task(self.elector.release())


class Candidates:
    def __init__(self, *skews: float) -> None:
        self.network = LeaseNetwork()
        self.processes = [
            Candidate(self.network, f"reporter-{number}", skew)
            for number, skew in enumerate(skews)
        ]
        self.ever: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.event_loop.close()

    def advance(
        self, seconds: float, *, stopped: Collection[int] = (), tick: float = TICK
    ) -> None:
        """
        Let time pass, and check at every tick that at most one candidate holds the lease.

        A stopped process counts too: it may be about to write as its first act on waking.
        """
        for _ in range(round(seconds / tick)):
            self.network.advance(tick)
            for number, process in enumerate(self.processes):
                if number not in stopped:
                    process.event_loop.run_until_idle()
                    assert len(self.holders()) <= 1
            self.ever.update(self.holders())

    def holders(self) -> list[int]:
        return [n for n, process in enumerate(self.processes) if process.elector.holds_lease()]
