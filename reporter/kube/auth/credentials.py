"""
Keeps a login fresh: token files are read again, plugins run again before their token expires.
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from reporter.kube.auth.login import LoadConfig, RestConfig, bearer_header
from reporter.kube.auth.token_file import read_token
from reporter.kube.wire.errors import ConfigurationError


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RefreshPolicy:
    """
    *reread*: how often a token file is read. *spare*: how long before its expiry a login is renewed.

    *spacing*: the least time between two runs of a plugin, whatever the server says.
    """

    token_reload_interval: timedelta = timedelta(minutes=1)
    expiry_margin: timedelta = timedelta(seconds=10)
    min_plugin_interval: timedelta = timedelta(seconds=10)


DEFAULT_REFRESH_POLICY = RefreshPolicy()


class Credentials:
    """
    All times that are numbers are seconds of the event loop.
    """

    def __init__(
        self,
        load: LoadConfig,
        first: RestConfig,
        freshness: RefreshPolicy = DEFAULT_REFRESH_POLICY,
    ) -> None:
        self._load = load
        self._config = first
        self._refresh_policy = freshness
        self._loaded_at = self._token_read_at = asyncio.get_running_loop().time()
        self._failure: ConfigurationError | None = None
        self._lock = asyncio.Lock()

    async def current_config(self, *, server_time: datetime | None) -> RestConfig:
        """
        Who to be in the next request. *server_time* is what expiry is judged by, if known.

        Raises ConfigurationError when the login has expired and no other can be had.
        """
        self._reload_token_file(self._refresh_policy.token_reload_interval)
        if self._is_expiring(server_time):
            await self._renew(self._config)
            if self._failure is not None and self._has_expired(server_time):
                raise self._failure
        return self._config

    async def renew(self, refused: RestConfig) -> bool:
        """
        After a 401: whether there is another login to try than the *refused* one.
        """
        self._reload_token_file(timedelta(0))
        if self._config.authorization == refused.authorization:
            await self._renew(refused)
        login = self._config
        return (login.authorization, login.connection_key) != (
            refused.authorization,
            refused.connection_key,
        )

    def _reload_token_file(self, every: timedelta) -> None:
        now = asyncio.get_running_loop().time()
        path = self._config.token_file
        if path is None or now - self._token_read_at < every.total_seconds():
            return
        self._token_read_at = now
        token = read_token(path)
        if token is not None:
            self._config = replace(self._config, authorization=bearer_header(token))

    def _is_expiring(self, server_time: datetime | None) -> bool:
        expires = self._config.expires
        if expires is None or server_time is None:
            return False
        return server_time >= expires - self._refresh_policy.expiry_margin

    def _has_expired(self, server_time: datetime | None) -> bool:
        expires = self._config.expires
        return expires is not None and server_time is not None and server_time >= expires

    async def _renew(self, old: RestConfig) -> None:
        """
        Load anew, once for all who wait, and not more often than *spacing* allows.
        """
        async with self._lock:
            now = asyncio.get_running_loop().time()
            fresh = (
                now - self._loaded_at < self._refresh_policy.min_plugin_interval.total_seconds()
            )
            if fresh or self._config is not old:
                return
            self._loaded_at = now
            try:
                self._config = await self._load()
            except ConfigurationError as err:
                logger.warning("credentials were not renewed: %s", err)
                self._failure = err
            else:
                self._failure = None
