"""
The subjects to evaluate again after one object has changed.
"""

from collections.abc import Iterable, Iterator, Mapping

from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject
from reporter.stages.store.table import Table


def affected_subjects(
    kind: ResourceKind,
    tables: Mapping[str, Table],
    *,
    old: ApiObject | None,
    new: ApiObject | None,
) -> Iterator[Iterable[Subject]]:
    """
    Yield the subjects whose probes may read the object, as it was or as it is.
    """
    is_same = old is not None and new is not None and _identity(old) == _identity(new)
    for each in (old, new):
        if each is not None:
            yield kind.affects(each)
            if not is_same:
                yield kind.affects_by_identity(each)
            if kind.referrers:
                yield from _subjects_of_referrers(kind, tables, each)


def _subjects_of_referrers(
    kind: ResourceKind, tables: Mapping[str, Table], about: ApiObject
) -> Iterator[Iterable[Subject]]:
    for resource, key_of in kind.referrers:
        table = tables.get(resource)
        if table is not None:
            for referrer in table.index.get(key_of(about)) or ():
                yield table.kind.affects(referrer)


def _identity(about: ApiObject) -> object:
    return (about.metadata.labels, about.metadata.deletion_timestamp)
