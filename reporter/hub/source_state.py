"""
Compare what sources report with what they reported before: only a change shows that one lives.

The skew of a cluster's clock is shown and decides nothing.
"""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reporter.hub.cluster_reports import SourceId, SourceReport


class SourceState(Struct, frozen=True, gc=False):
    """
    The knowledge about one source and UID under a label.

    *changed*: when its time of evaluation last changed; None if this process saw no change of it.
    *seen*: when it was last in an answer. *earlier*: the times of evaluation before, the last one first.
    """

    report: SourceReport
    first_seen: float
    seen: float
    changed: float | None = None
    earlier: tuple[float, ...] = ()

    def is_fresh(self, now: float, stale: float) -> bool:
        """
        Return whether its time of evaluation changed within the last *stale* seconds.

        A source that has not changed yet is fresh for as long after it was first seen.
        """
        since = self.first_seen if self.changed is None else self.changed
        return now - since <= stale


SourceStates: TypeAlias = Mapping[SourceId, SourceState]


PRECISION = 0.001
"""
Seconds within which two times are the same: engines and other writers of JSON may round them.
"""

EARLIER_TIMES = 4
"""The earlier times that are kept of a source: as many copies of an engine may answer in turn."""


def update(
    before: SourceStates, reports: Mapping[SourceId, SourceReport], *, now: float, stale: float
) -> SourceStates:
    """
    Return the sources after an answer.

    The first sight of a source proves nothing, also if an earlier process saw another time: an engine
    shows for minutes what is long gone, such as the replica that led before. A time that was seen
    before proves nothing either: one of several copies of an engine may lag behind the others.
    """
    after = {each: old for each, old in before.items() if old.is_fresh(now, stale)}
    for each, report in reports.items():
        old = before.get(each)
        if old is None:
            after[each] = SourceState(report, now, now)
        elif is_same(report.evaluated, old.report.evaluated):
            kept = replace(report, evaluated=old.report.evaluated)
            after[each] = replace(old, report=kept, seen=now)
        elif any(is_same(report.evaluated, time) for time in old.earlier):
            after[each] = replace(old, seen=now)
        else:
            earlier = (old.report.evaluated, *old.earlier)[:EARLIER_TIMES]
            after[each] = SourceState(report, old.first_seen, now, now, earlier)
    return after


def is_same(one: float, other: float) -> bool:
    """Return whether two Unix times are of one evaluation: at most PRECISION seconds apart."""
    return abs(one - other) <= PRECISION


# ---------------------------------------------------------------- the skew of a clock


SKEW_LIMIT = 60.0
"""Seconds of skew from which on it is flagged."""

WINDOW_SECONDS = 300.0


class SkewWindow(Struct, frozen=True, gc=False):
    """
    The smallest age of a cluster's time of evaluation at the moment of a change, in two windows.

    The age of an answer is the skew of the clocks, plus the time since the evaluation and on the way,
    which is never negative: so the smallest one is the nearest. *started*: when the present window began.
    *smallest*, *before*: the smallest age in it and in the window before, in seconds; None without one.
    """

    started: float
    smallest: float
    before: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds by which the cluster's clock is ahead of the engine's; negative if behind."""
        return -min(each for each in (self.smallest, self.before) if each is not None)


def observe(before: SkewWindow | None, age: float, *, now: float) -> SkewWindow:
    """
    Return the window with one more *age*: of an evaluation at the moment at which it was first seen.
    """
    if before is None:
        return SkewWindow(now, age)
    if now - before.started > WINDOW_SECONDS:
        return SkewWindow(now, age, before.smallest)
    return before if age >= before.smallest else replace(before, smallest=age)


def is_skewed(window: SkewWindow | None) -> bool:
    """
    Return whether the skew is beyond the limit. An old evaluation alone makes no clock wrong.

    A clock that is behind and an evaluation that is late look the same, until one comes in time.
    """
    return window is not None and abs(window.seconds) > SKEW_LIMIT
