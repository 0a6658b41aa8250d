"""
The lines of a watch, one JSON document each.
"""

from typing import Any

import aiohttp

from reporter.kube.errors import Unreachable
from reporter.kube.translation import TRANSPORT_FAILURES, Asked, no_answer


LONGEST_LINE = 64 << 20
"""
Bytes; far above what etcd stores, since the server escapes some characters sixfold.
"""


class Lines:
    """
    Ends without an error when the server ends the stream or is silent for too long.

    *silent* tells the second from the first: the peer may be dead, or have nothing to say.
    """

    def __init__(self, asked: Asked, response: Any) -> None:
        self._asked = asked
        self._response = response
        self.silent = False

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> bytes:
        line = await self._line()
        if not line:
            raise StopAsyncIteration
        if not line.endswith(b"\n"):
            raise Unreachable(self._asked.doing, message="cut off in the middle of a line")
        return line

    async def _line(self) -> bytes:
        try:
            read: bytes = await self._response.content.readline(max_line_length=LONGEST_LINE)
        except aiohttp.SocketTimeoutError:
            self.silent = True
            return b""
        except TimeoutError:
            return b""
        except TRANSPORT_FAILURES as err:
            raise no_answer(self._asked, err) from err
        return read
