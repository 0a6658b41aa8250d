"""
What was out when, held against what was told. Pure; all times are seconds since the epoch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise


READY = "clusterReady"


@dataclass
class ComponentOutage:
    """
    Of the component that *reason* is about: from the answer to the request that made it, to the
    moment at which all its replicas were seen Ready again.
    """

    reason: str
    begun: float
    ended: float = float("inf")


@dataclass(frozen=True)
class AnnouncedEvent:
    """
    An Event; *first*: when it was composed, as the reporter's clock had it.
    """

    reason: str
    composed_at: float


@dataclass(frozen=True)
class TimeBounds:
    """
    Seconds. *told*: within which an outage must be announced; *late*: for how long after its end
    that may still happen; *joined*: health shorter than this need not end an episode; *apart*: by
    how much two clocks may differ that are set by whole seconds. *handover*: how long after a
    trouble a new leader may take up an episode of which no Ready was told, and join to it what
    goes out then.
    """

    announce_within: float
    late_by: float
    join_within: float
    clock_tolerance: float = 1.5
    handover: float = 30


def violations(
    outages: Sequence[ComponentOutage],
    told: Sequence[AnnouncedEvent],
    bounds: TimeBounds,
    *,
    troubles: Sequence[float] = (),
) -> Iterator[str]:
    """
    One sentence for each thing that was not as it should have been. *troubles*: when the replicas
    or the API server were disturbed.
    """
    for reason in sorted({each.reason for each in outages} | {each.reason for each in told}):
        mine = [each for each in outages if each.reason == reason]
        said = sorted(each.composed_at for each in told if each.reason == reason)
        if reason != READY:
            yield from _false_announcements(reason, mine, said, bounds)
            yield from _missed_outages(reason, mine, told, bounds, troubles)
    ready = sorted(each.composed_at for each in told if each.reason == READY)
    warnings = sorted(each.composed_at for each in told if each.reason != READY)
    yield from _ready_violations(outages, ready, warnings, bounds)


def delays(
    outages: Sequence[ComponentOutage], told: Sequence[AnnouncedEvent], bounds: TimeBounds
) -> list[float]:
    """
    From the beginning of an outage to its own Event, where it has one.
    """
    return [
        max(each.composed_at - outage.begun, 0)
        for each in told
        if (outage := _outage_for(outages, each.reason, each.composed_at, bounds)) is not None
    ]


def _false_announcements(
    reason: str, outages: Sequence[ComponentOutage], said: Sequence[float], bounds: TimeBounds
) -> Iterator[str]:
    meant = [_outage_for(outages, reason, first, bounds) for first in said]
    for first, outage in zip(said, meant, strict=True):
        if outage is None:
            yield f"{reason} was told at {first:.0f}, when it was not out"
    for one, other in pairwise(zip(said, meant, strict=True)):
        if one[1] is other[1] is not None:
            yield f"{reason} was told at {one[0]:.0f} and {other[0]:.0f} of one outage"


def _missed_outages(
    reason: str,
    outages: Sequence[ComponentOutage],
    told: Sequence[AnnouncedEvent],
    bounds: TimeBounds,
    troubles: Sequence[float],
) -> Iterator[str]:
    meant = [
        _outage_for(outages, reason, each.composed_at, bounds)
        for each in told
        if each.reason == reason
    ]
    for before, outage in zip((None, *outages), outages, strict=False):
        lasted = outage.ended - outage.begun
        joins = before is not None and outage.begun - before.ended < bounds.join_within
        if lasted <= bounds.announce_within or outage in meant or joins:
            continue
        if not _is_continued(reason, outage, told, bounds, troubles):
            yield f"{reason} was out from {outage.begun:.0f} for {lasted:.0f} s, and nobody said so"


def _is_continued(
    reason: str,
    outage: ComponentOutage,
    told: Sequence[AnnouncedEvent],
    bounds: TimeBounds,
    troubles: Sequence[float],
) -> bool:
    earlier = [each for each in told if each.composed_at < outage.begun]
    mine = max(
        (each.composed_at for each in earlier if each.reason == reason), default=float("-inf")
    )
    ready = max(
        (each.composed_at for each in earlier if each.reason == READY), default=float("-inf")
    )
    shaken = any(
        at - bounds.clock_tolerance <= outage.begun <= at + bounds.handover for at in troubles
    )
    return shaken and mine > ready


def _outage_for(
    outages: Sequence[ComponentOutage], reason: str, first: float, bounds: TimeBounds
) -> ComponentOutage | None:
    """
    The last outage that had begun by then, if it had not long been over.
    """
    begun = [
        each
        for each in outages
        if each.reason == reason and each.begun - bounds.clock_tolerance <= first
    ]
    return begun[-1] if begun and first <= begun[-1].ended + bounds.late_by else None


def _ready_violations(
    outages: Sequence[ComponentOutage],
    ready: Sequence[float],
    warnings: Sequence[float],
    bounds: TimeBounds,
) -> Iterator[str]:
    for at in ready:
        for each in outages:
            if each.begun + bounds.late_by < at < each.ended - bounds.clock_tolerance:
                yield f"{READY} was told at {at:.0f}, when {each.reason} was out"
    for one, other in pairwise(ready):
        if not any(one - bounds.clock_tolerance <= each <= other for each in warnings):
            yield f"{READY} was told twice, at {one:.0f} and {other:.0f}"
    if warnings and not (ready and ready[-1] >= warnings[-1]):
        yield f"all has healed, and no {READY} was told"
