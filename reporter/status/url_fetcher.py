"""Reach a reporter by the address of its status page."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from ipaddress import ip_address
from typing import TypeAlias
from urllib.parse import urlsplit

import aiohttp

from reporter.kube.connections import user_agent
from reporter.kube.open_sockets import OpenSockets
from reporter.kube.plain_text import clean
from reporter.kube.response_body import BodyTooLargeError, read_body
from reporter.kube.tls import verifying_context
from reporter.kube.transport_errors import TRANSPORT_ERRORS
from reporter.settings.errors import ConfigurationError
from reporter.status.http_source import MAX_BYTES, PATH, Fetched
from reporter.status.source import StatusQueryFailed


FORWARD = "kubectl port-forward -n NAMESPACE deployment/NAME 8082"

LoadAuthorization: TypeAlias = Callable[[], Awaitable[str]]
"""
Returns the value of the header Authorization; empty without a token. Raises ConfigurationError.
"""


async def no_authorization() -> str:
    """Return the empty text: no token is sent, so a reporter that asks for one cannot be asked."""
    return ""


class UrlFetcher:
    """
    Asks a reporter or a hub at a URL; follows no redirect, and sends a token only if it is asked for one.

    *load_authorization*: loads the token of the user. It is sent over https, or to an address of this
    machine, where kubectl port-forward listens: nobody can read it on its way there.
    """

    def __init__(self, url: str, load_authorization: LoadAuthorization = no_authorization) -> None:
        self._base = url.rstrip("/").removesuffix(PATH)
        self.description = f"the reporter at {self._base}"
        self._load_authorization, self._authorization = load_authorization, ""
        self._sockets = OpenSockets()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                ssl=verifying_context() if self._base.startswith("https:") else True,
                socket_factory=self._sockets.open,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": user_agent()},
        )

    async def fetch(
        self,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: Mapping[str, str],
        time_limit: timedelta,
    ) -> Fetched:
        """
        Send one GET, and with the user's token again if the answer is 401.

        Raises StatusQueryFailed without an answer in time, for a token that is refused or missing, and for an
        address to which a token would travel over plain HTTP.
        """
        fetched = await self._send(path, query, headers, time_limit)
        if fetched.status != HTTPStatus.UNAUTHORIZED:
            return fetched
        await self._find_authorization()
        fetched = await self._send(path, query, headers, time_limit)
        if fetched.status == HTTPStatus.UNAUTHORIZED:
            raise StatusQueryFailed(
                f"{self._base} refuses the token of the kubeconfig; kubectl auth whoami shows whose it"
                " is, and another one may be named with --kubeconfig or --context"
            )
        return fetched

    async def _find_authorization(self) -> None:
        """Load the token, again if it was loaded before: it may have expired."""
        if not _is_private(self._base):
            raise StatusQueryFailed(
                f"{self._base} asks for a token, which is not sent over plain HTTP through a network;"
                f" use https, or {FORWARD}"
            )
        try:
            self._authorization = await self._load_authorization()
        except ConfigurationError as err:
            raise StatusQueryFailed(f"{self._base} asks for a token: {err}") from err
        if not self._authorization:
            raise StatusQueryFailed(
                f"{self._base} asks for a token, and the user of the kubeconfig has none; name one"
                " that has with --kubeconfig or --context, as of a service account with kubectl create"
                " token"
            )

    async def _send(
        self,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: Mapping[str, str],
        time_limit: timedelta,
    ) -> Fetched:
        timeout = aiohttp.ClientTimeout(total=time_limit.total_seconds())
        own = {"Authorization": self._authorization} if self._authorization else {}
        try:
            async with self._session.get(
                self._base + path,
                params=query,
                headers={**headers, **own},
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                body = await read_body(response, MAX_BYTES)
                return Fetched(response.status, response.headers, body)
        except BodyTooLargeError as err:
            raise StatusQueryFailed(f"{self._base}: the answer has {err}") from err
        except TRANSPORT_ERRORS as err:
            why = "no answer in time" if isinstance(err, TimeoutError) else clean(str(err))
            raise StatusQueryFailed(
                f"{self._base} cannot be read: {why or type(err).__name__};"
                f" is {FORWARD} running, and is this its address?",
                may_pass=True,
            ) from err

    async def close(self) -> None:
        """Close the HTTP session with its connections."""
        await self._session.close()
        await self._sockets.close()


def _is_private(url: str) -> bool:
    """Return whether nobody can read on the way to a URL."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return True
    try:
        return ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return parts.hostname == "localhost"
