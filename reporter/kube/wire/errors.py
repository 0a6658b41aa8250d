"""
What can go wrong with the API server, by what to do next; callers never look at a number.

* KubeError
  - Expired      the version to watch from or to continue at is gone: list again (410)
  - Conflict     someone else wrote first, or it already exists: read again (409)
  - NotFound     the object is not there (404)
  - Unserved     the resource itself is not served (404 page not found)
  - Refused      we may not: a human must act (401, 403)
  - Invalid      our own fault: the server will never take this (400, 405, 415, 422)
  - Throttled    too many requests (429)
  - Unreachable  no usable answer: wait and try again (5xx, network, text that is no API answer)
"""

from datetime import timedelta


class ConfigurationError(Exception):
    """
    How to reach the cluster is not known or not usable; the text says what to do.
    """


class KubeError(Exception):
    """
    *doing* is what was tried, as "list pods"; *status* is 0 without an HTTP answer.
    """

    def __init__(self, doing: str, *, status: int = 0, message: str = "") -> None:
        super().__init__(doing, status, message)
        self.operation = doing
        self.status = status
        self.message = message

    def __str__(self) -> str:
        number = f"HTTP {self.status}" if self.status else ""
        return ": ".join(part for part in (self.operation, number, self.message) if part)

    @property
    def why(self) -> str:
        """
        The text without what was tried.
        """
        return self.message or (f"HTTP {self.status}" if self.status else type(self).__name__)


class Expired(KubeError): ...


class Conflict(KubeError): ...


class NotFound(KubeError): ...


class Unserved(KubeError): ...


class Invalid(KubeError): ...


class Refused(KubeError):
    """
    *missing_right* is "list deployments.apps", or empty when rights are not what is missing.
    """

    def __init__(
        self, doing: str, *, status: int = 0, message: str = "", missing_permission: str = ""
    ) -> None:
        super().__init__(doing, status=status, message=message)
        self.missing_permission = missing_permission


class Throttled(KubeError):
    def __init__(
        self,
        doing: str,
        *,
        status: int = 0,
        message: str = "",
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(doing, status=status, message=message)
        self.retry_after = retry_after


class Unreachable(KubeError):
    """
    *arrived*: the request may have been carried out, although no usable answer came.
    """

    def __init__(
        self,
        doing: str,
        *,
        status: int = 0,
        message: str = "",
        retry_after: timedelta | None = None,
        may_have_applied: bool = False,
    ) -> None:
        super().__init__(doing, status=status, message=message)
        self.retry_after = retry_after
        self.may_have_applied = may_have_applied
