"""
Errors of the API server, classified by what to do next; callers never look at a status code.

* KubeError
  - Expired      the resourceVersion or continue token has expired: list again (410)
  - Conflict     someone else wrote first, or it already exists: read again (409)
  - NotFound     the object is not there (404)
  - Unserved     the resource itself is not served (404 page not found)
  - Refused      permission or credentials are missing, or admission refuses: a human must act
                 (401, 403, any code of a webhook or an admission policy)
  - Invalid      our own fault: the server will never accept this (400, 405, 406, 413, 415, 422)
  - Throttled    too many requests: wait as long as Retry-After says (429)
  - Unreachable  no usable response: wait and try again (5xx, network, not an API response)
"""

from datetime import timedelta
from enum import StrEnum, unique


class KubeError(Exception):
    """
    A failed request. *operation*: what it did, as "list pods". *status*: 0 without a response.

    *is_from_api_server*: the response was a Status, which proxies and load balancers do not send.
    *retry_after*: how long the server asks to wait (Retry-After); None if it does not say.
    """

    is_from_api_server = False

    def __init__(
        self,
        operation: str,
        *,
        status: int = 0,
        message: str = "",
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(operation, status, message)
        self.operation = operation
        self.status = status
        self.message = message
        self.retry_after = retry_after

    def __str__(self) -> str:
        number = f"HTTP {self.status}" if self.status else ""
        return ": ".join(part for part in (self.operation, number, self.message) if part)

    @property
    def why(self) -> str:
        """The text without the operation: the message, or else the status, or the name of the class."""
        return self.message or (f"HTTP {self.status}" if self.status else type(self).__name__)


class Expired(KubeError):
    """The resourceVersion or continue token is too old (410): list again."""


class Conflict(KubeError):
    """Someone else wrote first, or the object exists already (409): read again before the next try."""


class NotFound(KubeError):
    """The object is not there (404), while its resource is served."""


class Unserved(KubeError):
    """
    The resource itself is not served in this version (404 with "page not found" in place of a Status).
    """


class Invalid(KubeError):
    """
    The server will never accept this request (400, 405, 406, 413, 415, 422), so it is not repeated.
    """


class Refused(KubeError):
    """
    A permission is missing, credentials are, or admission refuses: a human must act.

    *missing_permission*: as "list deployments.apps"; empty if the cause is not RBAC.
    *is_forbidden*: the API server itself answered 403, with a Status; a proxy did not.
    """

    def __init__(
        self,
        operation: str,
        *,
        status: int = 0,
        message: str = "",
        missing_permission: str = "",
        is_forbidden: bool = False,
    ) -> None:
        super().__init__(operation, status=status, message=message)
        self.missing_permission = missing_permission
        self.is_forbidden = is_forbidden


class Throttled(KubeError):
    """Too many requests (429): wait before the next one."""


class Unreachable(KubeError):
    """
    No usable response: a 5xx, a failure of the network, or no answer of an API server. Try again later.

    *may_have_applied*: the request may have been carried out all the same.
    """

    def __init__(
        self,
        operation: str,
        *,
        status: int = 0,
        message: str = "",
        retry_after: timedelta | None = None,
        may_have_applied: bool = False,
    ) -> None:
        super().__init__(operation, status=status, message=message, retry_after=retry_after)
        self.may_have_applied = may_have_applied


# --------------------------------------------------------------------
# The failures of a request to write an object, as metrics count them.


@unique
class WriteFailure(StrEnum):
    """The label values with which metrics count failed writes, the same for each kind of object."""

    CONFLICT = "conflict"
    GONE = "gone"
    INVALID = "invalid"
    REFUSED = "refused"
    THROTTLED = "throttled"
    FAILED = "failed"


def failure_of(err: KubeError) -> WriteFailure:
    """
    Return the result by which metrics count a failed write; FAILED for all without a class of its own.
    """
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
