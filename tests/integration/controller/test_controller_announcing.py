"""A result of the publisher makes the next pass necessary."""

import asyncio

from reporter.announcing.announcement_state import WriteOutcome
from reporter.kube.event_record import EventRecord
from tests.integration.announcing.publisher_fixture import BBR
from tests.integration.controller.controller_fixture import (
    ControllerFixture,
    due,
    running,
)
from tests.support.builders import (
    an_active_verdict,
)


async def a_record(run: ControllerFixture) -> EventRecord:
    """The Event of a finding that has settled since."""
    run.verdicts[BBR] = an_active_verdict(BBR)
    run.change(1)
    await run.until(lambda: run.reason_state == "announced")
    record = run.announcements.publish_context().compose_event(BBR, now=run.clock.now())
    assert record is not None
    del run.verdicts[BBR]
    run.change(2)
    await run.until(lambda: run.reason_state == "clear")
    return record


async def test_what_was_read_back_at_a_start_gets_its_ready_by_time_alone():
    async with running() as before:
        record = await a_record(before)
    async with running() as run:
        run.announcements.restored([record])
        assert due(run) == []
        await run.until(lambda: due(run) == ["clusterReady"])


async def test_what_was_read_back_by_who_saw_it_settle_gets_its_ready_at_once():
    async with running() as run:
        record = await a_record(run)
        await asyncio.sleep(0.3)
        run.announcements.restored([record])
        assert due(run) == ["clusterReady"]


async def test_what_settled_while_it_was_written_gets_its_ready_at_once():
    async with running() as run:
        record = await a_record(run)
        await asyncio.sleep(0.3)
        run.announcements.write_finished(record, WriteOutcome.WRITTEN)
        await run.until(lambda: due(run) == ["clusterReady"])
