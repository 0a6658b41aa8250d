"""
Decide what to look at next, and when.

The earliest deadline comes first, within a budget; the younger an object, the sooner its deadline. A
difference from the cache is looked at once more before it counts, because the event may be on its way.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.controller.reread_contents import Cache, CachedContent, Reading, WatchProgress
from reporter.kinds.objects import ApiObject
from reporter.model.verdicts import ObjectRef


# --------------------------------------------------------------------
# The time until the next look at an object that is not yet as wanted.
#
# A young object changes by the second, an old one hardly. Its age counts from its creation: a time of
# a condition may be wrong or missing, and is new again with each flap.


REREAD_INTERVALS: tuple[tuple[timedelta, timedelta], ...] = (
    (timedelta(seconds=60), timedelta(seconds=1)),
    (timedelta(minutes=5), timedelta(seconds=15)),
    (timedelta(minutes=10), timedelta(seconds=60)),
)
"""Ages below which an interval applies, youngest first."""

LONGEST_REREAD_INTERVAL = timedelta(seconds=300)


def reread_interval(age: timedelta) -> timedelta:
    """
    Return how long to wait after the last event of an object, or the last look at it.

    *age*: since its creation; of a missing object, since it was first missed.
    """
    return next(
        (interval for below, interval in REREAD_INTERVALS if age < below), LONGEST_REREAD_INTERVAL
    )


MINUTE = timedelta(minutes=1)
READS_PER_MINUTE = 30
CONFIRM_AFTER = timedelta(seconds=1)
"""Time that the event of a difference may take to arrive."""

SPACING = (MINUTE + CONFIRM_AFTER) / READS_PER_MINUTE + timedelta.resolution
"""
The mean time between looks. A confirmation may be early by CONFIRM_AFTER, so this is a little more
than the budget's share: no minute has more reads than READS_PER_MINUTE.
"""

RELIST_INTERVAL = MINUTE
"""The least time between two lists of a kind that were asked for here."""


class Tracked(Struct, frozen=True, gc=False):
    """
    One object that something waits for.

    *born*: when it was created; if it is missing, when it was first missed.
    *last*: the last event or look, at first when it began to be waited for.
    """

    cached: CachedContent
    born: datetime
    last: datetime
    interval: timedelta

    @classmethod
    def since(cls, last: datetime, cached: CachedContent, born: datetime) -> "Tracked":
        """
        Return an object that is looked at again after *last* by the interval for its age at that time.
        """
        return cls(cached, born, last, reread_interval(last - born))

    @property
    def due(self) -> datetime:
        """The moment of the next look, if no event of the object arrives before."""
        return self.last + self.interval


class CacheMismatch(Struct, frozen=True):
    """
    A difference between the API server and the cache, to be looked at again *at* that time.

    *seen*: when it was first seen, with *cached* in the cache and *version* at the API server.
    """

    cached: CachedContent
    at: datetime
    seen: datetime
    version: str = ""


class ScheduledRead(Struct, frozen=True):
    """The next object to read from the API server, and when; *at* is never in the past."""

    ref: ObjectRef
    at: datetime


class RereadState(Struct, frozen=True):
    """
    All that is remembered between looks.

    *slot*: when the budget allows the next look; None before the first. *relisted*: when a kind was last
    listed anew because of a look.
    """

    tracked: Mapping[ObjectRef, Tracked] = field(default_factory=dict)
    mismatches: Mapping[ObjectRef, CacheMismatch] = field(default_factory=dict)
    relisted: Mapping[str, datetime] = field(default_factory=dict)
    slot: datetime | None = None


def track(
    before: RereadState, blocking: Iterable[ObjectRef], cache: Cache, *, now: datetime
) -> RereadState:
    """Return the state with the objects that are waited for now, as the cache has them."""
    tracked = {}
    for ref in blocking:
        kind = cache.kind_of(ref)
        if kind is not None:
            content = cache.content(kind, ref)
            tracked[ref] = _tracked(before.tracked.get(ref), content, now=now)
    mismatches = before.mismatches
    if mismatches:
        mismatches = {
            ref: replace(mismatch, at=min(mismatch.at, now + RELIST_INTERVAL))
            for ref, mismatch in mismatches.items()
            if ref in tracked
        }
    slot = None if before.slot is None else min(before.slot, now + SPACING + CONFIRM_AFTER)
    return RereadState(tracked, mismatches, before.relisted, slot)


def _tracked(before: Tracked | None, content: CachedContent, *, now: datetime) -> Tracked:
    # The clock may be set back: no time is later than now.
    if before is not None and before.cached is content:
        is_past = before.last <= now
        return before if is_past else Tracked.since(now, content, before.born)
    created = content.metadata.creation_timestamp if isinstance(content, ApiObject) else None
    # One that claims to be created in the future, by the clock of another server, is new now.
    return Tracked.since(now, content, min(created or now, now))


def track_nothing(before: RereadState) -> RereadState:
    """Return the state while nothing is waited for: the budget and the last lists are kept."""
    return replace(before, tracked={}, mismatches={})


def next_read(state: RereadState, *, now: datetime) -> ScheduledRead | None:
    """
    Return the next look, which is never before *now*; None if nothing is waited for.

    Confirmations come first; then the object whose deadline is the earliest, of several the youngest.
    The shortest interval first would let one young object take all looks of the budget.
    """
    slot = max(now, state.slot or now)
    ordinary = _next_ordinary(state, slot)
    confirmation = _next_confirmation(state, max(now, slot - CONFIRM_AFTER))
    if confirmation is None or (ordinary is not None and ordinary.at < confirmation.at):
        return ordinary
    return confirmation


def _next_confirmation(state: RereadState, earliest: datetime) -> ScheduledRead | None:
    looks = (ScheduledRead(ref, max(each.at, earliest)) for ref, each in state.mismatches.items())
    return min(looks, key=lambda look: (look.at, look.ref), default=None)


def _next_ordinary(state: RereadState, slot: datetime) -> ScheduledRead | None:
    waiting = {ref: each for ref, each in state.tracked.items() if ref not in state.mismatches}
    if not waiting:
        return None

    def order(ref: ObjectRef) -> tuple[object, ...]:
        each = waiting[ref]
        return (each.due, -each.born.timestamp(), ref)

    first = min(waiting, key=order)
    return ScheduledRead(first, max(slot, waiting[first].due))


def begin_read(state: RereadState, ref: ObjectRef, *, now: datetime) -> RereadState:
    """Return the state once *ref* is being looked at: its next look and the budget count from *now*."""
    before = state.tracked[ref]
    tracked = {**state.tracked, ref: Tracked.since(now, before.cached, before.born)}
    mismatches = dict(state.mismatches)
    if ref in mismatches:
        mismatches[ref] = replace(mismatches[ref], at=now + SPACING)
    slot = max(now, state.slot or now) + SPACING
    return replace(state, tracked=tracked, mismatches=mismatches, slot=slot)


def finish_read(
    state: RereadState,
    ref: ObjectRef,
    read: Reading,
    cached: CachedContent,
    watch: WatchProgress,
    *,
    now: datetime,
) -> tuple[RereadState, bool]:
    """
    Return the state after *read* was compared with the cache, and whether its kind has to be listed anew.

    A difference counts if it was there the last time, no event has changed the cache since then, and
    its event is not on its way. A kind that was listed a moment ago waits with its mismatch.
    """
    mismatch = state.mismatches.get(ref)
    mismatches = {other: each for other, each in state.mismatches.items() if other != ref}
    if read.content == cached or (mismatch is not None and mismatch.cached != cached):
        return replace(state, mismatches=mismatches), False
    if mismatch is None:
        mismatches[ref] = CacheMismatch(cached, now + CONFIRM_AFTER, now, read.version)
        return replace(state, mismatches=mismatches), False
    again = _confirm_again_at(state, ref, mismatch, watch, now=now)
    if again is not None:
        mismatches[ref] = replace(mismatch, at=again)
        return replace(state, mismatches=mismatches), False
    mismatches = {
        other: each for other, each in mismatches.items() if other.resource != ref.resource
    }
    relisted = {**state.relisted, ref.resource: now}
    return replace(state, mismatches=mismatches, relisted=relisted), True


def _confirm_again_at(
    state: RereadState,
    ref: ObjectRef,
    mismatch: CacheMismatch,
    watch: WatchProgress,
    *,
    now: datetime,
) -> datetime | None:
    """Return when to look once more before the kind is listed anew; None if it is listed now."""
    if watch.is_behind(mismatch.version, mismatch.seen):
        return now + CONFIRM_AFTER
    listed = state.relisted.get(ref.resource)
    if listed is not None and listed <= now < listed + RELIST_INTERVAL:
        return listed + RELIST_INTERVAL
    return None
