"""
How well a kind is seen: told to the store at each change, logged once.
"""

import logging
from datetime import datetime, timedelta
from typing import Protocol

from reporter.kube.watch.context import PassiveClock
from reporter.kube.wire.errors import Invalid, KubeError, Refused
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost, WatchState


logger = logging.getLogger(__name__)


class WatchStateStore(Protocol):
    """
    Who must know how well a kind is seen.
    """

    def set_watch_state(self, kind: ResourceKind, sight: WatchState) -> None: ...


class WatchHealth:
    """
    A watch that ends and opens again at once changes nothing here.
    """

    def __init__(self, kind: ResourceKind, sights: WatchStateStore, clock: PassiveClock) -> None:
        self._kind = kind
        self._store = sights
        self._clock = clock
        self._listed = False
        self._unwatched_since: datetime | None = None
        self._logged = ""
        self._failures = 0

    def record_list(self) -> None:
        self._listed = True

    def record_watch_start(self) -> None:
        """
        A watch is open.
        """
        self._unwatched_since = None
        self._failures = 0
        self._store.set_watch_state(self._kind, Watching())
        if self._logged:
            logger.info("%s: watched again", self._kind.group_resource)
        self._logged = ""

    @property
    def unwatched_for(self) -> timedelta:
        """
        For how long nothing has been watched; a watch that only was silent shows no such time.

        Of a kind that nobody changes the API server may say nothing for minutes.
        """
        if self._unwatched_since is None or not self._failures:
            return timedelta(0)
        return self._clock.now() - self._unwatched_since

    def record_watch_end(self, heard: datetime | None = None) -> None:
        """
        The watch is no longer open; *heard* is when it last said anything, if not just now.
        """
        if self._unwatched_since is None:
            self._unwatched_since = heard or self._clock.now()

    def record_failure(self, err: KubeError) -> None:
        why = _describe_error(err)
        self.record_watch_end()
        if self._listed and self._unwatched_since is not None:
            self._store.set_watch_state(self._kind, WatchLost(self._unwatched_since, why))
        else:
            self._store.set_watch_state(self._kind, NotSynced(why))
        self._failures += 1
        lasting = self._failures > 1 or isinstance(err, Refused | Invalid)
        self._log_failure(logging.WARNING if lasting else logging.DEBUG, err, why)

    def record_unserved(self) -> None:
        self._listed = False
        self._store.set_watch_state(self._kind, NotServed())
        if self._logged != "unserved":
            logger.info("%s: not served by the API server", self._kind.group_resource)
        self._logged = "unserved"

    def _log_failure(self, level: int, err: KubeError, why: str) -> None:
        about = f"{type(err).__name__} {why if isinstance(err, Refused) else ''}"
        if level == logging.WARNING and self._logged == about:
            return
        logger.log(level, "%s: not watched: %s (%s)", self._kind.group_resource, why, err)
        if level == logging.WARNING:
            self._logged = about


def _describe_error(err: KubeError) -> str:
    if isinstance(err, Refused) and err.missing_permission:
        return f"may not {err.missing_permission}"
    return err.why
