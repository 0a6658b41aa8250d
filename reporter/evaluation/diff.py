"""Find what changed between two passes."""

from collections.abc import Mapping
from typing import TypeVar


K = TypeVar("K")
V = TypeVar("V")


def changed_keys(before: Mapping[K, V], after: Mapping[K, V]) -> set[K]:
    """
    Return the keys whose value is another object now, or that exist in one mapping only.

    In an outage most findings stay the same objects.
    """
    if before is after:
        return set()
    changed = {key for key, value in after.items() if before.get(key) is not value}
    return changed | (before.keys() - after.keys())


def different_keys(before: Mapping[K, V], after: Mapping[K, V]) -> set[K]:
    """Return the keys with another value, or that exist in one mapping only."""
    if before is after:
        return set()
    changed = {key for key, value in after.items() if before.get(key) != value}
    return changed | (before.keys() - after.keys())
