"""Keep answers about permissions for a short time. Reads no clock."""

from collections.abc import Hashable
from datetime import timedelta
from typing import Generic, TypeVar

from msgspec import Struct


V = TypeVar("V")

MAX_KEPT = 1024
"""
The most answers that are kept; the oldest one makes room, so that ever new tokens cannot fill the
memory.
"""


class Kept(Struct, Generic[V], frozen=True):
    """
    An answer about a permission, and *until* when it counts, in seconds of a monotonic clock.

    It sets an answer apart from none: *value* may be None itself.
    """

    value: V
    until: float


class DecisionCache(Generic[V]):
    """Keeps the answer to each key until a moment; times are seconds of a monotonic clock."""

    def __init__(self, *, max_kept: int = MAX_KEPT) -> None:
        self._kept: dict[Hashable, Kept[V]] = {}
        self._max_kept = max_kept

    def find(self, key: Hashable, *, now: float) -> Kept[V] | None:
        """Return the answer that is kept for *key*; None if there is none, or its time is over."""
        found = self._kept.get(key)
        return found if found is not None and now < found.until else None

    def keep(self, key: Hashable, value: V, *, now: float, time: timedelta) -> None:
        """Keep *value* for *time* from *now*. The oldest answer makes room if there are too many."""
        self._kept.pop(key, None)
        while len(self._kept) >= self._max_kept:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = Kept(value, now + time.total_seconds())
