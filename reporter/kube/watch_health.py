"""Track the watch of one kind: report each change of its state to the store, log it once."""

import logging
from datetime import datetime, timedelta
from typing import Protocol

from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.errors import Invalid, KubeError, Refused
from reporter.kube.watch_context import PassiveClock
from reporter.model.observations import NotServed, NotSynced, Watching, WatchLost, WatchState


FAILURES_BEFORE_FAILING = 3
"""Error answers of the API server in a row after which the kind itself counts as failing."""

MENTIONED_PAUSE = timedelta(seconds=40)
"""The state names a pause that is longer than our own back-off: the API server asked for it."""

logger = logging.getLogger(__name__)


class WatchStateStore(Protocol):
    """The receiver of the state of each kind's watch, by which evaluation knows what it can trust."""

    def set_watch_state(self, kind: ResourceKind, state: WatchState) -> None:
        """Replace the state of the kind; the same state again changes nothing."""


class WatchHealth:
    """
    The health of one kind's watch. A watch that ends and is opened again at once stays healthy.
    """

    def __init__(self, kind: ResourceKind, store: WatchStateStore, clock: PassiveClock) -> None:
        self._kind = kind
        self._store = store
        self._clock = clock
        self._listed = False
        self._unwatched_since: datetime | None = None
        self._logged = ""
        self._failures = 0
        self._error_answers = 0

    def record_list(self) -> None:
        """
        Record that the kind was listed: a later failure is a lost watch of known objects (WatchLost).

        Before a list it is NotSynced, as nothing is known of the kind.
        """
        self._listed = True

    def record_watch_start(self) -> None:
        """Record an opened watch: the kind is Watching, and its failures are forgotten."""
        self._unwatched_since = None
        self._failures = 0
        self._error_answers = 0
        self._store.set_watch_state(self._kind, Watching())
        if self._logged:
            logger.info("%s: watching again", self._kind.group_resource)
        self._logged = ""

    @property
    def unwatched_for(self) -> timedelta:
        """
        The time without a watch; zero if the watch only timed out without events.

        For a kind that nobody changes, the API server may send nothing for minutes.
        """
        if self._unwatched_since is None or not self._failures:
            return timedelta(0)
        return self._clock.now() - self._unwatched_since

    def record_watch_end(self, last_event_at: datetime | None = None) -> None:
        """Record that no watch is open, since *last_event_at* or else since now."""
        if self._unwatched_since is None:
            self._unwatched_since = last_event_at or self._clock.now()

    def record_failure(
        self, err: KubeError, pause: timedelta = timedelta(0), *, refused: bool = False
    ) -> None:
        """
        Record a failed list or watch. *pause*: until the next try. *refused*: as in `NotSynced`.
        """
        why = describe_error(err)
        if pause > MENTIONED_PAUSE:
            why += f"; tried again after {pause.total_seconds():.0f} s"
        self.record_watch_end()
        self._error_answers = self._error_answers + 1 if err.is_from_api_server else 0
        if self._listed and self._unwatched_since is not None:
            self._store.set_watch_state(self._kind, WatchLost(self._unwatched_since, why))
        else:
            refused = refused or (isinstance(err, Refused) and err.is_forbidden)
            failing = not refused and self._error_answers >= FAILURES_BEFORE_FAILING
            self._store.set_watch_state(self._kind, NotSynced(why, refused, failing))
        self._failures += 1
        lasting = self._failures > 1 or isinstance(err, Refused | Invalid)
        summary = f"{type(err).__name__} {why if isinstance(err, Refused) else ''}"
        if lasting and self._logged == summary:
            return
        level = logging.WARNING if lasting else logging.DEBUG
        logger.log(level, "%s: not watched: %s (%s)", self._kind.group_resource, why, err)
        if lasting:
            self._logged = summary

    def record_unserved(self) -> None:
        """
        Record that no version of the kind that we read is served; what was listed counts no longer.
        """
        self._listed = False
        self._store.set_watch_state(self._kind, NotServed())
        if self._logged != "unserved":
            logger.info("%s: not served by the API server", self._kind.group_resource)
        self._logged = "unserved"

    def record_misdeclared(self, why: str) -> None:
        """
        Record that the kind cannot be read as a catalogue declares it; *why* says what to do.
        """
        self._listed = False
        self._store.set_watch_state(self._kind, NotSynced(why, refused=True))
        if self._logged != why:
            logger.warning("%s: not watched: %s", self._kind.group_resource, why)
        self._logged = why


def describe_error(err: KubeError) -> str:
    """Return why a kind cannot be read, with the missing permission if that is the cause."""
    if isinstance(err, Refused) and err.missing_permission:
        return f"may not {err.missing_permission}"
    return err.why
