"""
Turn metrics pages into the time series that promtool reads, as Prometheus labels what it scrapes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from reporter.metrics.declarations import PREFIX


Json = dict[str, Any]
Labels = tuple[tuple[str, str], ...]
Series = tuple[str, Labels]
NAMESPACE, RELEASE = "kaito-system", "stack-status-reporter"
STALE = "stale"
STATES = f"{PREFIX}reason_state"


@dataclass(frozen=True)
class Phase:
    """
    *minutes* in which the replicas serve these pages, one scrape a minute; none: they are gone.

    *until*: the pages at the end; counters grow towards these.
    """

    minutes: int
    pages: Sequence[str] = ()
    until: Sequence[str] = ()


@dataclass(frozen=True)
class Monitor:
    """A way to scrape. *labels*: those that the Prometheus Operator adds beside the pod's own."""

    job: str
    labels: Labels = ()


SERVICE_MONITOR = Monitor(RELEASE, (("service", RELEASE), ("container", "reporter")))
POD_MONITOR = Monitor(f"{NAMESPACE}/{RELEASE}", (("container", "reporter"),))


def series_of(
    phases: Sequence[Phase],
    names: Iterable[str],
    *,
    monitors: Sequence[Monitor] = (SERVICE_MONITOR,),
    **external: str,
) -> Iterator[Json]:
    """
    Yield the series of one cluster for promtool. *names*: metrics. *external*: labels such as cluster.
    """
    wanted = frozenset(names)
    replicas = max(len(phase.pages) for phase in phases) if phases else 0
    for number in range(replicas):
        values = _values(phases, number, wanted)
        for monitor in monitors:
            target = _target(number, monitor, external)
            for (name, labels), numbers in values.items():
                series = selector(name, scraped(dict(labels), target))
                yield {"series": series, "values": numbers}


def scraped(labels: Mapping[str, str], target: Mapping[str, str]) -> dict[str, str]:
    """
    Return the labels of a sample, as Prometheus resolves conflicts unless honorLabels is set.
    """
    own = {f"exported_{name}" if name in target else name: v for name, v in labels.items()}
    return {**own, **target}


def selector(name: str, labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()) if value)
    return f"{name}{{{pairs}}}"


@lru_cache(maxsize=512)
def samples(page: str) -> Mapping[tuple[str, Labels], float]:
    lines = (line for line in page.splitlines() if line and not line.startswith("#"))
    return dict(map(_sample, lines))


@lru_cache(maxsize=200_000)
def _sample(line: str) -> tuple[tuple[str, Labels], float]:
    """Return a sample; most lines are the same on every page, and the parser is slow."""
    (family,) = text_string_to_metric_families(line)
    (sample,) = family.samples
    return (sample.name, tuple(sorted(sample.labels.items()))), sample.value


def _target(number: int, monitor: Monitor, external: Mapping[str, str]) -> dict[str, str]:
    address = f"10.0.0.{number + 1}:8080"
    pod = {"namespace": NAMESPACE, "pod": f"{RELEASE}-6c9f7d8b5-{number}", "instance": address}
    return {**pod, "endpoint": "metrics", "job": monitor.job, **dict(monitor.labels), **external}


def _values(
    phases: Sequence[Phase], number: int, wanted: frozenset[str]
) -> dict[tuple[str, Labels], str]:
    """
    Return the values of each series of a replica, one a minute; "stale" where it has none.

    Of equal ones that follow each other promtool takes the first and how often it is repeated.
    """
    pages = [_both_ends(phase, number) for phase in phases]
    keys = {key for begin, _ in pages for key in begin if key[0] in wanted}
    keys = {key for key in keys if key[0] != STATES or _is_unknown(key, pages)}
    return {
        key: " ".join(
            _repeated(
                text
                for phase, (begin, end) in zip(phases, pages, strict=True)
                for text in _numbers(phase.minutes, begin.get(key), end.get(key))
            )
        )
        for key in sorted(keys)
    }


def _is_unknown(key: Series, pages: Sequence[tuple[Mapping[Series, float], object]]) -> bool:
    """
    Return whether a series is 1 at some time for a reason that cannot be evaluated.

    The rules read no other states, and no zeros of them, which are most series of a page.
    """
    return ("state", "unknown") in key[1] and any(begin.get(key) for begin, _ in pages)


def _repeated(texts: Iterable[str]) -> Iterator[str]:
    for text, equal in groupby(texts):
        times = len([*equal])
        if text == STALE:
            yield f"{STALE} _x{times - 1}" if times > 1 else STALE
        else:
            yield f"{text}x{times - 1}" if times > 1 else text


def _both_ends(
    phase: Phase, number: int
) -> tuple[Mapping[tuple[str, Labels], float], Mapping[tuple[str, Labels], float]]:
    if number >= len(phase.pages):
        return {}, {}
    begin = samples(phase.pages[number])
    return begin, samples(phase.until[number]) if phase.until else begin


def _numbers(minutes: int, begin: float | None, end: float | None) -> Iterator[str]:
    if begin is None or end is None:
        yield from [STALE] * minutes
        return
    if begin == end:
        yield from [_number(begin)] * minutes
        return
    for minute in range(minutes):
        yield _number(begin + (end - begin) * minute / minutes)


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")
