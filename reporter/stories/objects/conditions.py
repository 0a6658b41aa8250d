"""Build conditions."""

from datetime import datetime

from reporter.model.kinds.base.conditions import Condition
from reporter.stories.notation.times import LONG_AGO


def build_observed_condition(
    kind: str,
    status: str = "True",
    reason: str | None = None,
    message: str = "",
    since: datetime | None = LONG_AGO,
    observed: int = 1,
) -> Condition:
    """Build a condition; *observed* is its observedGeneration."""
    return Condition(
        type=kind,
        status=status,
        reason=kind if reason is None else reason,
        message=message,
        last_transition_time=since,
        observed_generation=observed,
    )


def build_condition(
    kind: str, status: str, reason: str = "", message: str = "", since: datetime | None = None
) -> Condition:
    return Condition(
        type=kind, status=status, reason=reason, message=message, last_transition_time=since
    )
