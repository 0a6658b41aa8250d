"""The observations of a predecessor of this process, brought into the tables."""

from collections.abc import Collection, Iterator, Mapping

from reporter.model.enums import Reason
from reporter.model.observations import CRDS_RESOURCE
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.store.table import Table
from reporter.store.watch_states import CRDPresences


def record_deleted_before(
    tables: Mapping[str, Table], presences: CRDPresences, refs: Collection[ObjectRef]
) -> frozenset[ObjectRef]:
    """
    Mark as deleted each object that a predecessor saw and that is not stored now.

    Mark its CRDs as once served. Return the missing objects.
    """
    by_resource = _by_resource(tables)
    missing: set[ObjectRef] = set()
    for ref in refs:
        table, name = by_resource.get(ref.resource), (ref.namespace, ref.name)
        if table is not None and table.objects.get(name) is None:
            table.record_deletion(name, table.deleted_uids.get(ref, ""))
            missing.add(ref)
    presences.remember_served({ref.name for ref in refs if ref.resource == CRDS_RESOURCE})
    return frozenset(missing)


def record_current_before(
    tables: Mapping[str, Table], lost: Mapping[ObjectRef, frozenset[Reason]]
) -> Iterator[Subject]:
    """Record that objects were current. Yields the subjects whose verdict may change by it."""
    by_resource = _by_resource(tables)
    for ref, reasons in lost.items():
        table = by_resource.get(ref.resource)
        if table is not None:
            found = table.record_current_before((ref.namespace, ref.name), reasons)
            yield from table.kind.affects(found) if found is not None else ()


def _by_resource(tables: Mapping[str, Table]) -> Mapping[str, Table]:
    """Return the tables by the name of their kind in an ObjectRef."""
    return {table.kind.watch_name: table for table in tables.values()}
