"""
Reach a reporter by the address of its status page.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import aiohttp

from reporter.kube.client.connections import user_agent
from reporter.kube.wire.error_mapping import TRANSPORT_ERRORS
from reporter.kube.wire.plain_text import clean
from reporter.runtime.status.reporter import MAX_BYTES, PATH, Fetched
from reporter.runtime.status.source import CannotAsk


FORWARD = "kubectl port-forward -n NAMESPACE deployment/NAME 8082"


class UrlFetcher:
    """
    Sends no credentials, and follows no redirect.
    """

    def __init__(self, url: str) -> None:
        self._base = url.rstrip("/").removesuffix(PATH)
        self.description = f"the reporter at {self._base}"
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(), headers={"User-Agent": user_agent()}
        )

    async def fetch(
        self,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: Mapping[str, str],
        time_limit: timedelta,
    ) -> Fetched:
        timeout = aiohttp.ClientTimeout(total=time_limit.total_seconds())
        try:
            async with self._session.get(
                self._base + path,
                params=query,
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                body = await self._read(response)
                return Fetched(response.status, response.headers, body)
        except TRANSPORT_ERRORS as err:
            why = "no answer in time" if isinstance(err, TimeoutError) else clean(str(err))
            raise CannotAsk(
                f"{self._base} cannot be read: {why or type(err).__name__};"
                f" is {FORWARD} running, and is this its address?",
                may_pass=True,
            ) from err

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > MAX_BYTES:
                raise CannotAsk(f"{self._base}: the answer has more than {MAX_BYTES} bytes")
        return bytes(body)

    async def close(self) -> None:
        await self._session.close()
