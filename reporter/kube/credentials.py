"""
Keeps a login fresh: token files are read again, plugins run again before their token expires.
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from reporter.kube.errors import ConfigurationError
from reporter.kube.logins import Load, Login, bearer
from reporter.kube.tokens import read_token


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Freshness:
    """
    *reread*: how often a token file is read. *spare*: how long before its expiry a login is renewed.

    *spacing*: the least time between two runs of a plugin, whatever the server says.
    """

    reread: timedelta = timedelta(minutes=1)
    spare: timedelta = timedelta(seconds=10)
    spacing: timedelta = timedelta(seconds=10)


USUAL = Freshness()


class Credentials:
    """
    All times that are numbers are seconds of the event loop.
    """

    def __init__(self, load: Load, first: Login, freshness: Freshness = USUAL) -> None:
        self._load = load
        self._login = first
        self._freshness = freshness
        self._loaded = self._reread = asyncio.get_running_loop().time()
        self._failure: ConfigurationError | None = None
        self._lock = asyncio.Lock()

    async def login(self, *, server_time: datetime | None) -> Login:
        """
        Who to be in the next request. *server_time* is what expiry is judged by, if known.

        Raises ConfigurationError when the login has expired and no other can be had.
        """
        self._read_token(self._freshness.reread)
        if self._is_due(server_time):
            await self._renew(self._login)
            if self._failure is not None and self._has_expired(server_time):
                raise self._failure
        return self._login

    async def renew(self, refused: Login) -> bool:
        """
        After a 401: whether there is another login to try than the *refused* one.
        """
        self._read_token(timedelta(0))
        if self._login.authorization == refused.authorization:
            await self._renew(refused)
        login = self._login
        return (login.authorization, login.transport) != (refused.authorization, refused.transport)

    def _read_token(self, every: timedelta) -> None:
        now = asyncio.get_running_loop().time()
        path = self._login.token_file
        if path is None or now - self._reread < every.total_seconds():
            return
        self._reread = now
        token = read_token(path)
        if token is not None:
            self._login = replace(self._login, authorization=bearer(token))

    def _is_due(self, server_time: datetime | None) -> bool:
        expires = self._login.expires
        if expires is None or server_time is None:
            return False
        return server_time >= expires - self._freshness.spare

    def _has_expired(self, server_time: datetime | None) -> bool:
        expires = self._login.expires
        return expires is not None and server_time is not None and server_time >= expires

    async def _renew(self, old: Login) -> None:
        """
        Load anew, once for all who wait, and not more often than *spacing* allows.
        """
        async with self._lock:
            now = asyncio.get_running_loop().time()
            fresh = now - self._loaded < self._freshness.spacing.total_seconds()
            if fresh or self._login is not old:
                return
            self._loaded = now
            try:
                self._login = await self._load()
            except ConfigurationError as err:
                logger.warning("credentials were not renewed: %s", err)
                self._failure = err
            else:
                self._failure = None
