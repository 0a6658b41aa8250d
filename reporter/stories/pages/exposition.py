"""The parser of metrics pages, run to its end."""

from collections.abc import Iterable

from reporter.model.metrics.samples import Sample
from reporter.scrape.exposition import (
    MalformedExposition,
    MetricsContent,
    Steps,
    parse_page,
)


def finish(steps: Steps) -> tuple[MetricsContent | MalformedExposition, int]:
    """Return the result and the number of steps."""
    number = 0
    while True:
        number += 1
        try:
            next(steps)
        except StopIteration as end:
            result: MetricsContent | MalformedExposition = end.value
            return result, number


def parse_samples(
    page: bytes, families: Iterable[str]
) -> tuple[Sample, ...] | MalformedExposition:
    """Return the samples of these families in their order, or why one of them cannot be read."""
    names = tuple(families)
    content, _ = finish(parse_page(page, names))
    if isinstance(content, MalformedExposition):
        return content
    samples: list[Sample] = []
    for name in names:
        found = content.families[name]
        if isinstance(found, MalformedExposition):
            return found
        samples += found
    return tuple(samples)


def has_family(page: bytes, prefix: str) -> bool:
    content, _ = finish(parse_page(page, (), (prefix,)))
    return isinstance(content, MetricsContent) and prefix in content.prefixes
