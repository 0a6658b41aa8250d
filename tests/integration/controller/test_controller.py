"""The times at which the controller runs passes: after changes, at deadlines, and regularly."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from reporter.model.enums import TroubleKind
from tests.integration.announcing.publisher_fixture import BBR
from tests.integration.controller.controller_fixture import (
    MODEL,
    SOON,
    running,
)
from tests.support.builders import (
    a_key,
    a_trouble,
    an_active_verdict,
)
from tests.support.stall_free_loop import take_seconds


# ------------------------------------------------------------ a change


async def test_the_first_change_leads_to_a_pass_at_once():
    async with running() as run:
        before = run.passes.number
        run.verdicts[BBR] = an_active_verdict(BBR)
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


async def test_the_changes_of_a_burst_are_evaluated_together_and_the_last_one_counts():
    async with running() as run:
        pass_takes = 0.005
        run.passes.then = lambda: take_seconds(pass_takes)
        started, before = asyncio.get_running_loop().time(), run.passes.number
        for number in range(300):
            run.change(number)
            await asyncio.sleep(0.001)
        run.verdicts[BBR] = an_active_verdict(BBR)
        run.change(1000)
        await run.until(lambda: run.reason_state == "announced")
        lasted = asyncio.get_running_loop().time() - started
        assert run.passes.number - before <= lasted / (2 * pass_takes) + 2


@pytest.mark.parametrize(("took", "least", "most"), [(0.1, 0.09, 0.9), (1.0, 0.24, 0.9)])
async def test_a_pass_is_followed_by_a_pause_of_its_own_length_up_to_a_limit(took, least, most):
    async with running() as run:
        loop = asyncio.get_running_loop()
        ends: list[float] = []

        def then() -> None:
            if not ends:
                take_seconds(took)
            ends.append(loop.time())
            run.change(len(ends) + 1)

        run.passes.then = then
        run.change(1)
        await run.until(lambda: len(ends) >= 2)
        assert least < ends[1] - ends[0] < most


async def test_what_becomes_due_waits_for_the_pause_too():
    async with running() as run:
        loop = asyncio.get_running_loop()
        ends: list[float] = []

        def then() -> None:
            if not ends:
                take_seconds(2 * SOON.total_seconds())
            ends.append(loop.time())

        run.passes.then = then
        run.verdicts[BBR] = an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST))
        run.change()
        await run.until(lambda: run.reason_state == "announced")
        assert ends[1] - ends[0] > 0.24


async def test_changes_without_end_starve_neither_passes_nor_resyncs():
    async with running(resync=SOON, subjects=(MODEL,)) as run:
        before = run.passes.number
        model = a_key("inferencesetPods", MODEL)
        run.verdicts[model] = an_active_verdict(model)

        async def storm() -> None:
            number = 0
            while True:
                number += 1
                run.change(number)
                await asyncio.sleep(0.002)

        task = asyncio.create_task(storm())
        # Of the model no object changes: only a full pass looks at it.
        await run.until(lambda: model in run.controller.evaluation.tracked.finding_states)
        await run.until(lambda: run.passes.number - before > 5)
        task.cancel()


# ------------------------------------------------------------ time alone


async def test_a_hold_that_runs_out_is_acted_on_without_any_change():
    async with running() as run:
        run.verdicts[BBR] = an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST))
        run.change()
        await run.until(lambda: run.reason_state == "held")
        before = run.passes.number
        await run.until(lambda: run.reason_state == "announced")
        assert run.passes.number - before <= 5


async def test_a_settle_that_runs_out_is_acted_on_without_any_change():
    async with running() as run:
        run.verdicts[BBR] = an_active_verdict(BBR)
        run.change(1)
        await run.until(lambda: run.reason_state == "announced")
        del run.verdicts[BBR]
        run.change(2)
        await run.until(lambda: run.reason_state == "settling")
        await run.until(lambda: run.reason_state == "clear")


async def test_everything_is_evaluated_at_each_resync():
    async with running(resync=SOON) as run:
        run.verdicts[BBR] = an_active_verdict(BBR)
        await run.until(lambda: run.reason_state == "announced")
        before = run.passes.number
        await run.until(lambda: run.passes.number > before + 1)


async def test_a_clock_that_is_set_back_does_not_put_resyncs_off():
    async with running(resync=SOON) as run:
        run.clock.ahead = timedelta(hours=-1)
        await run.until(lambda: run.passes.number > 2)
        run.verdicts[BBR] = an_active_verdict(BBR)
        await run.until(lambda: run.reason_state == "announced")


async def test_a_clock_that_is_set_forward_is_followed_by_a_resync():
    async with running(resync=SOON) as run:
        run.clock.ahead = timedelta(hours=1)
        run.verdicts[BBR] = an_active_verdict(BBR)
        await run.until(lambda: run.reason_state == "announced")


# ------------------------------------------------------------ observers


async def test_a_follower_gets_each_pass_with_what_changed_since_the_one_before():
    async with running() as run:
        for number in range(3):
            before = run.passes.number
            run.change(number + 10)
            await run.wait_for_passes(before)
        for one, following in pairwise(run.passes.seen):
            assert following.changed == following.evaluation.changed_since(one.evaluation)
        assert run.controller.evaluation is run.passes.seen[-1].evaluation
        assert run.controller.pass_times.finished_at is not None
