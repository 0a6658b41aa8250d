"""The subjects to evaluate again after one object has changed."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.subjects import Subject
from reporter.store.table import Table


# --------------------------------------------------------------------
# The subjects whose objects have changed since they were last taken.


class DirtySubjects:
    def __init__(self) -> None:
        self._subjects: set[Subject] = set()
        self._on_change: Callable[[], None] = lambda: None

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call *on_change* after each change from now on; it must be quick."""
        self._on_change = on_change

    def mark(self, *subjects: Iterable[Subject]) -> None:
        for each in subjects:
            self._subjects.update(each)
        self._on_change()

    def take(self) -> frozenset[Subject]:
        """Return the subjects that were marked since the last call."""
        taken = frozenset(self._subjects)
        self._subjects.clear()
        return taken


def affected_subjects(
    kind: ResourceKind,
    tables: Mapping[str, Table],
    *,
    old: ApiObject | None,
    new: ApiObject | None,
) -> Iterator[Iterable[Subject]]:
    """Yield the subjects whose probes may read the object, as it was or as it is."""
    has_same_identity = has_same_subjects = False
    if old is not None and new is not None:
        has_same_identity = _has_same_identity(old, new)
        has_same_subjects = has_same_identity and _has_same_references(old, new)
    # Most changes are of a status alone: the old version affects what the new one does.
    for each in (new,) if has_same_subjects else (old, new):
        if each is not None:
            yield kind.affects(each)
            if not has_same_identity:
                yield kind.affects_by_identity(each)
            for resource, key_of in kind.referrers:
                table = tables.get(resource)
                if table is not None:
                    yield from map(table.kind.affects, table.index.get(key_of(each)) or ())


def _has_same_identity(old: ApiObject, new: ApiObject) -> bool:
    a, b = old.metadata, new.metadata
    return a.labels == b.labels and a.deletion_timestamp == b.deletion_timestamp


def _has_same_references(old: ApiObject, new: ApiObject) -> bool:
    """Compare what `ResourceKind.affects` and `referrers` may read besides name and labels."""
    return old.metadata.owner_references == new.metadata.owner_references and (
        getattr(old, "spec", None) == getattr(new, "spec", None)
    )
