"""The change of the evaluator between two passes, and faults in it."""

import asyncio

import pytest
from msgspec.structs import replace

from reporter.controller.passes import AdaptedEvaluation, AdaptFunc
from reporter.evaluation.pipeline import Evaluator
from tests.integration.announcing.publisher_fixture import BBR
from tests.integration.controller.controller_fixture import ControllerFixture, running
from tests.support.builders import a_catalogue, a_store, an_active_verdict, an_entry


FAULT = RuntimeError("a fault")
WITHIN = 60


def another(run: ControllerFixture) -> Evaluator:
    return replace(run.controller._evaluator, catalogue=a_catalogue(an_entry("clusterBBR", 5)))


def adapting(fault: Exception | None = None, in_commit: Exception | None = None) -> AdaptFunc:
    def commit() -> None:
        if in_commit is not None:
            raise in_commit

    def adapt(before):
        if fault is not None:
            raise fault
        return AdaptedEvaluation(before, commit)

    return adapt


async def test_the_future_ends_once_the_evaluator_is_another_one():
    async with running() as run:
        after, passes = another(run), run.passes.number
        async with asyncio.timeout(WITHIN):
            await run.controller.replace_evaluator(after, adapting())
        assert run.controller._evaluator is after
        await run.until(lambda: run.passes.number > passes)


async def test_a_fault_leaves_the_evaluator_and_the_passes_go_on():
    async with running() as run:
        before = run.controller._evaluator
        async with asyncio.timeout(WITHIN):
            with pytest.raises(RuntimeError, match="a fault"):
                await run.controller.replace_evaluator(another(run), adapting(FAULT))
        assert run.controller._evaluator is before
        run.verdicts[BBR] = an_active_verdict(BBR)
        run.change()
        await run.until(lambda: run.reason_state == "announced")


async def test_changes_are_made_in_their_order_and_one_that_nobody_awaits_is_left_out():
    async with running() as run:
        first, second, third = another(run), another(run), another(run)
        made = [run.controller.replace_evaluator(each, adapting()) for each in (first, second)]
        run.controller.replace_evaluator(third, adapting()).cancel()
        async with asyncio.timeout(WITHIN):
            for each in made:
                await each
        assert run.controller._evaluator is second


async def test_a_fault_in_the_midst_of_a_change_ends_the_loop():
    """Parts of two catalogues do not go on together; a process that starts again has one."""
    run = ControllerFixture(a_store())
    run.controller.replace_evaluator(another(run), adapting(in_commit=FAULT))
    with pytest.raises(RuntimeError, match="a fault"):
        await run.controller.run()
