"""Keep the credentials current: reread token files, rerun plugins before their token expires."""

import asyncio
import logging
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from reporter.kube.rest_config import LoadConfig, RestConfig, bearer_header, read_token
from reporter.settings.errors import ConfigurationError


logger = logging.getLogger(__name__)


class RefreshPolicy(Struct, frozen=True):
    """
    The times at which credentials are read or requested again.

    *token_reload_interval*: the least time between two looks at the files of token and certificates.
    *expiry_margin*: how long before its expiry a credential is renewed. *min_plugin_interval*: the
    least time between two runs of a plugin, even if the server refuses its credential.
    *max_wait*: how long requests wait for a renewal after it has begun.
    """

    token_reload_interval: timedelta = timedelta(minutes=1)
    expiry_margin: timedelta = timedelta(seconds=10)
    min_plugin_interval: timedelta = timedelta(seconds=10)
    max_wait: timedelta = timedelta(seconds=5)


DEFAULT_REFRESH_POLICY = RefreshPolicy()


class Credentials:
    """
    The credentials of this process. Times that are numbers are in seconds of the event loop.

    A renewal is a task of its own: a request that gives up waiting does not end it, and while the
    old credentials are good no request waits.
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
        self._token_read_at = asyncio.get_running_loop().time()
        # A stored token may have ended long ago, so its first renewal waits for no interval.
        self._loaded_at = float("-inf") if config.is_stored else self._token_read_at
        self._failure: ConfigurationError | None = None
        self._renewal: asyncio.Task[None] | None = None

    async def current_config(self, *, server_time: datetime | None) -> RestConfig:
        """
        Return the config for the next request. Expiry is compared with *server_time*, if known.

        Raises ConfigurationError if the credentials have expired and cannot be renewed.
        """
        self._reload_token_file(self._refresh_policy.token_reload_interval)
        soon = server_time and server_time + self._refresh_policy.expiry_margin
        if self._expires_by(soon):
            self._start_renewal()
            if self._expires_by(server_time):
                await self._wait_for_renewal()
                if self._failure is not None:
                    raise self._failure
        return self._config

    async def renew(self, refused: RestConfig) -> bool:
        """
        Renew after a 401, and return whether there are other credentials than the *refused* ones.

        Raises ConfigurationError if the renewal takes longer than *max_wait*.
        """
        self._reload_token_file(timedelta(0))
        if self._config.authorization == refused.authorization:
            self._start_renewal()
            await self._wait_for_renewal()
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

    def _expires_by(self, moment: datetime | None) -> bool:
        expires = self._config.expires
        return expires is not None and moment is not None and moment >= expires

    async def close(self) -> None:
        """Cancel a renewal under way and wait for its end, so that no plugin is left running."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait({self._renewal})

    def _start_renewal(self) -> None:
        """Load once for all callers, and not more often than min_plugin_interval."""
        now = asyncio.get_running_loop().time()
        interval = self._refresh_policy.min_plugin_interval.total_seconds()
        running = self._renewal is not None and not self._renewal.done()
        if not running and now - self._loaded_at >= interval:
            self._loaded_at = now
            self._renewal = asyncio.create_task(self._renew(), name="renew credentials")

    async def _wait_for_renewal(self) -> None:
        if self._renewal is None:
            return
        limit = self._refresh_policy.max_wait.total_seconds()
        left = self._loaded_at + limit - asyncio.get_running_loop().time()
        _, running = await asyncio.wait({self._renewal}, timeout=max(left, 0))
        if running:
            raise ConfigurationError(f"no new credentials within {limit:g} s; still waiting")

    async def _renew(self) -> None:
        try:
            self._config = await self._load()
        except ConfigurationError as err:
            logger.warning("cannot renew the credentials, keeping the old ones: %s", err)
            self._failure = err
        else:
            self._failure = None
