"""
Objects that this program writes to, apart from the store of what is evaluated: they wake no pass.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Generic, TypeVar

from reporter.kinds.objects import ApiObject, NamespacedName
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.observations import NotServed, NotSynced, WatchState
from reporter.process.subscribers import Subscribers


BATCH_SIZE = 500

RECENTLY_DELETED = 1000
"""The deleted objects that are remembered: far more than are created at the same time."""

RECENT_CHANGES = 1000
"""The changes whose objects are remembered: more than a watch brings between two looks at them."""

T = TypeVar("T", bound=ApiObject)


class WrittenObjectStore(Generic[T]):
    """
    The objects of one kind that this program writes to. *type_*: their struct.

    *served_version*: returns the version in which a kind is served; None while that is unknown.
    *revision*: a number that grows with each change of the objects. *changes*: notified after each.
    """

    def __init__(
        self, type_: type[T], served_version: Callable[[ResourceKind], str | None]
    ) -> None:
        self._type = type_
        self.served_version = served_version
        self.watch_state: WatchState = NotSynced()
        self._objects: dict[NamespacedName, T] = {}
        self._undecodable: set[NamespacedName] = set()
        self._deleted_uids: deque[str] = deque(maxlen=RECENTLY_DELETED)
        self.revision = 0
        # The name of the object of each revision since the last one that was about all of them.
        self._recent: deque[NamespacedName] = deque(maxlen=RECENT_CHANGES)
        self.changes: Subscribers[[]] = Subscribers()

    @property
    def objects(self) -> Mapping[NamespacedName, T]:
        """
        The objects by name; none while they are not served, or before the first list.

        One whose newest version could not be decoded is left out: what it asks for is not known.
        """
        if isinstance(self.watch_state, NotSynced | NotServed):
            return {}
        unread = self._undecodable
        if not unread:
            return self._objects
        return {name: each for name, each in self._objects.items() if name not in unread}

    @property
    def undecodable(self) -> frozenset[NamespacedName]:
        """The objects whose newest version could not be decoded."""
        return frozenset(self._undecodable)

    def changed_since(self, revision: int) -> set[NamespacedName] | None:
        """Return the names of objects that changed after a revision; None if any of them may have."""
        many = self.revision - revision
        return set(islice(reversed(self._recent), many)) if many <= len(self._recent) else None

    @property
    def unfit(self) -> frozenset[str]:
        """
        The objects that are to be deleted at once: none, as nobody acts on this program's own kinds.
        """
        return frozenset()

    # ------------------------------------------------------------ for the reflector

    def replace_in_batches(
        self,
        kind: ResourceKind,
        objects: Iterable[ApiObject],
        unread: Mapping[NamespacedName, ApiObject | None],
    ) -> Iterator[None]:
        """Store a complete list, yielding after each batch so that other tasks can run."""
        deleted = self._objects.keys() - unread.keys()
        if self._undecodable != unread.keys():
            self._undecodable = set(unread)
            self._changed(None)
        remaining = iter(objects)
        while batch := tuple(islice(remaining, BATCH_SIZE)):
            deleted.difference_update((o.metadata.namespace, o.metadata.name) for o in batch)
            for each in batch:
                self.upsert(kind, each)
            if len(batch) == BATCH_SIZE:
                yield
        for namespace, name in deleted:
            self.delete(kind, namespace, name)

    def upsert(self, kind: ResourceKind, new: ApiObject) -> None:
        """
        Store an object as the watch shows it.

        Only a change, or the end of being undecodable, notifies *changes*.
        """
        name = (new.metadata.namespace, new.metadata.name)
        was_unread = self._read_again(name)
        if isinstance(new, self._type) and (was_unread or self._objects.get(name) != new):
            self._objects[name] = new
            self._changed(name)

    def delete(self, kind: ResourceKind, namespace: str, name: str) -> None:
        """
        Remove an object.

        Its UID is remembered, so that a late answer to our own create does not bring it back.
        """
        was_unread = self._read_again((namespace, name))
        deleted = self._objects.pop((namespace, name), None)
        if deleted is not None:
            self._deleted_uids.append(deleted.metadata.uid)
        if deleted is not None or was_unread:
            self._changed((namespace, name))

    def mark_undecodable(
        self, kind: ResourceKind, namespace: str, name: str, stub: ApiObject | None
    ) -> None:
        """Mark an object whose newest version could not be decoded; nothing is written to it."""
        self._undecodable.add((namespace, name))
        self._changed((namespace, name))

    def set_watch_state(self, kind: ResourceKind, state: WatchState) -> None:
        """
        Record how the watch is; while objects are not served or were not listed, none are shown.
        """
        if state != self.watch_state:
            self.watch_state = state
            self._changed(None)

    # ------------------------------------------------------------ for the publisher

    def written(self, old: T, new: T) -> None:
        """
        Store an object as a write of ours returned it, unless the watch has shown a newer one.
        """
        name = (old.metadata.namespace, old.metadata.name)
        if self._objects.get(name) is old:
            self._objects[name] = new
            self._changed(name)

    def created(self, new: T) -> None:
        """
        Store an object that this process has created, unless the watch has shown it, or its end, already.
        """
        name = (new.metadata.namespace, new.metadata.name)
        if name not in self._objects and new.metadata.uid not in self._deleted_uids:
            self._objects[name] = new
            self._changed(name)

    def _read_again(self, name: NamespacedName) -> bool:
        """Unmark an object; returns whether its newest version could not be decoded until now."""
        if name not in self._undecodable:
            return False
        self._undecodable.remove(name)
        return True

    def _changed(self, name: NamespacedName | None) -> None:
        """Count a change of an object; None: of any of them."""
        self.revision += 1
        if name is None:
            self._recent.clear()
        else:
            self._recent.append(name)
        self.changes.notify()
