"""The writes to the objects that are there: each is kept, resolved or deleted."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec
from msgspec import Struct, field

from reporter.history.capacity import StorePlace
from reporter.history.desired import DesiredEpisode, DesiredObjects
from reporter.history.ends import EndFunc
from reporter.kinds.health_events import HealthEvent, Phase, Resolution, StoreLimit, StoreLimits
from reporter.kube.decoding import Json
from reporter.model.silences import Silence
from reporter.model.status_document import silenced_by
from reporter.model.times import format_time, parse_zoned_time


SILENCED = "silenced"
"""The field of a status with the silence of its episode."""


class Create(NamedTuple):
    """An object to create. *node*: "" for trouble that is bound to none."""

    name: str
    node: str
    episode: DesiredEpisode


class Patch(NamedTuple):
    """
    A merge patch of an object's status.

    *episode*: the running episode whose causes and suffixes are written too; None if there is none.
    """

    found: HealthEvent
    status: Json
    episode: DesiredEpisode | None = None


class Rejection(NamedTuple):
    """An object that an episode should have and for which *limit* leaves no place."""

    name: str
    limit: StoreLimit


class PlanMemory(Struct, frozen=True):
    """
    The memory of a leader, by names of objects.

    *desired*: objects that were desired, so that this process has seen their episodes end.
    *clear_since*: since when an Active object of no running episode has been without trouble.
    *patched_at*: when causes or suffixes were written last.
    """

    desired: frozenset[str] = frozenset()
    clear_since: Mapping[str, datetime] = field(default_factory=dict)
    patched_at: Mapping[str, datetime] = field(default_factory=dict)


class PlanInput(Struct, frozen=True):
    """
    Everything that a plan depends on, beside the memory and the time.

    *desired*: the objects of running episodes. *existing*: the objects of ours, by name.
    *end_of*: returns how the episode of an object has ended.
    *settle*: how long an end must last that this process has not seen itself.
    *places*: further objects that exist or are being created, of which only the name is known.
    *has_course*: objects show other causes and suffixes of their episodes, so these are written.
    *dropped*: the silence of each object that its CRD has no field for.
    *unfit*: objects that are not as they were meant, which are deleted at once.
    """

    desired: DesiredObjects
    existing: Mapping[str, HealthEvent]
    end_of: EndFunc
    limits: StoreLimits
    settle: timedelta
    places: Iterable[StorePlace] = ()
    has_course: bool = True
    dropped: Mapping[str, Json] = field(default_factory=dict)
    unfit: frozenset[str] = frozenset()


PATCH_INTERVAL = timedelta(minutes=1)
"""The least time between two patches of one object because of other causes or suffixes."""

DELETION_GRACE = timedelta(minutes=1)
"""
Time that an object that is being deleted counts as a place that will be free. A finalizer may keep it
for longer.
"""

_REOPENED: Json = {"phase": Phase.ACTIVE.value, "resolution": None, "resolvedTime": None}


class ExistingObjects:
    """
    The part of a plan about the objects that are there.

    *leaving*: those that are being deleted or will be. *resolved*: those that may be deleted for others,
    with the end of their episodes. *deadlines*: when time alone changes the plan.
    """

    def __init__(self, given: PlanInput, memory: PlanMemory, now: datetime) -> None:
        self.patches: list[Patch] = []
        self.expired: list[HealthEvent] = []
        self.leaving: list[StorePlace] = []
        self.resolved: list[tuple[datetime, StorePlace]] = []
        self.deadlines: list[datetime] = []
        self._given, self._memory, self._now = given, memory, now
        self._clear_since: dict[str, datetime] = {}
        self._patched_at: dict[str, datetime] = {}

    def leave(self, found: HealthEvent) -> None:
        """Count an object that is being deleted as a place that will be free soon."""
        since = found.metadata.deletion_timestamp
        if since is not None and self._now < since + DELETION_GRACE:
            self.leaving.append(place_of(found))
            self.deadlines.append(since + DELETION_GRACE)

    def keep(self, found: HealthEvent, episode: DesiredEpisode) -> None:
        """
        Plan to write other causes, suffixes or silences of a running episode, at most once a minute.
        """
        name = found.metadata.name
        digest = episode.record.content_digest if self._given.has_course else ""
        last = self._memory.patched_at.get(name)
        if last is not None:
            self._patched_at[name] = min(last, self._now)
        # Without trouble now, nobody knows on which nodes it will be.
        is_resolved = found.phase is Phase.RESOLVED and episode.names is not None
        is_changed = bool(digest) and digest != _digest(found)
        is_first = bool(digest) and episode.has_suffix and not _status(found).get("contentDigest")
        has_news = is_resolved or is_changed or is_first
        silenced = _silence_patch(found, episode.silence if self._given.has_course else None)
        if name in self._given.dropped and silenced == {SILENCED: self._given.dropped[name]}:
            silenced = {}
        if not (has_news or silenced):
            return
        due_at = self._now if last is None else min(last, self._now) + PATCH_INTERVAL
        if due_at > self._now:
            self.deadlines.append(due_at)
            return
        self._patched_at[name] = self._now
        again = {"occurrences": _occurrences(found) + 1} if is_resolved or is_changed else {}
        reopened = _REOPENED if is_resolved else {}
        status = {**reopened, **again, **silenced}
        self.patches.append(Patch(found, status, episode if has_news else None))

    def resolve(self, found: HealthEvent, end: Resolution | None, *, is_running: bool) -> None:
        """
        Plan to resolve an object whose episode is over. *end*: how it ended; None while nobody knows.

        An end that this process did not see must last for the settle before, and so must that of
        one node of an episode that runs.
        """
        if end is None:
            return
        name = found.metadata.name
        if end is Resolution.CLEARED and (is_running or name not in self._memory.desired):
            since = min(self._memory.clear_since.get(name, self._now), self._now)
            self._clear_since[name] = since
            if self._now < since + self._given.settle:
                self.deadlines.append(since + self._given.settle)
                return
        ended: Json = {"phase": Phase.RESOLVED.value, "resolution": end.value}
        ended |= {**_silence_patch(found, None), "resolvedTime": format_time(self._now)}
        self.patches.append(Patch(found, ended))

    def remove(self, found: HealthEvent) -> None:
        """Plan the deletion of an object, whose place then counts as free soon."""
        self.expired.append(found)
        self.leaving.append(place_of(found))

    def expire(self, found: HealthEvent) -> None:
        """
        Plan the deletion of an object whose episode has been over for the retention.

        One without the time of its end, as somebody else resolved it, gets that first.
        """
        resolved_at = parse_zoned_time(_status(found).get("resolvedTime"))
        if resolved_at is None:
            # Somebody else has resolved it.
            self.patches.append(Patch(found, {"resolvedTime": format_time(self._now)}))
            resolved_at = self._now
        due_at = resolved_at + self._given.limits.retention
        if due_at <= self._now:
            self.remove(found)
        else:
            self.deadlines.append(due_at)
            self.resolved.append((resolved_at, place_of(found)))

    def remember(self, desired: frozenset[str]) -> PlanMemory:
        """
        Return what the next plan of this leader needs to know. *desired*: names seen as desired.
        """
        return PlanMemory(desired, self._clear_since, self._patched_at)


def place_of(found: HealthEvent) -> StorePlace:
    """Return the place of an object that is there, by which the limits count it."""
    return StorePlace(found.metadata.name, found.spec.node_name)


def _status(found: HealthEvent) -> Json:
    return found.status or {}


def _silence_patch(found: HealthEvent, silence: Silence | None) -> Json:
    """Return what has to change so that the status shows this silence; empty if it does."""
    shown = _status(found).get(SILENCED)
    desired = msgspec.to_builtins(silenced_by(silence)) if silence is not None else None
    if shown == desired:
        return {}
    # A merge patch keeps what it does not name (RFC 7386).
    gone = dict.fromkeys(shown or {}) if desired is not None else {}
    return {SILENCED: {**gone, **desired} if desired is not None else None}


def _digest(found: HealthEvent) -> str:
    return str(_status(found).get("contentDigest") or found.spec.content_digest)


def _occurrences(found: HealthEvent) -> int:
    number = _status(found).get("occurrences")
    return number if isinstance(number, int) else 1
