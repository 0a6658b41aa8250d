"""
The conditions of API objects: how old, how current, and how to quote them.

Sources: Kubernetes API conventions (typical status properties) and metav1.Condition. Gateway API's
CRDs default to conditions with status Unknown and lastTransitionTime 1970-01-01T00:00:00Z.
"""

from collections.abc import Iterable
from datetime import datetime
from sys import intern

from msgspec.structs import replace

from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.base.objects import Metadata
from reporter.model.verdicts import Trouble
from reporter.stages.resources.check_result import Inconclusive
from reporter.stages.text.sanitize import sanitize, truncate_bytes


MAX_REASON_BYTES = 100
"""
Limit of a quoted reason in bytes. Controllers choose reasons freely, so their length is not known.
"""

EPOCH_YEAR = 1970


def is_condition_true(condition: Condition | None) -> bool:
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
