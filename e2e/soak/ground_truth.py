"""The comparison of outages with announced Events. Pure; all times are seconds since the epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise


READY = "clusterReady"


@dataclass
class ComponentOutage:
    """
    An outage of the component that *reason* is about.

    It begins with the response to the request that scaled the component to zero, and ends when all
    replicas were seen Ready again.
    """

    reason: str
    begun: float
    ended: float = float("inf")


@dataclass(frozen=True)
class AnnouncedEvent:
    """An Event; *composed_at* is its time by the reporter's clock."""

    reason: str
    composed_at: float


@dataclass(frozen=True)
class TimeBounds:
    """
    The tolerances of the comparison, in seconds.

    An outage must be announced within *announce_within*, and may be until *late_by* after its end.
    A recovery shorter than *join_within* need not end an episode. Clocks may differ by
    *clock_tolerance*. For *handover* after a disturbance, a new leader may join an outage to an
    earlier episode whose Ready was not announced.
    """

    announce_within: float
    late_by: float
    join_within: float
    clock_tolerance: float = 1.5
    handover: float = 30


def violations(
    outages: Sequence[ComponentOutage],
    announced: Sequence[AnnouncedEvent],
    bounds: TimeBounds,
    *,
    disturbed_at: Sequence[float] = (),
) -> Iterator[str]:
    """
    Yield a sentence for each false, missing or repeated Event.

    *disturbed_at*: times at which replicas or the API server were disturbed.
    """
    for reason in sorted({each.reason for each in outages} | {each.reason for each in announced}):
        of_reason = [each for each in outages if each.reason == reason]
        event_times = sorted(each.composed_at for each in announced if each.reason == reason)
        if reason != READY:
            yield from _false_announcements(reason, of_reason, event_times, bounds)
            yield from _missed_outages(reason, of_reason, announced, bounds, disturbed_at)
    ready = sorted(each.composed_at for each in announced if each.reason == READY)
    warnings = sorted(each.composed_at for each in announced if each.reason != READY)
    yield from _ready_violations(outages, ready, warnings, bounds)


def delays(
    outages: Sequence[ComponentOutage], announced: Sequence[AnnouncedEvent], bounds: TimeBounds
) -> list[float]:
    """Return the seconds from each announced outage to its Event."""
    return [
        max(each.composed_at - outage.begun, 0)
        for each in announced
        if (outage := _outage_for(outages, each.reason, each.composed_at, bounds)) is not None
    ]


def _false_announcements(
    reason: str,
    outages: Sequence[ComponentOutage],
    event_times: Sequence[float],
    bounds: TimeBounds,
) -> Iterator[str]:
    matched = [_outage_for(outages, reason, at, bounds) for at in event_times]
    for at, outage in zip(event_times, matched, strict=True):
        if outage is None:
            yield f"{reason} was announced at {at:.0f} without an outage"
    for (first, outage), (second, other) in pairwise(zip(event_times, matched, strict=True)):
        if outage is other is not None:
            yield f"{reason} was announced at {first:.0f} and {second:.0f} for one outage"


def _missed_outages(
    reason: str,
    outages: Sequence[ComponentOutage],
    announced: Sequence[AnnouncedEvent],
    bounds: TimeBounds,
    disturbed_at: Sequence[float],
) -> Iterator[str]:
    matched = [
        _outage_for(outages, reason, each.composed_at, bounds)
        for each in announced
        if each.reason == reason
    ]
    for before, outage in zip((None, *outages), outages, strict=False):
        lasted = outage.ended - outage.begun
        joins = before is not None and outage.begun - before.ended < bounds.join_within
        if lasted <= bounds.announce_within or outage in matched or joins:
            continue
        if not _is_continued(reason, outage, announced, bounds, disturbed_at):
            yield f"{reason} was out from {outage.begun:.0f} for {lasted:.0f} s without an Event"


def _is_continued(
    reason: str,
    outage: ComponentOutage,
    announced: Sequence[AnnouncedEvent],
    bounds: TimeBounds,
    disturbed_at: Sequence[float],
) -> bool:
    earlier = [each for each in announced if each.composed_at < outage.begun]
    announced_at = max(
        (each.composed_at for each in earlier if each.reason == reason), default=float("-inf")
    )
    ready_at = max(
        (each.composed_at for each in earlier if each.reason == READY), default=float("-inf")
    )
    is_disturbed = any(
        at - bounds.clock_tolerance <= outage.begun <= at + bounds.handover for at in disturbed_at
    )
    return is_disturbed and announced_at > ready_at


def _outage_for(
    outages: Sequence[ComponentOutage], reason: str, at: float, bounds: TimeBounds
) -> ComponentOutage | None:
    """Return the last outage that had begun at *at*, unless it had ended too long before."""
    begun = [
        each
        for each in outages
        if each.reason == reason and each.begun - bounds.clock_tolerance <= at
    ]
    return begun[-1] if begun and at <= begun[-1].ended + bounds.late_by else None


def _ready_violations(
    outages: Sequence[ComponentOutage],
    ready: Sequence[float],
    warnings: Sequence[float],
    bounds: TimeBounds,
) -> Iterator[str]:
    for at in ready:
        for each in outages:
            if each.begun + bounds.late_by < at < each.ended - bounds.clock_tolerance:
                yield f"{READY} was announced at {at:.0f} during an outage of {each.reason}"
    for one, other in pairwise(ready):
        if not any(one - bounds.clock_tolerance <= each <= other for each in warnings):
            yield f"{READY} was announced twice, at {one:.0f} and {other:.0f}"
    if warnings and not (ready and ready[-1] >= warnings[-1]):
        yield f"no {READY} was announced after the last outage"
