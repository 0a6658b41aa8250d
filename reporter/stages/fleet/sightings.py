"""
Compare what sources report with what they reported before: only a change shows that one lives.
"""

from collections.abc import Mapping

from reporter.model.fleet.answers import SourceId, SourceReport
from reporter.stages.fleet.records import Sighting, Sightings


WRITTEN_PRECISION = 0.001
"""
Seconds within which a time is that of a status: JSON numbers of other writers may be rounded.
"""


def update(
    before: Sightings, reports: Mapping[SourceId, SourceReport], *, now: float, stale: float
) -> Sightings:
    """
    Return the sightings after an answer.

    The first sight of a source proves nothing, also if an earlier process saw another time: an engine
    shows for minutes what is long gone, such as the replica that led before.
    """
    after = {each: old for each, old in before.items() if old.is_living(now, stale)}
    for each, report in reports.items():
        old = before.get(each)
        if old is None:
            after[each] = Sighting(report, now, now)
        elif report.evaluated != old.report.evaluated:
            after[each] = Sighting(report, old.first_seen, now, now)
        else:
            after[each] = old._replace(report=report, seen=now)
    return after


def is_as_written(sightings: Sightings, written: float | None) -> bool:
    """
    Return whether nothing has changed since a status with this time of evaluation was written.
    """
    return bool(sightings) and all(
        written is not None and abs(each.report.evaluated - written) <= WRITTEN_PRECISION
        for each in sightings.values()
    )
