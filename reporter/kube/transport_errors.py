"""The exceptions of aiohttp and of sockets without a response, and the KubeError that they are mapped to."""

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from reporter.kube.error_mapping import RequestInfo
from reporter.kube.errors import Unreachable
from reporter.kube.plain_text import clean


TRANSPORT_ERRORS = (
    aiohttp.ClientError,
    HttpProcessingError,
    TimeoutError,
    OSError,  # ssl.SSLError is one
    ValueError,  # raised for header values and URLs that cannot be sent
)

_NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
    ValueError,
)


def transport_error(request: RequestInfo, err: BaseException) -> Unreachable:
    """
    Map a failure without a response, one of TRANSPORT_ERRORS, to Unreachable.

    *may_have_applied* is False only for a request that was never sent.
    """
    sent = not isinstance(err, _NEVER_SENT)
    if isinstance(err, TimeoutError):
        message = "timed out" if sent else "connecting timed out"
    else:
        message = clean(str(err)) or type(err).__name__
    return Unreachable(request.operation, message=message, may_have_applied=sent)
