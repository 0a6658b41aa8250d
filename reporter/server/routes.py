"""
Find the handler of a request by its path.

The low-level server of aiohttp, which is used here, has no routes. Its applications have them, beside files,
websockets and a command line, which `aiohttp.web` loads: 1.3 MiB. So what is needed is imported from its modules.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

from aiohttp import hdrs
from aiohttp.web_request import BaseRequest
from aiohttp.web_response import Response, StreamResponse


METHODS = (hdrs.METH_GET, hdrs.METH_HEAD)

_PLACEHOLDER = re.compile(r"\{(\w+)(:\.\+)?\}")


class RoutedRequest(BaseRequest):
    """
    A request with what its path says.

    *match_info*: the values of the placeholders. *served_path*: the path of what is served, however it was
    written: a name may be sent with needless percent-encoding, and one with a slash must not look like two.
    """

    # Others may not be set (aiohttp/web_request.py).
    ATTRS = BaseRequest.ATTRS | frozenset({"match_info", "served_path"})

    match_info: Mapping[str, str] = MappingProxyType({})
    served_path: str = ""


Handler: TypeAlias = Callable[[RoutedRequest], Awaitable[StreamResponse]]


class _Route(NamedTuple):
    pattern: re.Pattern[str]
    template: str
    show: Handler


class Routes:
    """
    The handlers of one address, by the templates of their paths.

    ``{name}`` in a template stands for one segment, ``{name:.+}`` for what is left of the path.
    """

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._routes = [
            _Route(_compile(template), _PLACEHOLDER.sub(r"{\1}", template), show)
            for template, show in handlers.items()
        ]

    async def respond(self, request: RoutedRequest) -> StreamResponse:
        """Answer by the handler of the path; 404 without one, 405 for a method that changes something."""
        path = request.rel_url.path_safe
        for pattern, template, show in self._routes:
            match = pattern.fullmatch(path)
            if match is None:
                continue
            if request.method not in METHODS:
                allowed = {hdrs.ALLOW: ",".join(METHODS)}
                return Response(status=405, text="405: Method Not Allowed", headers=allowed)
            found = {name: _decode_rest(value) for name, value in match.groupdict().items()}
            quoted = {name: quote(value, safe="") for name, value in found.items()}
            request.match_info, request.served_path = found, template.format_map(quoted)
            return await show(request)
        return Response(status=404, text="404: Not Found")


def _compile(template: str) -> re.Pattern[str]:
    pattern, end = "", 0
    for each in _PLACEHOLDER.finditer(template):
        value = ".+" if each[2] else "[^{}/]+"
        pattern += f"{re.escape(template[end : each.start()])}(?P<{each[1]}>{value})"
        end = each.end()
    return re.compile(pattern + re.escape(template[end:]))


def _decode_rest(value: str) -> str:
    """Decode what a path still has encoded, so that no name ends at a slash of its own (yarl, path_safe)."""
    return value.replace("%2F", "/").replace("%25", "%")
