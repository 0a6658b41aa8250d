"""
Refuse browsers that the name of a foreign site leads to a loopback address.

No response allows another origin, so no page of a foreign site can read one. But that site may let
its own name resolve to 127.0.0.1, where a user forwards a port to the reporter (DNS rebinding): then
both are one origin to the browser. The Host header still has the name, so kubectl proxy checks it as
well (k8s.io/kubectl, pkg/proxy, DefaultHostAcceptRE).

Only what arrives at a loopback address is checked, as requests through kubectl port-forward do. At
other addresses proxies arrive, of the API server for one, with any name.
"""

from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from aiohttp import hdrs
from aiohttp.web_response import StreamResponse

from reporter.model.status_document import SCHEMA_VERSION, StatusError
from reporter.server.responses import error_response
from reporter.server.routes import Handler, RoutedRequest


LOCALHOST = "localhost"

REFUSAL = StatusError(
    schema=SCHEMA_VERSION,
    error="the Host header has a name that is not localhost",
    remedy="Use http://localhost or the IP address. A request that arrives at a loopback address must"
    " not have another name, as any web site could have led a browser here by its own.",
)


def refuse_foreign_names(show: Handler) -> Handler:
    """
    Return a handler that answers 403 for a foreign Host header at a loopback address, else as *show*.

    Requests at other addresses are not checked.
    """

    async def show_checked(request: RoutedRequest) -> StreamResponse:
        if _is_at_loopback(request) and is_foreign(request.headers.get(hdrs.HOST, "")):
            return error_response(HTTPStatus.FORBIDDEN, REFUSAL)
        return await show(request)

    return show_checked


def is_foreign(host: str) -> bool:
    """
    Return whether a Host header has a name that its owner may let resolve to any address.

    An address is no name. Browsers resolve localhost and what is below it themselves (RFC 6761,
    6.3). A request without the header is of no browser, as these always send it.
    """
    if not host:
        return False
    try:
        name = (urlsplit(f"//{host}").hostname or "").removesuffix(".")
        if name == LOCALHOST or name.endswith(f".{LOCALHOST}"):
            return False
        ip_address(name)
    except ValueError:
        return True
    return False


def _is_at_loopback(request: RoutedRequest) -> bool:
    own = request.transport.get_extra_info("sockname") if request.transport is not None else None
    return isinstance(own, tuple) and is_loopback(own[0])


def is_loopback(address: str) -> bool:
    """
    Return whether only this machine, or in a pod this pod, reaches an IP address. ValueError if it is none.
    """
    found = ip_address(address)
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return (mapped or found).is_loopback
