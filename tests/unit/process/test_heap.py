"""The heap is trimmed after the start, and again once much of it is free."""

import asyncio
import gc
import sys
from collections.abc import Iterator
from datetime import timedelta

import pytest

from reporter.process.heap import FREED_BLOCKS, YOUNG, keep_heap_trimmed
from tests.support.stubs.api_servers import until


@pytest.fixture(autouse=True)
def not_trimmed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def is_trimmed() -> bool:
    """The last step of it exempts all objects from collections."""
    return gc.get_freeze_count() > 0


async def test_it_is_trimmed_after_the_start_and_after_a_mass_deletion() -> None:
    started, compacted = asyncio.Event(), []
    interval = timedelta(milliseconds=5)
    task = asyncio.create_task(
        keep_heap_trimmed(started, lambda: compacted.append(1), check_interval=interval)
    )
    usual = gc.get_threshold()
    await asyncio.sleep(0.03)
    assert (gc.get_threshold()[0], is_trimmed()) == (YOUNG, True)
    gc.unfreeze()
    started.set()
    await until(is_trimmed)
    assert gc.get_threshold() == usual

    gc.unfreeze()
    many = [object() for _ in range(sys.getallocatedblocks() + FREED_BLOCKS)]
    few = many[:1000]
    await asyncio.sleep(0.05)
    assert not is_trimmed()
    assert not compacted
    del many
    await until(is_trimmed)
    assert compacted
    assert len(few) == 1000
    # The check may have come amid the deletion, so the next one trims once more.
    await until(lambda: len(compacted) == 2)
    await asyncio.sleep(0.05)
    assert len(compacted) == 2
    task.cancel()
