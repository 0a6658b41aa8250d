"""The failures of a request to write an object, as metrics count them."""

from enum import StrEnum, unique

from reporter.kube.errors import (
    Conflict,
    Invalid,
    KubeError,
    NotFound,
    Refused,
    Throttled,
    Unserved,
)


@unique
class WriteFailure(StrEnum):
    """The results that are failures; those of each kind of object have the same values."""

    CONFLICT = "conflict"
    GONE = "gone"
    INVALID = "invalid"
    REFUSED = "refused"
    THROTTLED = "throttled"
    FAILED = "failed"


def failure_of(err: KubeError) -> WriteFailure:
    match err:
        case Conflict():
            return WriteFailure.CONFLICT
        case NotFound() | Unserved():
            return WriteFailure.GONE
        case Invalid():
            return WriteFailure.INVALID
        case Refused():
            return WriteFailure.REFUSED
        case Throttled():
            return WriteFailure.THROTTLED
        case _:
            return WriteFailure.FAILED
