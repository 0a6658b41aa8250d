"""
The conditions of API objects: how old, how current, and how to quote them.

Sources: Kubernetes API conventions (typical status properties) and metav1.Condition. Gateway API's
CRDs default to conditions with status Unknown and lastTransitionTime 1970-01-01T00:00:00Z.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from sys import intern
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from reporter.kinds.objects import ApiObject, Condition, Metadata
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import TroubleKind
from reporter.model.sanitize import sanitize, truncate_bytes
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.resources.check_result import CheckResult, Inconclusive
from reporter.snapshot.snapshot import Snapshot


# --------------------------------------------------------------------
# The results that an optional source adds to a verdict.
#
# The verdict must not get worse by switching a source on: what the source cannot tell never hides what
# is known without it.


def with_detail(
    results: Iterable[CheckResult | None],
    detail: Iterable[CheckResult | None],
    *,
    unwatched: str = "",
) -> Sequence[CheckResult]:
    """
    Add *detail* to *results*; beside known trouble, inconclusive detail is dropped.

    *unwatched*: why the source's kinds are not watched now, empty if they are. Trouble among the
    objects last seen may be over by then, so it counts as inconclusive.
    """
    known = [each for each in results if each is not None]
    added = [each for each in detail if each is not None]
    if added and unwatched:
        added = [Inconclusive(unwatched)]
    if any(isinstance(each, Trouble) for each in (*known, *added)):
        added = [each for each in added if isinstance(each, Trouble)]
    return [*known, *added]


# --------------------------------------------------------------------
# The existence of objects: being deleted, deleted while the reporter watched, or never seen.


T = TypeVar("T", bound=ApiObject)


def is_deleting(about: ApiObject) -> bool:
    """Return whether deletion was requested; finalizers may keep the object for a while."""
    return about.metadata.deletion_timestamp is not None


def exclude_deleting(objects: Iterable[T]) -> tuple[T, ...]:
    """Return the objects whose deletion was not requested, in the same order."""
    # Inlined `is_deleting`: a full pass comes here for each object of each subject.
    return tuple([each for each in objects if each.metadata.deletion_timestamp is None])


class Absence(Struct, frozen=True):
    """
    The absence of an object that something refers to.

    A reference to a deleted object worked once and is LOST; a reference to an object that was never
    seen is a mistake of whoever wrote it, and DECLARED.
    """

    was_deleted: bool

    @property
    def trouble_kind(self) -> TroubleKind:
        """The kind of a trouble that this absence is: LOST or DECLARED."""
        return TroubleKind.LOST if self.was_deleted else TroubleKind.DECLARED

    def describe(self, suggestion: str = "") -> str:
        """
        Return the half sentence for a message; *suggestion* follows only for a name never seen.
        """
        return "was deleted" if self.was_deleted else f"does not exist{suggestion}"


def absence_of(snapshot: Snapshot, ref: ObjectRef) -> Absence:
    """
    Return the absence of an object that the caller did not find.

    For a kind that does not track deletions it counts as never seen.
    """
    return Absence(was_deleted=ref in snapshot.deleted_uids)


MAX_REASON_BYTES = 100
"""
Limit of a quoted reason in bytes. Controllers choose reasons freely, so their length is not known.
"""

EPOCH_YEAR = 1970


def is_condition_true(condition: Condition | None) -> bool:
    """Return whether the status is True; False for Unknown and for None, a missing condition."""
    return condition is not None and condition.status == "True"


def transition_time(condition: Condition, meta: Metadata) -> datetime | None:
    """
    Return when a condition took its status; the creation of its object if it states no time.

    The time that the CRD's default carries (1970) is none.
    """
    changed = condition.last_transition_time
    return (
        changed if changed is not None and changed.year > EPOCH_YEAR else meta.creation_timestamp
    )


def check_observed_generation(
    condition: Condition | None, meta: Metadata, kind: str
) -> Inconclusive | None:
    """
    Return an inconclusive result for a condition of a *kind* that describes an older spec.

    Some controllers do not set observedGeneration. 0 therefore proves nothing, and the condition is
    taken as current.
    """
    if condition is None or not 0 < condition.observed_generation < meta.generation:
        return None
    name = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
    return Inconclusive(f"condition {condition.type} of {kind} {name} is older than its spec")


def check_observed_generations(
    conditions: Iterable[Condition | None], meta: Metadata, kind: str
) -> Inconclusive | None:
    """Return an inconclusive result for the first condition that describes an older spec."""
    for condition in conditions:
        stale = check_observed_generation(condition, meta, kind)
        if stale is not None:
            return stale
    return None


def reason_text(condition: Condition, default: str = "no reason given") -> str:
    """Return the reason of a condition, fit for a message."""
    return truncate_bytes(sanitize(condition.reason or ""), MAX_REASON_BYTES) or default


def describe_condition(condition: Condition) -> str:
    """Return a condition as ``Type=Status (Reason)``."""
    # Kept for each finding: one text for all of an outage.
    status = truncate_bytes(sanitize(condition.status), MAX_REASON_BYTES)
    return intern(f"{condition.type}={status} ({reason_text(condition)})")


def with_condition(trouble: Trouble, condition: Condition | None, meta: Metadata) -> Trouble:
    """
    Return a trouble with the time and the message of the condition that states it.

    Without a condition the object, whose metadata is *meta*, has been like this since its creation.
    """
    if condition is None:
        return replace(trouble, since=meta.creation_timestamp)
    return replace(
        trouble, since=transition_time(condition, meta), foreign_text=condition.message or ""
    )


def object_trouble(
    resource: ResourceKind,
    about: ApiObject,
    code: str,
    kind: TroubleKind,
    state: str,
    condition: Condition | None = None,
) -> Trouble:
    """
    Build the trouble of an object that is out; *condition* is the one that states it, if any does.
    """
    meta = about.metadata
    trouble = Trouble(
        cause=Cause(resource.ref_to(about), code),
        kind=kind,
        is_out=True,
        object_created_at=meta.creation_timestamp,
        message_fields={"object": f"{resource.kind} {meta.name}", "state": state},
    )
    return with_condition(trouble, condition, meta) if condition is not None else trouble
