"""
The trouble of an object that is needed and does not exist.

A stack of which nothing is installed needs no controller. So an object is needed while there are
objects of other kinds, and its absence alone is no trouble.
"""

from datetime import datetime

from reporter.cel.parameters import CelReason, ReadKind
from reporter.kinds.objects import NamespacedName
from reporter.kinds.resource_kind import ResourceKind, parse_fields
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.resources.check_result import CheckResult, Inconclusive, check_served
from reporter.resources.conditions import Absence
from reporter.snapshot.snapshot import Snapshot


NAME = "metadata.name"
CODE = "Deleted"


def check_needed(snapshot: Snapshot, reason: CelReason, *, now: datetime) -> CheckResult | None:
    """
    Return the trouble that there is no object of the reason's kind; None if none is needed.

    One that was never seen may have another name or run outside of the cluster, so that is unknown.
    """
    whys = [_why_not_needed(snapshot, each.watched, now=now) for each in reason.needed_by]
    if None not in whys:
        return next((Inconclusive(why) for why in whys if why), None)
    last = _last_known(snapshot, reason.kind.watched)
    if last is not None:
        return _missing_trouble(reason.kind, last)
    return Inconclusive(
        f"{_describe(reason.kind)} does not exist; if something else does its work, set neededBy to []"
        " for this reason in an overlay"
    )


def _why_not_needed(snapshot: Snapshot, kind: ResourceKind, *, now: datetime) -> str | None:
    """
    Return None if there is an object of the kind, else why that is not known; empty if there is none.
    """
    not_served = check_served(snapshot, kind)
    is_undecodable = any(ref.resource == kind.watch_name for ref in snapshot.undecodable)
    has_any = is_undecodable or len(snapshot.tables[kind.table].objects) > 0
    if not_served is not None:
        # Its objects are forgotten once a second discovery confirms that it is gone.
        return not_served.why if has_any else ""
    why = snapshot.why_unknown(kind, now=now)
    return why or (None if has_any else "")


def _missing_trouble(kind: ReadKind, last: NamespacedName) -> Trouble:
    absence, labels = Absence(was_deleted=True), kind.watched.label_selector
    state = absence.describe()
    if labels:
        state += f" or no longer has {labels}"  # which a watch shows as a deletion too
    namespace, name = last
    return Trouble(
        cause=Cause(ObjectRef(kind.declared.group_resource, namespace, name), CODE),
        kind=absence.trouble_kind,
        is_out=True,
        message_fields={
            "object": f"{kind.declared.kind} {'/'.join(filter(None, last))}",
            "name": name,
            "state": state,
            "count": "1 of 1",
        },
        foreign_text=f"it {state}",
    )


def _last_known(snapshot: Snapshot, kind: ResourceKind) -> NamespacedName | None:
    """
    Return the object that is being deleted, or was deleted as the last one; None if none was seen.
    """
    deleting = sorted(snapshot.tables[kind.table].objects.keys())
    deleted = [
        (r.namespace, r.name) for r in snapshot.deleted_uids if r.resource == kind.watch_name
    ]
    return next(iter([*deleting, *reversed(deleted)]), None)


def _describe(kind: ReadKind) -> str:
    """Return the kind and what its selectors limit it to: ``Deployment team-a/operator``."""
    fields = parse_fields(kind.watched.field_selector)
    name = next((r.value for r in fields if r.field == NAME and r.wanted), "")
    labels = kind.watched.label_selector
    shown = "/".join(filter(None, (kind.watched.namespace, name))) or (labels and f"with {labels}")
    return f"{kind.declared.kind} {shown}".rstrip()
