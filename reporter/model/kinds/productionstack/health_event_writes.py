"""The limits of the HealthEvent store, and the closed sets of what becomes of its writes."""

from datetime import timedelta
from enum import StrEnum, unique

from msgspec import Struct


CAPACITY_PROBE = "store-room"
"""
The probe of the episodes that have no place. Its own are not kept: they would take the place.
"""


@unique
class StoreLimit(StrEnum):
    """The limit that an object had no place under."""

    NODE = "node"
    CLUSTER = "cluster"


@unique
class StoreWriteResult(StrEnum):
    """The result of one request to create, patch or delete a HealthEvent."""

    CREATED = "created"
    FOUND = "found"  # it existed: an earlier create had arrived, or a predecessor's
    PATCHED = "patched"
    DELETED = "deleted"
    CONFLICT = "conflict"  # somebody changed it meanwhile; looked at again
    GONE = "gone"  # the object or its CRD was deleted
    REFUSED = "refused"  # by permissions, a quota or admission; retried
    THROTTLED = "throttled"
    FAILED = "failed"
    INVALID = "invalid"  # the CRD does not allow it: it is of another release, or this has a fault


class StoreLimits(Struct, frozen=True):
    """*retention*: how long an object is kept after the end of its episode."""

    per_node: int = 50
    total: int = 1000
    retention: timedelta = timedelta(days=1)
