"""Watches that are lost, and kinds that were not listed yet."""

import asyncio
from datetime import timedelta

import pytest

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost, WatchState
from reporter.store.store import Store
from tests.integration.announcing.publisher_fixture import BBR
from tests.integration.controller.controller_fixture import (
    SOON,
    running,
)
from tests.support.builders import (
    a_deployment,
    an_active_verdict,
)
from tests.support.catalogue_fixture import SUBJECTS
from tests.support.reason_states import reason_states


@pytest.mark.parametrize(
    "last",
    [Watching(), NotServed(), NotSynced("may not list pods")],
    ids=lambda s: type(s).__name__,
)
async def test_nothing_is_evaluated_before_every_kind_was_listed_or_is_unavailable(
    last: WatchState,
):
    store = Store(DEFAULT_KINDS, subjects=SUBJECTS)
    async with running(store) as run:
        run.verdicts[BBR] = an_active_verdict(BBR)
        for kind in DEFAULT_KINDS:
            if kind is not PODS:
                store.set_watch_state(kind, Watching())
                await asyncio.sleep(0.01)
        store.upsert(DEPLOYMENTS, a_deployment())
        await asyncio.sleep(0.1)
        assert (run.controller.has_synced, run.passes.number) == (False, 0)
        assert not run.controller.pass_times.first_finished.is_set()
        store.set_watch_state(PODS, last)
        await run.until(lambda: run.reason_state == "announced")
        assert run.controller.has_synced


async def test_a_kind_that_stays_unwatched_becomes_unknown_by_time_alone():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.verdicts[BBR] = an_active_verdict(BBR)
        run.change()
        await run.until(lambda: run.reason_state == "announced")
        lost = run.clock.now() - timedelta(seconds=30) + SOON
        run.store.set_watch_state(DEPLOYMENTS, WatchLost(lost, "connection refused"))
        before = run.passes.number
        await run.wait_for_passes(before)
        assert run.reason_state == "announced"
        await run.until(lambda: run.reason_state == "unknown")
        assert (
            "connection refused"
            in run.controller.evaluation.tracked.finding_states[BBR].why_unknown
        )


async def test_a_pass_a_moment_before_a_kind_is_unknown_is_followed_by_one_after_it():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.verdicts[BBR] = an_active_verdict(BBR)
        run.change()
        await run.until(lambda: run.reason_state == "announced")
        unknown_at, moment = run.clock.now() + SOON, timedelta(microseconds=1)
        run.clock.stopped = unknown_at - moment

        def it_is_past() -> None:
            run.clock.stopped = unknown_at + moment

        run.passes.then = it_is_past
        lost = unknown_at - timedelta(seconds=30)
        run.store.set_watch_state(DEPLOYMENTS, WatchLost(lost, "connection refused"))
        await run.until(lambda: run.reason_state == "unknown")


async def test_what_is_unknown_is_neither_cleared_nor_raised_until_it_is_seen_again():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.verdicts[BBR] = an_active_verdict(BBR)
        run.change()
        await run.until(lambda: run.reason_state == "announced")
        lost = run.clock.now() - timedelta(seconds=31)
        run.store.set_watch_state(DEPLOYMENTS, WatchLost(lost, "connection refused"))
        await run.until(lambda: run.reason_state == "unknown")
        del run.verdicts[BBR]
        run.clock.ahead = timedelta(hours=2)
        run.store.set_watch_state(NAMESPACES, WatchLost(run.clock.now(), "any change"))
        before = run.passes.number
        await run.wait_for_passes(before)
        assert run.reason_state == "unknown"
        run.store.set_watch_state(DEPLOYMENTS, Watching())
        await run.until(lambda: run.reason_state == "settling")
        await run.until(lambda: run.reason_state == "clear")


async def test_a_watch_that_comes_back_in_time_changes_nothing():
    async with running(requires=(DEPLOYMENTS,)) as run:
        run.verdicts[BBR] = an_active_verdict(BBR)
        run.change()
        await run.until(lambda: run.reason_state == "announced")
        run.store.set_watch_state(DEPLOYMENTS, WatchLost(run.clock.now(), "cut"))
        run.store.set_watch_state(DEPLOYMENTS, Watching())
        before = run.passes.number
        await run.wait_for_passes(before)
        assert {
            str(reason_states(each.evaluation).get(BBR)) for each in run.passes.seen[before - 1 :]
        } == {"announced"}
