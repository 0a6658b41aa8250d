"""
Compare what sources report with what they reported before: only a change shows that one lives.
"""

from collections.abc import Iterable, Mapping

from reporter.model.fleet.answers import SourceId, SourceReport
from reporter.stages.fleet.engagements import Earlier
from reporter.stages.fleet.records import Sighting, Sightings


WRITTEN_PRECISION = 0.001
"""
Seconds within which a time is that of a status: JSON numbers of other writers may be rounded.
"""


def update(
    before: Sightings,
    reports: Mapping[SourceId, SourceReport],
    earlier: Iterable[Earlier],
    *,
    now: float,
    stale: float,
) -> Sightings:
    """
    Return the sightings after an answer. *earlier*: of earlier processes, about this label.
    """
    known = tuple(earlier)
    after = {each: old for each, old in before.items() if old.is_living(now, stale)}
    for each, report in reports.items():
        old = before.get(each)
        if old is None:
            changed = now if _differs(report, known) else None
            after[each] = Sighting(report, now, now, changed)
        elif report.evaluated != old.report.evaluated:
            after[each] = Sighting(report, old.first_seen, now, now)
        else:
            after[each] = old._replace(report=report, seen=now)
    return after


def _differs(report: SourceReport, known: Iterable[Earlier]) -> bool:
    """
    Return whether a source that is new to this process has evaluated since an earlier one wrote.

    Without such a status the first sight proves nothing: an engine also shows what is long gone.
    """
    times = [each.evaluated for each in known if each.uid == report.uid]
    reported = [time for time in times if time is not None]
    return bool(reported) and all(
        abs(report.evaluated - time) > WRITTEN_PRECISION for time in reported
    )
