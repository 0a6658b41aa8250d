"""A response whose body is read in the form that is needed; what goes wrong meanwhile is a KubeError."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta

import aiohttp

from reporter.kube.error_mapping import RequestInfo
from reporter.kube.errors import Unreachable
from reporter.kube.response_body import BodyTooLargeError, read_body
from reporter.kube.transport_errors import TRANSPORT_ERRORS, transport_error


MAX_ERROR_BODY_BYTES = 2**16
"""Bytes that are read of the body of an error."""

ERROR_BODY_TIMEOUT = timedelta(seconds=5)

MAX_LINE_BYTES = 64 << 20
"""
Far above the size of any object in etcd, as the server escapes some characters with six bytes.
"""


class WatchStream:
    """
    Iterates over the lines until the server ends the stream or the idle timeout passes.

    Raises Unreachable for a stream that breaks off.

    *idle_timed_out*: the idle timeout ended it; the peer may be dead, or have nothing to send.
    """

    def __init__(self, request: RequestInfo, response: aiohttp.ClientResponse) -> None:
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
            return await self._response.content.readline(max_line_length=MAX_LINE_BYTES)
        except aiohttp.SocketTimeoutError:
            self.idle_timed_out = True
            return b""
        except TimeoutError:
            return b""
        except TRANSPORT_ERRORS as err:
            raise transport_error(self._request, err) from err


class ReceivedResponse:
    """A response whose body one of the methods reads, once. Header names are case-insensitive."""

    def __init__(self, request: RequestInfo, response: aiohttp.ClientResponse) -> None:
        self._request, self._response = request, response
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers

    async def read(self, max_bytes: int | None) -> bytes:
        """Return the body. Raises Unreachable for one with more than *max_bytes*, or that is cut off."""
        try:
            return await read_body(self._response, max_bytes)
        except BodyTooLargeError as err:
            text = f"the response has {err}"
            raise Unreachable(
                self._request.operation, status=self.status, message=text, may_have_applied=True
            ) from err
        except TRANSPORT_ERRORS as err:
            raise transport_error(self._request, err) from err

    async def read_beginning(self) -> bytes:
        """Return the beginning of an error's body, without waiting long for the rest."""
        content, read = self._response.content, b""
        try:
            async with asyncio.timeout(ERROR_BODY_TIMEOUT.total_seconds()):
                while len(read) < MAX_ERROR_BODY_BYTES and not content.at_eof():
                    read += await content.read(MAX_ERROR_BODY_BYTES)
        except TRANSPORT_ERRORS:
            pass
        return read

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body as they arrive. Raises Unreachable if it breaks off."""
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except TRANSPORT_ERRORS as err:
            raise transport_error(self._request, err) from err

    def lines(self) -> WatchStream:
        """Return the lines of the body as they arrive."""
        return WatchStream(self._request, self._response)
