"""
How a condition of an API object is read.

Gateway API's conventions: a condition tells of the generation it observed, and before any controller
wrote, its default is Unknown since 1970.
"""

from datetime import datetime

from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.objects import Metadata
from reporter.stages.resources.workloads.deployments import Inconclusive
from reporter.stages.text.sanitize import sanitize, truncate_bytes


MAX_REASON_BYTES = 100
"""
Bytes of a reason; these are words of others, which nobody checks.
"""

EPOCH_YEAR = 1970


def transition_time(found: Condition, meta: Metadata) -> datetime | None:
    """
    When it became so; a default time is none, and then the object was so from the beginning.
    """
    changed = found.last_transition_time
    return (
        changed if changed is not None and changed.year > EPOCH_YEAR else meta.creation_timestamp
    )


def check_observed_generation(found: Condition, meta: Metadata, what: str) -> Inconclusive | None:
    """
    Whether it speaks of an older spec. Some writers tell no generation, which proves nothing.
    """
    if 0 < found.observed_generation < meta.generation:
        return Inconclusive(f"condition {found.type} of {what} is older than its spec")
    return None


def reason_text(found: Condition, otherwise: str = "no reason given") -> str:
    """
    Its reason, for a message.
    """
    return truncate_bytes(sanitize(found.reason or ""), MAX_REASON_BYTES) or otherwise
