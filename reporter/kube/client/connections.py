"""
The client library's ApiClient: made, and made anew when certificates change on disk.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from datetime import timedelta
from importlib import metadata
from typing import Any, TypeAlias

import aiohttp
from kubernetes.aio.client import ApiClient

from reporter.kube.auth.login import RestConfig
from reporter.kube.wire.errors import ConfigurationError


DISTRIBUTION = "productionstack-status-reporter"
MAX_CONNECTIONS = 128
"""
Each watch holds one; with fewer than these plus a few dozen, requests would wait for ever.
"""

READ_BUFFER_BYTES = 2**21
"""
Bytes; large enough that most lines of a watch are read at once.
"""

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

FileStamps: TypeAlias = tuple[tuple[int, int, int] | None, ...]

logger = logging.getLogger(__name__)


def user_agent() -> str:
    try:
        return f"{DISTRIBUTION}/{metadata.version(DISTRIBUTION)}"
    except metadata.PackageNotFoundError:
        return f"{DISTRIBUTION}/unknown"


class _SharedApiClient:
    """
    An ApiClient that is closed when it is retired and nobody uses it any more.
    """

    def __init__(self, login: RestConfig, stamp: FileStamps) -> None:
        self.client = _new_api_client(login)
        self.connection_key = login.connection_key
        self.stamps = stamp
        self.users = 0
        self.retired = False

    async def close_if_unused(self) -> None:
        if self.retired and not self.users:
            await self.client.close()


class Connections:
    """
    *every*: how often the files of certificates are looked at.
    """

    def __init__(
        self, login: RestConfig, *, check_interval: timedelta = timedelta(minutes=1)
    ) -> None:
        self._check_interval = check_interval
        self._checked_at = asyncio.get_running_loop().time()
        self._unusable: tuple[object, FileStamps] | None = None
        try:
            self._current = _SharedApiClient(login, _stat_files(login))
        except (OSError, ValueError) as err:
            raise ConfigurationError(f"certificates of {login.tls_files}: {err}") from err

    @asynccontextmanager
    async def use(self, login: RestConfig) -> AsyncIterator[Any]:
        """
        An ApiClient for this login; watches keep the one they began with.
        """
        await self._refresh(login)
        mine = self._current
        mine.users += 1
        try:
            yield mine.client
        finally:
            mine.users -= 1
            await mine.close_if_unused()

    async def close(self) -> None:
        await self._current.client.close()

    async def _refresh(self, login: RestConfig) -> None:
        now = asyncio.get_running_loop().time()
        other = login.connection_key != self._current.connection_key
        if not other and now - self._checked_at < self._check_interval.total_seconds():
            return
        self._checked_at = now
        stamp = _stat_files(login)
        unchanged = not other and (None in stamp or stamp == self._current.stamps)
        if unchanged or (login.connection_key, stamp) == self._unusable:
            return
        try:
            fresh = _SharedApiClient(login, stamp)
        except (OSError, ValueError) as err:
            logger.warning("new certificates are not usable, the old ones stay: %s", err)
            self._unusable = (login.connection_key, stamp)
            return
        old, self._current = self._current, fresh
        old.retired = True
        await old.close_if_unused()


def _new_api_client(login: RestConfig) -> Any:
    configuration = deepcopy(login.configuration)
    configuration.connection_pool_maxsize = MAX_CONNECTIONS
    configuration.refresh_api_key_hook = None
    configuration.retries = None
    configuration.client_session_kwargs = {
        "trust_env": False,
        "read_bufsize": READ_BUFFER_BYTES,
        "cookie_jar": aiohttp.DummyCookieJar(),
        "middlewares": (_refuse_redirects,),
    }
    return ApiClient(configuration)


async def _refuse_redirects(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """
    Refuse redirects: an API server sends none, but a pod that is read through it may.
    """
    response = await send(request)
    if response.status in REDIRECT_STATUSES:
        response.close()
        raise aiohttp.ClientError(f"HTTP {response.status} redirects elsewhere, which is refused")
    return response


def _stat_files(login: RestConfig) -> FileStamps:
    """
    What tells that a file was written: time, size and inode; None in it while one is missing.
    """
    return tuple(_stat_file(path) for path in login.tls_files if path is not None)


def _stat_file(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
