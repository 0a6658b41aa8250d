"""Phrases that messages share: short lists and ages."""

from collections.abc import Sequence
from datetime import timedelta


MAX_LISTED = 3
"""The number of names shown of a long list."""


def abbreviate_list(names: Sequence[str], limit: int = MAX_LISTED) -> str:
    """Return at most *limit* names, sorted, and the number of the others."""
    ordered = sorted(names)
    if len(ordered) <= limit:
        return ", ".join(ordered)
    return f"{', '.join(ordered[:limit])} and {len(ordered) - limit} more"


def common_beginning(sentences: Sequence[str]) -> str:
    """Return what all sentences begin with, up to a colon; empty if they share nothing."""
    first, last = min(sentences), max(sentences)
    # The first and the last in order differ as early as any two.
    pairs = enumerate(zip(first, last, strict=False))
    length = next((i for i, (one, other) in pairs if one != other), len(first))
    end = first.rfind(": ", 0, length)
    return first[: end + len(": ")] if end >= 0 else ""


def human_duration(duration: timedelta) -> str:
    """
    Return a duration in one unit, like the ages that kubectl prints: ``119s``, ``2m``, ``3h``, ``5d``.
    """
    seconds = int(duration.total_seconds())
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
