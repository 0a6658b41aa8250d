"""The event loop of these tests: a stall of the process ends no deadline."""

import asyncio
import time

import pytest

from tests.support.stall_free_loop import take_seconds


STALL, DEADLINE = 0.3, 0.1


async def take_turns(number: int | None = None) -> None:
    while number is None or number > 0:
        await asyncio.sleep(0)
        number = None if number is None else number - 1


async def wait_for_ever() -> None:
    await asyncio.Event().wait()


async def test_a_stall_of_the_process_ends_no_deadline():
    async with asyncio.timeout(DEADLINE):
        time.sleep(STALL)  # noqa: ASYNC251
        await take_turns(10)


async def test_a_wait_without_an_end_ends_at_its_deadline():
    began = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(wait_for_ever(), DEADLINE)
    assert asyncio.get_running_loop().time() - began >= DEADLINE


async def test_a_loop_that_is_never_idle_has_deadlines_as_well():
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(take_turns(), DEADLINE)


async def test_a_callback_that_takes_seconds_ends_a_deadline():
    waiting = asyncio.create_task(asyncio.wait_for(wait_for_ever(), 60))
    await take_turns(2)
    take_seconds(61)
    with pytest.raises(TimeoutError):
        await waiting
