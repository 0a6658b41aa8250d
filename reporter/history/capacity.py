"""
Fit new objects into the limits: each is created, waits for a deletion, or is rejected.

Only objects of episodes that are over are deleted for others, the oldest first. The limits count
every object that exists, those that are being deleted as well.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from enum import Enum, unique
from typing import NamedTuple

from reporter.kinds.health_events import StoreLimit, StoreLimits


class StorePlace(NamedTuple):
    """One object by name, and its node, "" for none."""

    name: str
    node: str


@unique
class Placement(Enum):
    """
    The outcomes of a new object that has a place: it is created now, or once another one is deleted.
    """

    NOW = "now"
    LATER = "later"  # once another object is deleted


class Capacity:
    """
    The places that are taken, and those that deletions will free.

    *leaving*: of the objects that are there, those that are being deleted. *evictable*: those that may
    be deleted for others, the oldest first. *evicted*: those of them that are to be deleted.
    """

    def __init__(
        self,
        limits: StoreLimits,
        *,
        there: Iterable[StorePlace],
        leaving: Iterable[StorePlace],
        evictable: Iterable[StorePlace],
    ) -> None:
        self.evicted: list[str] = []
        self._gone: set[str] = set()
        self._limits = limits
        self._on_node = Counter(each.node for each in there)
        self._total = self._on_node.total()
        self._freed_on_node = Counter(each.node for each in leaving)
        self._freed = self._freed_on_node.total()
        self._oldest = deque(evictable)
        by_node: defaultdict[str, deque[StorePlace]] = defaultdict(deque)
        for each in self._oldest:
            by_node[each.node].append(each)
        self._oldest_on_node = by_node

    def shrink(self) -> None:
        """Evict what is above the limits, as these may have been lowered."""
        for node, number in self._on_node.items():
            excess = number - self._freed_on_node[node] - self._limits.per_node
            for _ in range(excess if node else 0):
                self._evict(self._oldest_on_node[node])
        for _ in range(self._total - self._freed - self._limits.total):
            self._evict(self._oldest)

    def take(self, node: str) -> Placement | StoreLimit:
        """
        Take a place for a new object, on a node if it names one.

        Return the limit that rejects it if nothing can be deleted for it.
        """
        if node and self._on_node[node] >= self._limits.per_node:
            if not self._freed_on_node[node] and not self._evict(self._oldest_on_node[node]):
                return StoreLimit.NODE
            self._freed_on_node[node] -= 1
            self._freed = max(self._freed - 1, 0)
            return Placement.LATER
        if self._total >= self._limits.total:
            if not self._freed and not self._evict(self._oldest):
                return StoreLimit.CLUSTER
            self._freed -= 1
            return Placement.LATER
        self._total += 1
        self._on_node[node] += 1
        return Placement.NOW

    def _evict(self, candidates: deque[StorePlace]) -> bool:
        while candidates:
            place = candidates.popleft()
            if place.name not in self._gone:
                self._gone.add(place.name)
                self.evicted.append(place.name)
                self._freed += 1
                self._freed_on_node[place.node] += 1
                return True
        return False
