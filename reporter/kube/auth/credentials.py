"""
Keep the credentials current: reread token files, rerun plugins before their token expires.
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from reporter.kube.auth.rest_config import LoadConfig, RestConfig, bearer_header
from reporter.kube.auth.token_file import read_token
from reporter.kube.wire.errors import ConfigurationError


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RefreshPolicy:
    """
    When credentials are read or requested again.

    *expiry_margin*: how long before its expiry a credential is renewed. *min_plugin_interval*: the
    least time between two runs of a plugin, even if the server refuses its credential.
    """

    token_reload_interval: timedelta = timedelta(minutes=1)
    expiry_margin: timedelta = timedelta(seconds=10)
    min_plugin_interval: timedelta = timedelta(seconds=10)


DEFAULT_REFRESH_POLICY = RefreshPolicy()


class Credentials:
    """
    The credentials of this process. Times that are numbers are in seconds of the event loop.
    """

    def __init__(
        self,
        load: LoadConfig,
        config: RestConfig,
        refresh_policy: RefreshPolicy = DEFAULT_REFRESH_POLICY,
    ) -> None:
        self._load = load
        self._config = config
        self._refresh_policy = refresh_policy
        self._loaded_at = self._token_read_at = asyncio.get_running_loop().time()
        self._failure: ConfigurationError | None = None
        self._lock = asyncio.Lock()

    async def current_config(self, *, server_time: datetime | None) -> RestConfig:
        """
        Return the config for the next request. Expiry is compared with *server_time*, if known.

        Raises ConfigurationError if the credentials have expired and cannot be renewed.
        """
        self._reload_token_file(self._refresh_policy.token_reload_interval)
        if self._is_expiring(server_time):
            await self._renew(self._config)
            if self._failure is not None and self._has_expired(server_time):
                raise self._failure
        return self._config

    async def renew(self, refused: RestConfig) -> bool:
        """
        Renew after a 401, and return whether there are other credentials than the *refused* ones.
        """
        self._reload_token_file(timedelta(0))
        if self._config.authorization == refused.authorization:
            await self._renew(refused)
        config = self._config
        return (config.authorization, config.connection_key) != (
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
        Load once for all waiting callers, and not more often than min_plugin_interval.
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
                logger.warning("cannot renew the credentials, keeping the old ones: %s", err)
                self._failure = err
            else:
                self._failure = None
