"""Read the lines of a watch, each a JSON document."""

from typing import Any

import aiohttp

from reporter.kube.error_mapping import TRANSPORT_ERRORS, RequestInfo, transport_error
from reporter.kube.errors import Unreachable


MAX_LINE_BYTES = 64 << 20
"""
Far above the size of any object in etcd, as the server escapes some characters with six bytes.
"""


class WatchStream:
    """
    Iterates over the lines until the server ends the stream or the idle timeout passes.

    *idle_timed_out*: the idle timeout ended it; the peer may be dead, or have nothing to send.
    """

    def __init__(self, request: RequestInfo, response: Any) -> None:
        self._request = request
        self._response = response
        self.idle_timed_out = False

    def __aiter__(self) -> "WatchStream":
        return self

    async def __anext__(self) -> bytes:
        line = await self._read_line()
        if not line:
            raise StopAsyncIteration
        if not line.endswith(b"\n"):
            raise Unreachable(
                self._request.operation, message="the stream was cut off in the middle of a line"
            )
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
