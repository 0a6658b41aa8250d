"""
Note what is read of a snapshot, to tell later whether the same reads would find the same.

Nothing that a snapshot refers to changes, so an entry that is the same object has the same content.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from reporter.model.observations import NotServed, Watching
from reporter.snapshot.cow_map import SHARDS, FrozenMap
from reporter.snapshot.snapshot import Snapshot, TableSnapshot


T = TypeVar("T")
Part = TypeVar("Part", Snapshot, TableSnapshot)

DIFFERS: Final = -1
"""The number that stands for what differs each time: the time itself, and the metrics pages."""

PAGES = "scrape_histories"
"""The map of a snapshot that every page changes."""

KEYS: Final = 1 << 40
"""
The numbers of a map: the first one stands for all of it, the others for its keys. Keys that share one
are only evaluated more often.
"""


def _number_of(key: Hashable) -> int:
    return 1 + hash(key) % (KEYS - 1)


class ReadNotes:
    """The numbers of what was read."""

    __slots__ = ("_numbers", "add")

    def __init__(self) -> None:
        self._numbers: set[int] = set()
        self.add = self._numbers.add

    def take(self) -> frozenset[int]:
        """Return the numbers since the last call."""
        found = frozenset(self._numbers)
        self._numbers.clear()
        return found


class _NotedShard(Mapping[Any, Any]):
    """One shard. A lookup notes its key, everything else the whole map."""

    __slots__ = ("_add", "_first", "_shard")

    def __init__(self, shard: Mapping[Any, Any], first: int, add: Callable[[int], None]) -> None:
        self._shard, self._first, self._add = shard, first, add

    def get(self, key: Any, default: Any = None) -> Any:
        self._add(self._first + _number_of(key) if self._first != DIFFERS else DIFFERS)
        return self._shard.get(key, default)

    def __getitem__(self, key: Any) -> Any:
        self._add(self._first)
        return self._shard[key]

    def __iter__(self) -> Iterator[Any]:
        self._add(self._first)
        return iter(self._shard)

    def __len__(self) -> int:
        self._add(self._first)
        return len(self._shard)


class _NotedShards(Sequence[Any]):
    """The shards of a map. *first*: its first number, or DIFFERS."""

    __slots__ = ("_add", "_first", "_shards")

    def __init__(self, shards: Sequence[Any], first: int, add: Callable[[int], None]) -> None:
        self._shards, self._first, self._add = shards, first, add

    def __getitem__(self, number: Any) -> Any:
        return _NotedShard(self._shards[number], self._first, self._add)

    def __iter__(self) -> Iterator[Any]:
        self._add(self._first)
        return iter(self._shards)

    def __len__(self) -> int:
        return SHARDS


class _NotedMap(FrozenMap[Any, Any]):
    """A view whose reads are noted. What is derived of it is derived, and kept, by the view itself."""

    __slots__ = ("_add", "_first", "_view")

    def __init__(self, view: FrozenMap[Any, Any], first: int, add: Callable[[int], None]) -> None:
        super().__init__(_NotedShards(view.shards, first, add))
        self._view, self._first, self._add = view, first, add

    def derive(self, function: Callable[[FrozenMap[Any, Any]], T]) -> T:
        self._add(self._first)
        return self._view.derive(function)


def with_noted_reads(snapshot: Snapshot, notes: ReadNotes) -> Snapshot:
    """Return the same snapshot, of which every read of a map is noted."""
    first = count(step=KEYS)

    def noted(part: Part) -> Part:
        numbers = {n: next(first) if n != PAGES else DIFFERS for n in _names_of_maps(part)}
        maps = {n: _NotedMap(getattr(part, n), at, notes.add) for n, at in numbers.items()}
        return replace(part, **maps)

    tables = {name: noted(table) for name, table in sorted(snapshot.tables.items())}
    return replace(noted(snapshot), tables=tables)


def changed_numbers(before: Snapshot, after: Snapshot) -> frozenset[int] | None:
    """
    Return the numbers of what is not the same; None if more than entries of maps has changed.

    Pages are left out.
    """
    if _without_maps(before) != _without_maps(after):
        return None
    changed: set[int] = set()
    for first, one, other in zip(count(step=KEYS), _maps(before), _maps(after), strict=False):
        keys = _changed_keys(one, other) if one is not other else ()
        numbers = [first + _number_of(key) for key in keys]
        changed.update(numbers, [first] if numbers else ())
    return frozenset(changed)


def _changed_keys(before: FrozenMap[Any, Any], after: FrozenMap[Any, Any]) -> Iterator[Any]:
    for one, other in zip(before.shards, after.shards, strict=True):
        if one is not other:
            yield from (key for key, value in one.items() if other.get(key) is not value)
            yield from other.keys() - one.keys()


def is_certain_snapshot(snapshot: Snapshot) -> bool:
    """Return whether all kinds are watched, or not served, and every object is read and decoded."""
    states = (table.watch_state for table in snapshot.tables.values())
    is_whole = not snapshot.undecodable and not snapshot.only_in
    return is_whole and all(isinstance(each, Watching | NotServed) for each in states)


def _parts(snapshot: Snapshot) -> Iterator[Snapshot | TableSnapshot]:
    """Yield the structs with maps, in the order of their numbers."""
    yield from (table for _, table in sorted(snapshot.tables.items()))
    yield snapshot


def _names_of_maps(part: Snapshot | TableSnapshot) -> Iterator[str]:
    return (n for n in part.__struct_fields__ if isinstance(getattr(part, n), FrozenMap))


def _maps(snapshot: Snapshot) -> Iterator[FrozenMap[Any, Any]]:
    for part in _parts(snapshot):
        yield from (getattr(part, name) for name in _names_of_maps(part) if name != PAGES)


def _without_maps(snapshot: Snapshot) -> list[object]:
    """Return all but the maps, and the names of the tables."""
    fields: list[object] = [sorted(snapshot.tables)]
    for part in _parts(snapshot):
        maps = {*_names_of_maps(part), "tables"}
        fields += [getattr(part, name) for name in part.__struct_fields__ if name not in maps]
    return fields
