"""Hold the HTTP session to the API server, and replace it when certificates on disk change."""

import asyncio
import logging
import os
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeAlias

import aiohttp
from aiohttp.connector import Connection

from reporter import PROGRAM_NAME, PROGRAM_VERSION
from reporter.kube.open_sockets import OpenSockets
from reporter.kube.rest_config import RestConfig
from reporter.kube.tls import verifying_context
from reporter.settings.errors import ConfigurationError


MAX_CONNECTIONS = 128
"""Each watch holds one. It must exceed the number of kinds by some dozens for other requests."""

READ_BUFFER_BYTES = 2**21
"""Large enough that most lines of a watch are read in one step."""

TLS_BUFFER_BYTES = 2**16
"""
The most bytes that asyncio reads from a TLS connection at a time. It keeps a buffer of that size for each
one, by default 256 KiB, and each watch holds a connection.
"""

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

FileStamps: TypeAlias = tuple[tuple[int, int, int] | None, ...]

logger = logging.getLogger(__name__)


def user_agent() -> str:
    """Return the User-Agent of all requests, as "name/version"."""
    return f"{PROGRAM_NAME}/{PROGRAM_VERSION}"


class ConnectedResponse(aiohttp.ClientResponse):
    """
    A response that keeps which connection it came from, after the connection is released.

    It keeps our address, because the peer's is often that of a load balancer.
    """

    local_address: Any = None

    async def start(self, connection: Connection) -> "ConnectedResponse":
        """Note our address of the connection, then read the head of the response as aiohttp does."""
        if connection.transport is not None:
            self.local_address = connection.transport.get_extra_info("sockname")
        await super().start(connection)
        return self


class _SharedSession:
    """A session that is closed when it is retired and no request uses it."""

    def __init__(self, config: RestConfig, stamps: FileStamps, sockets: OpenSockets) -> None:
        self.session = _new_session(config, sockets)
        self.connection_key = config.connection_key
        self.stamps = stamps
        self.users = 0
        self.retired = False

    async def close_if_unused(self) -> None:
        if self.retired and not self.users:
            await self.session.close()


class Connections:
    """
    The connections to the API server. New ones replace them when the certificates change.

    *check_interval*: the least time between two looks at the certificate files. Raises
    ConfigurationError for certificates that cannot be used.
    """

    def __init__(
        self, config: RestConfig, *, check_interval: timedelta = timedelta(minutes=1)
    ) -> None:
        self._check_interval = check_interval
        self._checked_at = asyncio.get_running_loop().time()
        self._unusable: tuple[object, FileStamps] | None = None
        self._sockets = OpenSockets()
        try:
            self._current = _SharedSession(config, _stat_files(config), self._sockets)
        except (OSError, ValueError) as err:
            files = ", ".join(filter(None, config.tls_files)) or "the kubeconfig"
            raise ConfigurationError(f"certificates of {files}: {err}") from err

    @asynccontextmanager
    async def use(self, config: RestConfig) -> AsyncIterator[aiohttp.ClientSession]:
        """
        Yield a session for this config; a watch keeps the one that it began with.

        If new certificates cannot be used, the session with the old ones goes on.
        """
        await self._refresh(config)
        shared = self._current
        shared.users += 1
        try:
            yield shared.session
        finally:
            shared.users -= 1
            await shared.close_if_unused()

    async def close(self) -> None:
        """
        Close the present session and every socket; return after some seconds at most, even if one hangs.
        """
        await self._current.session.close()
        await self._sockets.close()

    async def _refresh(self, config: RestConfig) -> None:
        now = asyncio.get_running_loop().time()
        other = config.connection_key != self._current.connection_key
        if not other and now - self._checked_at < self._check_interval.total_seconds():
            return
        self._checked_at = now
        stamps = _stat_files(config)
        # A file that is missing is being replaced, so its new version is awaited.
        unchanged = not other and (None in stamps or stamps == self._current.stamps)
        if unchanged or (config.connection_key, stamps) == self._unusable:
            return
        try:
            replacement = _SharedSession(config, stamps, self._sockets)
        except (OSError, ValueError) as err:
            logger.warning("cannot use the new certificates, keeping the old ones: %s", err)
            self._unusable = (config.connection_key, stamps)
            return
        old, self._current = self._current, replacement
        old.retired = True
        await old.close_if_unused()


def _new_session(config: RestConfig, sockets: OpenSockets) -> aiohttp.ClientSession:
    # asyncio has no parameter for it (asyncio/sslproto.py).
    SSLProtocol.max_size = TLS_BUFFER_BYTES
    is_tls = any(url.lower().startswith("https") for url in (config.host, config.proxy or ""))
    connector = aiohttp.TCPConnector(
        limit=MAX_CONNECTIONS,
        ssl=_tls_context(config) if is_tls else True,
        socket_factory=sockets.open,
    )
    return aiohttp.ClientSession(
        connector=connector,
        read_bufsize=READ_BUFFER_BYTES,
        cookie_jar=aiohttp.DummyCookieJar(),
        middlewares=(_refuse_redirects,),
        response_class=ConnectedResponse,
    )


def _tls_context(config: RestConfig) -> ssl.SSLContext:
    """Return the context for the certificates of a config. Raises OSError or ValueError for others."""
    inline = config.inline_tls
    context = verifying_context(config.authority_file, inline.authority)
    with inline.as_files() as (certificate, key):
        certificate, key = certificate or config.certificate_file, key or config.key_file
        if certificate is not None:
            context.load_cert_chain(certificate, keyfile=key)
    if config.skips_verification:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def _refuse_redirects(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Refuse redirects: API servers send none, but a pod behind their proxy may."""
    response = await send(request)
    if response.status in REDIRECT_STATUSES:
        response.close()
        raise aiohttp.ClientError(f"HTTP {response.status} redirects elsewhere, which is refused")
    return response


def _stat_files(config: RestConfig) -> FileStamps:
    """
    Return time, size and inode of each file, which change when it is written; None if missing.
    """
    return tuple(_stat_file(path) for path in config.tls_files if path is not None)


def _stat_file(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
