"""Conditions of an object's status (metav1.Condition, and the similar types of older APIs)."""

from collections.abc import Iterable
from typing import ClassVar

from reporter.model.kinds.base.api_struct import InterningApiStruct, Timestamp


class Condition(InterningApiStruct, frozen=True):
    """One condition; *status* is True, False or Unknown as text."""

    interned_fields: ClassVar[tuple[str, ...]] = (
        "type",
        "status",
        "reason",
        "message",
        "last_transition_time",
    )

    type: str
    status: str
    reason: str | None = ""
    message: str | None = ""
    last_transition_time: Timestamp | None = None
    observed_generation: int = 0


def find_condition(conditions: Iterable[Condition] | None, kind: str) -> Condition | None:
    """Return the first condition of this type, or None."""
    for each in conditions or ():
        if each.type == kind:
            return each
    return None
