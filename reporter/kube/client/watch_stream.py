"""
The lines of a watch, one JSON document each.
"""

from typing import Any

import aiohttp

from reporter.kube.wire.error_mapping import TRANSPORT_ERRORS, RequestInfo, transport_error
from reporter.kube.wire.errors import Unreachable


MAX_LINE_BYTES = 64 << 20
"""
Bytes; far above what etcd stores, since the server escapes some characters sixfold.
"""


class WatchStream:
    """
    Ends without an error when the server ends the stream or is silent for too long.

    *silent* tells the second from the first: the peer may be dead, or have nothing to say.
    """

    def __init__(self, asked: RequestInfo, response: Any) -> None:
        self._request = asked
        self._response = response
        self.idle_timed_out = False

    def __aiter__(self) -> "WatchStream":
        return self

    async def __anext__(self) -> bytes:
        line = await self._read_line()
        if not line:
            raise StopAsyncIteration
        if not line.endswith(b"\n"):
            raise Unreachable(self._request.operation, message="cut off in the middle of a line")
        return line

    async def _read_line(self) -> bytes:
        try:
            read: bytes = await self._response.content.readline(max_line_length=MAX_LINE_BYTES)
        except aiohttp.SocketTimeoutError:
            self.idle_timed_out = True
            return b""
        except TimeoutError:
            return b""
        except TRANSPORT_ERRORS as err:
            raise transport_error(self._request, err) from err
        return read
