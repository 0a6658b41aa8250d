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

from reporter.model.entries import HoldDurations
from reporter.model.enums import Layer, TroubleKind
from reporter.model.event_record import EventRecord
from reporter.model.kinds import DEFAULT_KINDS
from reporter.model.kinds.core.deployments import DEPLOYMENTS
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS
from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost, WatchState
from reporter.model.subjects import Subject
from reporter.runtime.clock import Clock
from reporter.runtime.controller import CHANGE_BATCH_WINDOW, Controller
from reporter.stages.announcing.outcome import WriteOutcome
from reporter.stages.evaluation.clocks import Delays
from reporter.stages.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.stages.evaluation.states import reason_states
from reporter.stages.store.store import Store
from tests.integration.publisher_fixture import BBR, an_evaluator, involved_for
from tests.support.builders import (
    a_catalogue,
    a_deployment,
    a_key,
    a_store,
    a_trouble,
    an_active_verdict,
    an_entry,
)


NEVER = timedelta(hours=1)
SOON = timedelta(milliseconds=300)
MODEL = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")


class SettableClock(Clock):
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
class PassRecorder:
    """
    Every pass, as an observer is told of it; *then* happens between it and the pause after it.
    """

    seen: list[tuple[Evaluation, Evaluation]] = field(default_factory=list)
    then: Callable[[], None] = lambda: None

    def on_pass(self, before: Evaluation, after: Evaluation, took: timedelta) -> None:
        self.seen.append((before, after))
        self.then()

    @property
    def number(self) -> int:
        return len(self.seen)


class ControllerFixture:
    def __init__(self, store: Store, **changes) -> None:
        self.store, self.clock, self.passes = store, SettableClock(), PassRecorder()
        self.says: dict = {}
        entries = (
            an_entry("clusterBBR", 20, holds=HoldDurations(lost=SOON)),
            an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
        )
        court = an_evaluator(
            a_catalogue(*entries),
            self.says,
            changes.get("subjects", ()),
            terms=EvaluationSettings(Delays(settle=SOON)),
            requires=changes.get("requires", ()),
        )
        self.controller = Controller(
            store,
            court,
            self.clock,
            resync=changes.get("resync", NEVER),
            involved_for=involved_for,
            observers=(self.passes,),
        )

    @property
    def reason_state(self) -> str:
        return str(reason_states(self.controller.evaluation).get(BBR, "clear"))

    def change(self, number: int = 1) -> None:
        self.store.upsert(DEPLOYMENTS, a_deployment("any", replicas=number))

    async def wait_for_passes(self, before: int) -> None:
        await self.until(lambda: self.passes.number > before, within=1)

    async def until(self, condition: Callable[[], bool], *, within: float = 3) -> None:
        async with asyncio.timeout(within):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(0.005)


@asynccontextmanager
async def running(store: Store | None = None, **changes) -> AsyncIterator[ControllerFixture]:
    """
    With everything listed, the first pass is over.
    """
    run = ControllerFixture(store or a_store(), **changes)
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
        run.says[BBR] = an_active_verdict(BBR)
        run.change()
        await run.wait_for_passes(before)
        assert run.reason_state == "announced"


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
        run.says[BBR] = an_active_verdict(BBR)
        run.change(1000)
        await run.until(lambda: run.reason_state == "announced", within=1)
        lasted = asyncio.get_running_loop().time() - begun
        assert run.passes.number - before <= lasted / CHANGE_BATCH_WINDOW.total_seconds() + 2


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
        run.says[model] = an_active_verdict(model)

        async def storm() -> None:
            number = 0
            while True:
                number += 1
                run.change(number)
                await asyncio.sleep(0.002)

        task = asyncio.create_task(storm())
        # Of the model no object changes: only a full pass looks at it.
        await run.until(lambda: model in run.controller.evaluation.gate.finding_states)
        await run.until(lambda: run.passes.number - before > 5)
        task.cancel()


# ------------------------------------------------------------ time alone


async def test_a_hold_that_runs_out_is_acted_on_without_any_change():
    async with running() as run:
        run.says[BBR] = an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST))
        run.change()
        await run.until(lambda: run.reason_state == "held", within=1)
        before = run.passes.number
        await run.until(lambda: run.reason_state == "announced", within=1)
        assert run.passes.number - before <= 5


async def test_a_settle_that_runs_out_is_acted_on_without_any_change():
    async with running() as run:
        run.says[BBR] = an_active_verdict(BBR)
        run.change(1)
        await run.until(lambda: run.reason_state == "announced", within=1)
        del run.says[BBR]
        run.change(2)
        await run.until(lambda: run.reason_state == "settling", within=1)
        await run.until(lambda: run.reason_state == "clear", within=1)


async def test_everything_is_judged_anew_at_each_resync():
    async with running(resync=SOON) as run:
        run.says[BBR] = an_active_verdict(BBR)
        await run.until(lambda: run.reason_state == "announced")
        before = run.passes.number
        await run.until(lambda: run.passes.number > before + 1)


async def test_a_clock_that_is_set_back_does_not_put_resyncs_off():
    async with running(resync=SOON) as run:
        run.clock.ahead = timedelta(hours=-1)
        await run.until(lambda: run.passes.number > 2)
        run.says[BBR] = an_active_verdict(BBR)
        await run.until(lambda: run.reason_state == "announced")


async def test_a_clock_that_is_set_forward_is_followed_by_a_resync():
    async with running(resync=SOON) as run:
        run.clock.ahead = timedelta(hours=1)
        run.says[BBR] = an_active_verdict(BBR)
        await run.until(lambda: run.reason_state == "announced")


# ------------------------------------------------------------ what is not seen


@pytest.mark.parametrize(
    "last",
    [Watching(), NotServed(), NotSynced("may not list pods")],
    ids=lambda s: type(s).__name__,
)
async def test_nothing_is_judged_before_every_kind_was_listed_or_is_out_of_sight(last: WatchState):
    store = Store(DEFAULT_KINDS)
    async with running(store) as run:
        run.says[BBR] = an_active_verdict(BBR)
        for kind in DEFAULT_KINDS:
            if kind is not PODS:
                store.set_watch_state(kind, Watching())
                await asyncio.sleep(0.01)
        store.upsert(DEPLOYMENTS, a_deployment())
        await asyncio.sleep(0.1)
        assert (run.controller.has_synced, run.passes.number) == (False, 0)
        assert not run.controller.pass_times.first_finished.is_set()
        store.set_watch_state(PODS, last)
        await run.until(lambda: run.reason_state == "announced", within=9)
        assert run.controller.has_synced


async def test_a_kind_that_stays_unwatched_becomes_unknown_by_time_alone():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.says[BBR] = an_active_verdict(BBR)
        run.change()
        await run.until(lambda: run.reason_state == "announced")
        lost = run.clock.now() - timedelta(seconds=30) + SOON
        run.store.set_watch_state(DEPLOYMENTS, WatchLost(lost, "connection refused"))
        before = run.passes.number
        await run.wait_for_passes(before)
        assert run.reason_state == "announced"
        await run.until(lambda: run.reason_state == "unknown", within=2)
        assert (
            "connection refused" in run.controller.evaluation.gate.finding_states[BBR].why_unknown
        )


async def test_a_pass_a_moment_before_a_kind_is_blind_is_followed_by_one_after_it():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.says[BBR] = an_active_verdict(BBR)
        run.change()
        await run.until(lambda: run.reason_state == "announced")
        blind, moment = run.clock.now() + SOON, timedelta(microseconds=1)
        run.clock.stopped = blind - moment

        def it_is_past() -> None:
            run.clock.stopped = blind + moment

        run.passes.then = it_is_past
        lost = blind - timedelta(seconds=30)
        run.store.set_watch_state(DEPLOYMENTS, WatchLost(lost, "connection refused"))
        await run.until(lambda: run.reason_state == "unknown", within=2)


async def test_what_is_unknown_is_neither_cleared_nor_raised_until_it_is_seen_again():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.says[BBR] = an_active_verdict(BBR)
        run.change()
        await run.until(lambda: run.reason_state == "announced")
        lost = run.clock.now() - timedelta(seconds=31)
        run.store.set_watch_state(DEPLOYMENTS, WatchLost(lost, "connection refused"))
        await run.until(lambda: run.reason_state == "unknown", within=1)
        del run.says[BBR]
        run.clock.ahead = timedelta(hours=2)
        run.store.set_watch_state(NAMESPACES, WatchLost(run.clock.now(), "any change"))
        before = run.passes.number
        await run.wait_for_passes(before)
        assert run.reason_state == "unknown"
        run.store.set_watch_state(DEPLOYMENTS, Watching())
        await run.until(lambda: run.reason_state == "settling", within=1)
        await run.until(lambda: run.reason_state == "clear", within=2)


async def test_a_watch_that_comes_back_in_time_changes_nothing():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.says[BBR] = an_active_verdict(BBR)
        run.change()
        await run.until(lambda: run.reason_state == "announced")
        run.store.set_watch_state(DEPLOYMENTS, WatchLost(run.clock.now(), "cut"))
        run.store.set_watch_state(DEPLOYMENTS, Watching())
        before = run.passes.number
        await run.wait_for_passes(before)
        assert {
            str(reason_states(after).get(BBR)) for _, after in run.passes.seen[before - 1 :]
        } == {"announced"}


# ------------------------------------------------------------ what the speaker reports


def due(run: ControllerFixture) -> list[str]:
    return [
        each.key.reason
        for each in run.controller.publish_context().pending_writes(now=run.clock.now())
    ]


async def a_record(run: ControllerFixture) -> EventRecord:
    """
    The Event of a finding that has settled since.
    """
    run.says[BBR] = an_active_verdict(BBR)
    run.change(1)
    await run.until(lambda: run.reason_state == "announced", within=1)
    record = run.controller.publish_context().compose_event(BBR, now=run.clock.now())
    assert record is not None
    del run.says[BBR]
    run.change(2)
    await run.until(lambda: run.reason_state == "clear", within=2)
    return record


async def test_what_was_read_back_at_a_start_gets_its_ready_by_time_alone():
    async with running() as before:
        record = await a_record(before)
    async with running() as run:
        run.controller.restored([record])
        assert due(run) == []
        await run.until(lambda: due(run) == ["clusterReady"], within=2)


async def test_what_was_read_back_by_who_saw_it_settle_gets_its_ready_at_once():
    async with running() as run:
        record = await a_record(run)
        await asyncio.sleep(0.3)
        run.controller.restored([record])
        assert due(run) == ["clusterReady"]


async def test_what_settled_while_it_was_written_gets_its_ready_at_once():
    async with running() as run:
        record = await a_record(run)
        await asyncio.sleep(0.3)
        run.controller.write_finished(record, WriteOutcome.WRITTEN)
        await run.until(lambda: due(run) == ["clusterReady"], within=1)


# ------------------------------------------------------------ those who are told


async def test_an_observer_is_told_of_each_pass_what_was_and_what_is():
    async with running() as run:
        for number in range(3):
            before = run.passes.number
            run.change(number + 10)
            await run.wait_for_passes(before)
        pairs = run.passes.seen
        assert all(one[1] is following[0] for one, following in pairwise(pairs))
        assert run.controller.evaluation is pairs[-1][1]
        assert run.controller.pass_times.finished_at is not None
