"""Show what blocks, as far as metrics tell."""

from reporter.model.fleet.answers import ReportedBlocking
from reporter.model.fleet.status import FleetBlocking
from reporter.stages.fleet.shown.times import to_time


def reported_blocking(found: ReportedBlocking) -> FleetBlocking:
    return FleetBlocking(
        reason=found.reason,
        code=found.code,
        actionability=found.actionability,
        stalled=found.stalled,
        silenced_until=to_time(found.silenced_until or None),
    )
