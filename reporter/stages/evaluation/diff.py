"""
What is not as it was, found by identity: in an outage most findings are as they were a moment ago.
"""

from collections.abc import Mapping
from typing import TypeVar


K = TypeVar("K")
V = TypeVar("V")


def changed_keys(before: Mapping[K, V], after: Mapping[K, V]) -> set[K]:
    """
    The keys whose values are not the same object, or that only one of both has.
    """
    if before is after:
        return set()
    changed = {key for key, value in after.items() if before.get(key) is not value}
    return changed | (before.keys() - after.keys())
