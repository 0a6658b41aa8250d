"""
When passes come: at once, together, at the moment something falls due, and regularly.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from reporter.clock import Clock
from reporter.model.entries import Holds
from reporter.model.events import EventRecord
from reporter.model.kinds import DEPLOYMENTS, KINDS, NAMESPACES, PODS
from reporter.model.observations import Sight, Unlisted, Unserved, Unwatched, Watched
from reporter.model.subjects import Subject
from reporter.model.words import Kind, Layer
from reporter.runtime.controller import BURST, Controller
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.outcome import Outcome
from reporter.stages.records import Patience
from reporter.stages.states import states
from reporter.stages.store import Store
from tests.builders import a_catalogue, a_deployment, a_key, a_store, a_trouble, active, an_entry
from tests.integration.speaking import BBR, a_court, home


NEVER = timedelta(hours=1)
SOON = timedelta(milliseconds=300)
MODEL = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")


class Settable(Clock):
    """
    The clock, and a hand to set it; *stopped* is where it stands still, if it does.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ahead = timedelta(0)
        self.stopped: datetime | None = None

    def now(self):
        return self.stopped or super().now() + self.ahead


@dataclass
class Passes:
    """
    Every pass, as an observer is told of it; *then* happens between it and the pause after it.
    """

    seen: list[tuple[Judgement, Judgement]] = field(default_factory=list)
    then: Callable[[], None] = lambda: None

    def passed(self, before: Judgement, after: Judgement, took: timedelta) -> None:
        self.seen.append((before, after))
        self.then()

    @property
    def number(self) -> int:
        return len(self.seen)


class Running:
    def __init__(self, store: Store, **changes) -> None:
        self.store, self.clock, self.passes = store, Settable(), Passes()
        self.says: dict = {}
        entries = (
            an_entry("clusterBBR", 20, holds=Holds(lost=SOON)),
            an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
        )
        court = a_court(
            a_catalogue(*entries),
            self.says,
            changes.get("subjects", ()),
            terms=Terms(Patience(settle=SOON)),
            requires=changes.get("requires", ()),
        )
        self.controller = Controller(
            store,
            court,
            self.clock,
            resync=changes.get("resync", NEVER),
            home=home,
            observers=(self.passes,),
        )

    @property
    def state(self) -> str:
        return str(states(self.controller.judged).get(BBR, "clear"))

    def change(self, number: int = 1) -> None:
        self.store.put(DEPLOYMENTS, a_deployment("any", replicas=number))

    async def until_more(self, before: int) -> None:
        await self.until(lambda: self.passes.number > before, within=1)

    async def until(self, condition: Callable[[], bool], *, within: float = 3) -> None:
        async with asyncio.timeout(within):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(0.005)


@asynccontextmanager
async def running(store: Store | None = None, **changes) -> AsyncIterator[Running]:
    """
    With everything listed, the first pass is over.
    """
    run = Running(store or a_store(), **changes)
    task = asyncio.create_task(run.controller.run())
    try:
        if store is None:
            await run.until(lambda: run.passes.number > 0)
        yield run
        assert not task.done(), "the controller ended"
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


# ------------------------------------------------------------ a change


async def test_the_first_change_leads_to_a_pass_at_once():
    async with running() as run:
        before = run.passes.number
        run.says[BBR] = active(BBR)
        run.change()
        await run.until_more(before)
        assert run.state == "announced"


async def test_nothing_happens_while_nothing_changes():
    async with running() as run:
        await asyncio.sleep(0.3)
        assert run.passes.number <= 2


async def test_what_changes_nothing_that_is_read_leads_to_no_pass():
    async with running() as run:
        run.change(5)
        await run.until(lambda: run.passes.number == 2)
        run.change(5)
        await asyncio.sleep(0.2)
        assert run.passes.number == 2


async def test_the_changes_of_a_burst_are_judged_together_and_the_last_one_counts():
    async with running() as run:
        begun, before = asyncio.get_running_loop().time(), run.passes.number
        for number in range(300):
            run.change(number)
            await asyncio.sleep(0.001)
        run.says[BBR] = active(BBR)
        run.change(1000)
        await run.until(lambda: run.state == "announced", within=1)
        lasted = asyncio.get_running_loop().time() - begun
        assert run.passes.number - before <= lasted / BURST.total_seconds() + 2


async def test_a_pass_is_rested_from_for_as_long_as_it_took_itself():
    async with running() as run:
        loop = asyncio.get_running_loop()
        ends: list[float] = []

        def then() -> None:
            if not ends:
                time.sleep(1)
            ends.append(loop.time())
            run.change(len(ends) + 1)

        run.passes.then = then
        run.change(1)
        await run.until(lambda: len(ends) == 3, within=9)
        slow, after_it, next_one = ends
        assert after_it - slow > 0.9
        assert next_one - after_it < 0.9


async def test_changes_without_end_starve_neither_passes_nor_resyncs():
    async with running(resync=SOON, subjects=(MODEL,)) as run:
        before = run.passes.number
        model = a_key("inferencesetPods", MODEL)
        run.says[model] = active(model)

        async def storm() -> None:
            number = 0
            while True:
                number += 1
                run.change(number)
                await asyncio.sleep(0.002)

        task = asyncio.create_task(storm())
        # Of the model no object changes: only a full pass looks at it.
        await run.until(lambda: model in run.controller.judged.gate.records)
        await run.until(lambda: run.passes.number - before > 5)
        task.cancel()


# ------------------------------------------------------------ time alone


async def test_a_hold_that_runs_out_is_acted_on_without_any_change():
    async with running() as run:
        run.says[BBR] = active(BBR, a_trouble(kind=Kind.LOST))
        run.change()
        await run.until(lambda: run.state == "held", within=1)
        before = run.passes.number
        await run.until(lambda: run.state == "announced", within=1)
        assert run.passes.number - before <= 5


async def test_a_settle_that_runs_out_is_acted_on_without_any_change():
    async with running() as run:
        run.says[BBR] = active(BBR)
        run.change(1)
        await run.until(lambda: run.state == "announced", within=1)
        del run.says[BBR]
        run.change(2)
        await run.until(lambda: run.state == "settling", within=1)
        await run.until(lambda: run.state == "clear", within=1)


async def test_everything_is_judged_anew_at_each_resync():
    async with running(resync=SOON) as run:
        run.says[BBR] = active(BBR)
        await run.until(lambda: run.state == "announced")
        before = run.passes.number
        await run.until(lambda: run.passes.number > before + 1)


async def test_a_clock_that_is_set_back_does_not_put_resyncs_off():
    async with running(resync=SOON) as run:
        run.clock.ahead = timedelta(hours=-1)
        await run.until(lambda: run.passes.number > 2)
        run.says[BBR] = active(BBR)
        await run.until(lambda: run.state == "announced")


async def test_a_clock_that_is_set_forward_is_followed_by_a_resync():
    async with running(resync=SOON) as run:
        run.clock.ahead = timedelta(hours=1)
        run.says[BBR] = active(BBR)
        await run.until(lambda: run.state == "announced")


# ------------------------------------------------------------ what is not seen


@pytest.mark.parametrize(
    "last", [Watched(), Unserved(), Unlisted("may not list pods")], ids=lambda s: type(s).__name__
)
async def test_nothing_is_judged_before_every_kind_was_listed_or_is_out_of_sight(last: Sight):
    store = Store(KINDS)
    async with running(store) as run:
        run.says[BBR] = active(BBR)
        for kind in KINDS:
            if kind is not PODS:
                store.sight(kind, Watched())
                await asyncio.sleep(0.01)
        store.put(DEPLOYMENTS, a_deployment())
        await asyncio.sleep(0.1)
        assert (run.controller.listed, run.passes.number) == (False, 0)
        assert not run.controller.pulse.first.is_set()
        store.sight(PODS, last)
        await run.until(lambda: run.state == "announced", within=9)
        assert run.controller.listed


async def test_a_kind_that_stays_unwatched_becomes_unknown_by_time_alone():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.says[BBR] = active(BBR)
        run.change()
        await run.until(lambda: run.state == "announced")
        lost = run.clock.now() - timedelta(seconds=30) + SOON
        run.store.sight(DEPLOYMENTS, Unwatched(lost, "connection refused"))
        before = run.passes.number
        await run.until_more(before)
        assert run.state == "announced"
        await run.until(lambda: run.state == "unknown", within=2)
        assert "connection refused" in run.controller.judged.gate.records[BBR].unknown


async def test_a_pass_a_moment_before_a_kind_is_blind_is_followed_by_one_after_it():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.says[BBR] = active(BBR)
        run.change()
        await run.until(lambda: run.state == "announced")
        blind, moment = run.clock.now() + SOON, timedelta(microseconds=1)
        run.clock.stopped = blind - moment

        def it_is_past() -> None:
            run.clock.stopped = blind + moment

        run.passes.then = it_is_past
        lost = blind - timedelta(seconds=30)
        run.store.sight(DEPLOYMENTS, Unwatched(lost, "connection refused"))
        await run.until(lambda: run.state == "unknown", within=2)


async def test_what_is_unknown_is_neither_cleared_nor_raised_until_it_is_seen_again():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.says[BBR] = active(BBR)
        run.change()
        await run.until(lambda: run.state == "announced")
        lost = run.clock.now() - timedelta(seconds=31)
        run.store.sight(DEPLOYMENTS, Unwatched(lost, "connection refused"))
        await run.until(lambda: run.state == "unknown", within=1)
        del run.says[BBR]
        run.clock.ahead = timedelta(hours=2)
        run.store.sight(NAMESPACES, Unwatched(run.clock.now(), "any change"))
        before = run.passes.number
        await run.until_more(before)
        assert run.state == "unknown"
        run.store.sight(DEPLOYMENTS, Watched())
        await run.until(lambda: run.state == "settling", within=1)
        await run.until(lambda: run.state == "clear", within=2)


async def test_a_watch_that_comes_back_in_time_changes_nothing():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.says[BBR] = active(BBR)
        run.change()
        await run.until(lambda: run.state == "announced")
        run.store.sight(DEPLOYMENTS, Unwatched(run.clock.now(), "cut"))
        run.store.sight(DEPLOYMENTS, Watched())
        before = run.passes.number
        await run.until_more(before)
        assert {str(states(after).get(BBR)) for _, after in run.passes.seen[before - 1 :]} == {
            "announced"
        }


# ------------------------------------------------------------ what the speaker reports


def due(run: Running) -> list[str]:
    return [each.key.reason for each in run.controller.stage().due(now=run.clock.now())]


async def a_record(run: Running) -> EventRecord:
    """
    The Event of a finding that has settled since.
    """
    run.says[BBR] = active(BBR)
    run.change(1)
    await run.until(lambda: run.state == "announced", within=1)
    record = run.controller.stage().compose(BBR, now=run.clock.now())
    assert record is not None
    del run.says[BBR]
    run.change(2)
    await run.until(lambda: run.state == "clear", within=2)
    return record


async def test_what_was_read_back_at_a_start_gets_its_ready_by_time_alone():
    async with running() as before:
        record = await a_record(before)
    async with running() as run:
        run.controller.resumed([record])
        assert due(run) == []
        await run.until(lambda: due(run) == ["clusterReady"], within=2)


async def test_what_was_read_back_by_who_saw_it_settle_gets_its_ready_at_once():
    async with running() as run:
        record = await a_record(run)
        await asyncio.sleep(0.3)
        run.controller.resumed([record])
        assert due(run) == ["clusterReady"]


async def test_what_settled_while_it_was_written_gets_its_ready_at_once():
    async with running() as run:
        record = await a_record(run)
        await asyncio.sleep(0.3)
        run.controller.told(record, Outcome.WRITTEN)
        await run.until(lambda: due(run) == ["clusterReady"], within=1)


# ------------------------------------------------------------ those who are told


async def test_an_observer_is_told_of_each_pass_what_was_and_what_is():
    async with running() as run:
        for number in range(3):
            before = run.passes.number
            run.change(number + 10)
            await run.until_more(before)
        pairs = run.passes.seen
        assert all(one[1] is following[0] for one, following in pairwise(pairs))
        assert run.controller.judged is pairs[-1][1]
        assert run.controller.pulse.at is not None
