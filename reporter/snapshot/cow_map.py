"""
A map that is cheap to freeze and cheap to change after that.

Freezing shares the shards; the first write into a shared shard copies that shard alone. So a pass
gets an immutable view of 60,000 objects for the price of one tuple.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Generic, TypeVar


K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

SHARDS = 256


class FrozenMap(Generic[K, V]):
    """An immutable view of a CowMap."""

    __slots__ = ("_derived", "shards")

    def __init__(self, shards: Sequence[dict[K, V]]) -> None:
        self.shards = shards
        self._derived: dict[Callable[[FrozenMap[K, V]], Any], Any] | None = None

    def derive(self, function: Callable[["FrozenMap[K, V]"], T]) -> T:
        """
        Return the value of a pure function of this view, which is computed once.

        A view stays the same until the next write, so this holds for all passes until then.
        """
        if self._derived is None:
            self._derived = {}
        if function not in self._derived:
            self._derived[function] = function(self)
        found: T = self._derived[function]
        return found

    def get(self, key: K) -> V | None:
        """Return the value as it was at the freeze; None for a key that was not there."""
        return self.shards[hash(key) % SHARDS].get(key)

    def values(self) -> Iterator[V]:
        """Iterate over all values, shard by shard: in no order that means anything."""
        return chain.from_iterable(map(dict.values, filter(None, self.shards)))

    def keys(self) -> Iterator[K]:
        """Iterate over all keys, in the same order as the values."""
        return chain.from_iterable(self.shards)

    def __len__(self) -> int:
        return sum(map(len, self.shards))

    def is_same(self, other: "FrozenMap[K, V]") -> bool:
        """Return whether no shard was written between the two views."""
        return all(a is b for a, b in zip(self.shards, other.shards, strict=True))


def empty_map() -> FrozenMap[Any, Any]:
    """Return the view of an empty map."""
    return FrozenMap(({},) * SHARDS)


class CowMap(Generic[K, V]):
    """A mutable map with one writer, of which a view costs no copy of its content."""

    __slots__ = ("_frozen", "_own", "shards")

    def __init__(self) -> None:
        # As after a freeze: a shard is made by the first write into it.
        self.shards: list[dict[K, V]] = [{}] * SHARDS
        self._own = [False] * SHARDS
        self._frozen: FrozenMap[K, V] | None = None

    def freeze(self) -> FrozenMap[K, V]:
        """Return an immutable view; the same one until the next write."""
        if self._frozen is None:
            self._own = [False] * SHARDS
            self._frozen = FrozenMap(tuple(self.shards))
        return self._frozen

    def get(self, key: K) -> V | None:
        """Return the value of a key as it is now; None if there is none."""
        return self.shards[hash(key) % SHARDS].get(key)

    def __setitem__(self, key: K, value: V) -> None:
        number = hash(key) % SHARDS
        if not self._own[number]:
            self._copy_shard(number)
        self.shards[number][key] = value

    def pop(self, key: K) -> V | None:
        """
        Remove a key and return its value, None if there is none.

        Only a key that is there copies a shard.
        """
        number = hash(key) % SHARDS
        if key not in self.shards[number]:
            return None  # nothing to copy the shard for
        if not self._own[number]:
            self._copy_shard(number)
        return self.shards[number].pop(key, None)

    def keys(self) -> Iterator[K]:
        """
        Iterate over all keys, shard by shard.

        The map must not change meanwhile, so copy them first to remove some.
        """
        return chain.from_iterable(self.shards)

    def __len__(self) -> int:
        return sum(map(len, self.shards))

    def compact(self) -> None:
        """Copy each shard, as a dict has the size of the most that has been in it; nothing changes."""
        nothing: dict[K, V] = {}
        self.shards = [dict(shard) if shard else nothing for shard in self.shards]
        self._own, self._frozen = [False] * SHARDS, None

    def _copy_shard(self, number: int) -> None:
        # The first write after a freeze always comes here, as the view then owns every shard.
        self._frozen = None
        self.shards[number] = dict(self.shards[number])
        self._own[number] = True


class BoundedMap(CowMap[K, V]):
    """A CowMap of at most *limit* keys: beyond it those that came first are forgotten first."""

    __slots__ = ("_keys", "_limit")

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit, self._keys = limit, dict[K, None]()

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self._keys[key] = None
        if len(self._keys) > self._limit:
            self.pop(next(iter(self._keys)))

    def pop(self, key: K) -> V | None:
        """Remove a key, which then makes room for another one; return its value or None."""
        self._keys.pop(key, None)
        return super().pop(key)

    def keys(self) -> Iterator[K]:
        """Iterate over all keys, those that came first before the others."""
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
