"""
Phrases that messages share: short lists and ages.
"""

from collections.abc import Sequence
from datetime import timedelta


MAX_LISTED = 3
"""
How many of a long list are named.
"""


def abbreviate_list(names: Sequence[str], few: int = MAX_LISTED) -> str:
    """
    A few names, sorted, and how many more there are.
    """
    ordered = sorted(names)
    if len(ordered) <= few:
        return ", ".join(ordered)
    return f"{', '.join(ordered[:few])} and {len(ordered) - few} more"


def human_duration(span: timedelta) -> str:
    """
    As kubectl shows an age, to one unit.
    """
    seconds = int(span.total_seconds())
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
