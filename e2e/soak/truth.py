"""
What was out when, held against what was told. Pure; all times are seconds since the epoch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise


READY = "clusterReady"


@dataclass
class Outage:
    """
    Of the component that *reason* is about: from the answer to the request that made it, to the
    moment at which all its replicas were seen Ready again.
    """

    reason: str
    begun: float
    ended: float = float("inf")


@dataclass(frozen=True)
class Told:
    """
    An Event; *first*: when it was composed, as the reporter's clock had it.
    """

    reason: str
    first: float


@dataclass(frozen=True)
class Bounds:
    """
    Seconds. *told*: within which an outage must be announced; *late*: for how long after its end
    that may still happen; *joined*: health shorter than this need not end an episode; *apart*: by
    how much two clocks may differ that are set by whole seconds. *handover*: how long after a
    trouble a new leader may take up an episode of which no Ready was told, and join to it what
    goes out then.
    """

    told: float
    late: float
    joined: float
    apart: float = 1.5
    handover: float = 30


def falsehoods(
    outages: Sequence[Outage],
    told: Sequence[Told],
    bounds: Bounds,
    *,
    troubles: Sequence[float] = (),
) -> Iterator[str]:
    """
    One sentence for each thing that was not as it should have been. *troubles*: when the replicas
    or the API server were disturbed.
    """
    for reason in sorted({each.reason for each in outages} | {each.reason for each in told}):
        mine = [each for each in outages if each.reason == reason]
        said = sorted(each.first for each in told if each.reason == reason)
        if reason != READY:
            yield from _falsely_told(reason, mine, said, bounds)
            yield from _hidden(reason, mine, told, bounds, troubles)
    ready = sorted(each.first for each in told if each.reason == READY)
    warnings = sorted(each.first for each in told if each.reason != READY)
    yield from _of_ready(outages, ready, warnings, bounds)


def delays(outages: Sequence[Outage], told: Sequence[Told], bounds: Bounds) -> list[float]:
    """
    From the beginning of an outage to its own Event, where it has one.
    """
    return [
        max(each.first - outage.begun, 0)
        for each in told
        if (outage := _meant(outages, each.reason, each.first, bounds)) is not None
    ]


def _falsely_told(
    reason: str, outages: Sequence[Outage], said: Sequence[float], bounds: Bounds
) -> Iterator[str]:
    meant = [_meant(outages, reason, first, bounds) for first in said]
    for first, outage in zip(said, meant, strict=True):
        if outage is None:
            yield f"{reason} was told at {first:.0f}, when it was not out"
    for one, other in pairwise(zip(said, meant, strict=True)):
        if one[1] is other[1] is not None:
            yield f"{reason} was told at {one[0]:.0f} and {other[0]:.0f} of one outage"


def _hidden(
    reason: str,
    outages: Sequence[Outage],
    told: Sequence[Told],
    bounds: Bounds,
    troubles: Sequence[float],
) -> Iterator[str]:
    meant = [_meant(outages, reason, each.first, bounds) for each in told if each.reason == reason]
    for before, outage in zip((None, *outages), outages, strict=False):
        lasted = outage.ended - outage.begun
        joins = before is not None and outage.begun - before.ended < bounds.joined
        if lasted <= bounds.told or outage in meant or joins:
            continue
        if not _taken_up(reason, outage, told, bounds, troubles):
            yield f"{reason} was out from {outage.begun:.0f} for {lasted:.0f} s, and nobody said so"


def _taken_up(
    reason: str,
    outage: Outage,
    told: Sequence[Told],
    bounds: Bounds,
    troubles: Sequence[float],
) -> bool:
    earlier = [each for each in told if each.first < outage.begun]
    mine = max((each.first for each in earlier if each.reason == reason), default=float("-inf"))
    ready = max((each.first for each in earlier if each.reason == READY), default=float("-inf"))
    shaken = any(at - bounds.apart <= outage.begun <= at + bounds.handover for at in troubles)
    return shaken and mine > ready


def _meant(outages: Sequence[Outage], reason: str, first: float, bounds: Bounds) -> Outage | None:
    """
    The last outage that had begun by then, if it had not long been over.
    """
    begun = [
        each for each in outages if each.reason == reason and each.begun - bounds.apart <= first
    ]
    return begun[-1] if begun and first <= begun[-1].ended + bounds.late else None


def _of_ready(
    outages: Sequence[Outage], ready: Sequence[float], warnings: Sequence[float], bounds: Bounds
) -> Iterator[str]:
    for at in ready:
        for each in outages:
            if each.begun + bounds.late < at < each.ended - bounds.apart:
                yield f"{READY} was told at {at:.0f}, when {each.reason} was out"
    for one, other in pairwise(ready):
        if not any(one - bounds.apart <= each <= other for each in warnings):
            yield f"{READY} was told twice, at {one:.0f} and {other:.0f}"
    if warnings and not (ready and ready[-1] >= warnings[-1]):
        yield f"all has healed, and no {READY} was told"
