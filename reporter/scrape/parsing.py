"""
Share the event loop between the pages that are parsed and everything else, and a page between scrapes.
"""

import asyncio
from collections.abc import Callable
from itertools import count

from reporter.scrape import limits
from reporter.scrape.exposition import MalformedExposition, MetricsContent, Steps
from reporter.scrape.samples import PageSamples, ScrapeResult
from reporter.scrape.scrapes import Scrape


async def parse_in_steps(
    steps: Steps, turns: asyncio.Semaphore, *, now: Callable[[], float] | None = None
) -> MetricsContent | MalformedExposition:
    """
    Parse a page while other tasks run. *now*: returns seconds.

    A page of many steps needs one of *turns*, and then takes only PARSE_SHARE of the time. So pages
    that cost much delay each other, and nothing else.
    """
    now = now or asyncio.get_running_loop().time
    spent = 0.0
    has_turn = False
    try:
        for number in count(1):
            begun = now()
            try:
                next(steps)
            except StopIteration as end:
                result: MetricsContent | MalformedExposition = end.value
                return result
            step = now() - begun
            spent += step
            if spent > limits.MAX_PARSE_TIME.total_seconds():
                break
            if number == limits.FREE_STEPS:
                has_turn = await turns.acquire()
            pause = step * (1 / limits.PARSE_SHARE - 1) if number > limits.FREE_STEPS else 0.0
            await asyncio.sleep(pause)
    finally:
        if has_turn:
            turns.release()
    return MalformedExposition("parsing it takes too long", is_too_costly=True)


def result_of(malformed: MalformedExposition) -> ScrapeResult:
    """Return the result of an attempt whose page could not be parsed: too costly, or unusable."""
    return ScrapeResult.TOO_COSTLY if malformed.is_too_costly else ScrapeResult.UNUSABLE


def content_of(
    content: MetricsContent | MalformedExposition, scrape: Scrape
) -> tuple[PageSamples, frozenset[str]] | MalformedExposition:
    """
    Return the samples that one scrape asked for, and those of its prefixes that are present.

    A MalformedExposition if the page, or one of the families, cannot be used.
    """
    if isinstance(content, MalformedExposition):
        return content
    samples = content.samples_of(scrape.families)
    if isinstance(samples, MalformedExposition):
        return samples
    return samples, content.prefixes & frozenset(scrape.prefixes)
