"""
Note what is read of a snapshot, to tell later whether the same reads would find the same.

Nothing that a snapshot refers to changes, so an entry that is the same object has the same content.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from reporter.snapshot.cow_map import SHARDS, FrozenMap, empty_map
from reporter.snapshot.snapshot import Snapshot, TableSnapshot


T = TypeVar("T")
Part = TypeVar("Part", Snapshot, TableSnapshot)

DIFFERS: Final = -1
"""The number that stands for what differs each time: the time itself, and the metrics pages."""

PAGES = "scrape_histories"
"""The map of a snapshot that every page changes. That of what the pages mean is compared as others are."""

WHOLE_MAPPINGS = frozenset({"presences", "deleted_uids"})
"""The mappings of a snapshot without shards whose keys are noted one by one as well."""

UNREAD = frozenset({"subjects_token"})
"""The field that no probe reads: `refresh_subjects` alone does, to see if there may be other subjects."""

KEYS: Final = 1 << 40
"""
The count of numbers that each map has: the first one stands for all of it, the others for its keys. Two
keys may share a number; then a change of either makes the readers of both be evaluated again.
"""


def _number_of(key: Hashable) -> int:
    return 1 + hash(key) % (KEYS - 1)


class ReadNotes:
    """
    The numbers that stand for what was read of a snapshot: whole maps, and keys of maps (see KEYS).

    *add*: notes a number. It is that of the set itself, as a pass over 10,000 InferenceSets notes 400,000.
    """

    __slots__ = ("_numbers", "add")

    def __init__(self) -> None:
        self._numbers: set[int] = set()
        self.add: Callable[[int], None] = self._numbers.add

    def take(self) -> frozenset[int]:
        """Return the numbers since the last call."""
        found = frozenset(self._numbers)
        self._numbers.clear()
        return found


class _NotedMapping(Mapping[Any, Any]):
    """A mapping, or one shard of a map. A lookup notes its key, everything else the whole map."""

    __slots__ = ("_add", "_begin", "_content", "_first", "_numbers")

    def __init__(self, content: Mapping[Any, Any], first: int, add: Callable[[int], None]) -> None:
        self._content, self._first, self._add = content, first, add
        # The first number of the keys, and how many there are: see `_number_of`.
        self._begin, self._numbers = (first + 1, KEYS - 1) if first != DIFFERS else (DIFFERS, 1)

    def get(self, key: Any, default: Any = None) -> Any:
        self._add(self._begin + hash(key) % self._numbers)
        return self._content.get(key, default)

    def __getitem__(self, key: Any) -> Any:
        self._add(self._begin + hash(key) % self._numbers)
        return self._content[key]

    def __contains__(self, key: object) -> bool:
        self._add(self._begin + hash(key) % self._numbers)
        return key in self._content

    def __iter__(self) -> Iterator[Any]:
        self._add(self._first)
        return iter(self._content)

    def __len__(self) -> int:
        self._add(self._first)
        return len(self._content)


class _NotedShards(dict[int, _NotedMapping]):
    """
    The shards of a map by number, each made when it is first read. *first*: the first number, or DIFFERS.
    """

    __slots__ = ("_add", "_first", "_shards")

    def __init__(self, shards: Sequence[Any], first: int, add: Callable[[int], None]) -> None:
        super().__init__()
        self._shards, self._first, self._add = shards, first, add

    def __missing__(self, number: int) -> _NotedMapping:
        found = self[number] = _NotedMapping(self._shards[number], self._first, self._add)
        return found

    def __iter__(self) -> Iterator[Any]:
        self._add(self._first)
        return iter(self._shards)

    def __len__(self) -> int:
        return SHARDS


class _NotedMap(FrozenMap[Any, Any]):
    """A view whose reads are noted. What is derived of it is derived, and kept, by the view itself."""

    __slots__ = ("_add", "_first", "_view")

    def __init__(self, view: FrozenMap[Any, Any], first: int, add: Callable[[int], None]) -> None:
        shards: Any = _NotedShards(view.shards, first, add)  # by number too, as a sequence
        super().__init__(shards)
        self._view, self._first, self._add = view, first, add

    def derive(self, function: Callable[[FrozenMap[Any, Any]], T]) -> T:
        self._add(self._first)
        return self._view.derive(function)


def with_noted_reads(snapshot: Snapshot, notes: ReadNotes) -> Snapshot:
    """Return the same snapshot, of which every read of a map is noted."""
    first = count(step=KEYS)

    def noted(part: Part) -> Part:
        maps: dict[str, object] = {}
        for name in _names_of_maps(part):
            value, number = getattr(part, name), next(first) if name != PAGES else DIFFERS
            wrapper = _NotedMapping if name in WHOLE_MAPPINGS else _NotedMap
            maps[name] = wrapper(value, number, notes.add)
        return replace(part, **maps)

    tables = {name: noted(table) for name, table in sorted(snapshot.tables.items())}
    return replace(noted(snapshot), tables=tables)


def changed_numbers(before: Snapshot, after: Snapshot, *, at_most: int) -> frozenset[int] | None:
    """
    Return the numbers of the maps and keys whose content differs.

    None if anything else differs, or if there are more than *at_most*, which as many deletions would make
    a long search. The histories of scraped pages are not compared.
    """
    if _without_maps(before) != _without_maps(after):
        return None
    changed: set[int] = set()
    for first, one, other in zip(count(step=KEYS), _maps(before), _maps(after), strict=False):
        for key in _changed_keys(one, other) if one is not other else ():
            changed.update((first, first + _number_of(key)))
            if len(changed) > at_most:
                return None
    return frozenset(changed)


def _changed_keys(before: Any, after: Any) -> Iterator[Any]:
    for one, other in zip(_shards(before), _shards(after), strict=True):
        if one is not other:
            yield from (key for key, value in one.items() if other.get(key) is not value)
            yield from other.keys() - one.keys()


def _shards(found: Any) -> Sequence[Mapping[Any, Any]]:
    return found.shards if isinstance(found, FrozenMap) else (found,)


def has_lost_watch(snapshot: Snapshot) -> bool:
    """Return whether a kind becomes Unknown by time alone, if its watch does not reopen."""
    return next(snapshot.unknown_moments(), None) is not None


def without_pages(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without the pages, which nobody compares."""
    return replace(snapshot, **{PAGES: empty_map()})


def _parts(snapshot: Snapshot) -> Iterator[Snapshot | TableSnapshot]:
    """Yield the structs with maps, in the order of their numbers."""
    yield from (table for _, table in sorted(snapshot.tables.items()))
    yield snapshot


def _names_of_maps(part: Snapshot | TableSnapshot) -> Iterator[str]:
    return (
        name
        for name in part.__struct_fields__
        if name in WHOLE_MAPPINGS or isinstance(getattr(part, name), FrozenMap)
    )


def _maps(snapshot: Snapshot) -> Iterator[Any]:
    for part in _parts(snapshot):
        yield from (getattr(part, name) for name in _names_of_maps(part) if name != PAGES)


def _without_maps(snapshot: Snapshot) -> list[object]:
    """Return the names of the tables, and all that is in no map and read by probes."""
    fields: list[object] = [sorted(snapshot.tables)]
    for part in _parts(snapshot):
        others = {*_names_of_maps(part), *UNREAD, "tables"}
        fields += [getattr(part, name) for name in part.__struct_fields__ if name not in others]
    return fields
