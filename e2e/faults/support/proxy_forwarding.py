"""The parts of a message that a proxy forwards, and the pieces in which it reads them."""

from collections.abc import Mapping

import aiohttp
from aiohttp import web


_LONGEST_LINE = 64 << 20
_NOT_PASSED_ON = {"host", "connection", "content-length", "transfer-encoding", "content-encoding"}
"""Headers that belong to one of the two connections and not to the message."""


async def read_piece(answer: aiohttp.ClientResponse, request: web.BaseRequest) -> bytes:
    """Return a line of a watch, or the whole of another body."""
    if "watch" in request.query:
        return await answer.content.readline(max_line_length=_LONGEST_LINE)
    return await answer.content.read()


def forwarded_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _NOT_PASSED_ON}
