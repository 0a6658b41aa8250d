"""The parts of a request beside its method and URL."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec import Struct

from reporter.kube.decoding import Json


class RequestOptions(Struct, frozen=True):
    """
    The headers, body and timeouts of a request.

    *body*: is encoded by the transport and nowhere else. *time_limit*: for the whole response; None
    without one. *header_timeout*: how long the response may take to begin. *idle_timeout*: the longest
    pause in its body; None without one. *from_pod*: a pod determines the response.
    """

    headers: Mapping[str, str]
    body: Json | None
    time_limit: timedelta | None
    header_timeout: timedelta
    idle_timeout: timedelta | None = None
    from_pod: bool = False
