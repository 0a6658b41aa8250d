"""Pages that cost much to parse wait for each other, and nothing else waits for them."""

import asyncio
from itertools import count

from reporter.scrape import limits
from reporter.scrape.exposition import MalformedExposition, MetricsContent, Steps
from reporter.scrape.parsing import parse_in_steps
from reporter.scrape.samples import NO_SAMPLES


CONTENT = MetricsContent((), NO_SAMPLES, {}, frozenset())


def steps_of(number: int, begun: list[str], name: str = "") -> Steps:
    for _ in range(number - 1):
        begun.append(name)
        yield
    begun.append(name)
    return CONTENT


async def test_a_page_of_few_steps_waits_for_no_turn():
    turns, begun = asyncio.Semaphore(1), list[str]()
    async with turns:
        for number in (1, limits.FREE_STEPS):
            found = await parse_in_steps(steps_of(number, begun), turns)
            assert found is CONTENT
    assert len(begun) == 1 + limits.FREE_STEPS


async def test_pages_of_many_steps_take_turns():
    turns, begun = asyncio.Semaphore(1), list[str]()
    async with asyncio.TaskGroup() as tasks:
        for name in "abc":
            tasks.create_task(parse_in_steps(steps_of(50, begun, name), turns))
    last = "".join(begun)[-(50 - limits.FREE_STEPS) :]
    assert len(set(last)) == 1
    assert not turns.locked()


async def test_a_page_that_takes_too_long_is_too_costly():
    turns, begun, seconds = asyncio.Semaphore(1), list[str](), count()
    found = await parse_in_steps(steps_of(50, begun), turns, now=lambda: next(seconds) * 0.3)
    assert found == MalformedExposition("parsing it takes too long", is_too_costly=True)
    assert len(begun) == 4
