"""
How a condition of an API object is read.

Gateway API's conventions: a condition tells of the generation it observed, and before any controller
wrote, its default is Unknown since 1970.
"""

from datetime import datetime

from reporter.model.objects import Condition, Metadata
from reporter.stages.deployments import Stale
from reporter.stages.foreign import clean, shorten


LONGEST = 100
"""
Bytes of a reason; these are words of others, which nobody checks.
"""

NO_YEAR = 1970


def since(found: Condition, meta: Metadata) -> datetime | None:
    """
    When it became so; a default time is none, and then the object was so from the beginning.
    """
    changed = found.last_transition_time
    return changed if changed is not None and changed.year > NO_YEAR else meta.creation_timestamp


def stale(found: Condition, meta: Metadata, what: str) -> Stale | None:
    """
    Whether it speaks of an older spec. Some writers tell no generation, which proves nothing.
    """
    if 0 < found.observed_generation < meta.generation:
        return Stale(f"condition {found.type} of {what} is older than its spec")
    return None


def named(found: Condition, otherwise: str = "no reason given") -> str:
    """
    Its reason, for a message.
    """
    return shorten(clean(found.reason or ""), LONGEST) or otherwise
