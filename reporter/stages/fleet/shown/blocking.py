"""
Show what blocks, as far as metrics tell.
"""

from reporter.model.fleet.answers import ReportedBlocking
from reporter.model.fleet.status import FleetBlocking


def reported_blocking(found: ReportedBlocking) -> FleetBlocking:
    return FleetBlocking(
        reason=found.reason,
        code=found.code,
        actionability=found.actionability,
        stalled=found.stalled,
    )
