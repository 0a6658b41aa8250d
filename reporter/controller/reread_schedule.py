"""
Decide what to look at next, and when.

The earliest deadline comes first, within a budget; the younger an object, the sooner its deadline. A
difference from the cache is looked at once more before it counts, because the event may be on its way.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.controller.reread_contents import Cache, Content, Reading, WatchProgress
from reporter.kinds.objects import ApiObject
from reporter.model.verdicts import ObjectRef


# --------------------------------------------------------------------
# The time until the next look at an object that is not yet as wanted.
#
# A young object changes by the second, an old one hardly. Its age counts from its creation: a time of
# a condition may be wrong or missing, and is new again with each flap.


LOOK_INTERVALS: tuple[tuple[timedelta, timedelta], ...] = (
    (timedelta(seconds=60), timedelta(seconds=1)),
    (timedelta(minutes=5), timedelta(seconds=15)),
    (timedelta(minutes=10), timedelta(seconds=60)),
)
"""Ages below which an interval applies, youngest first."""

LONGEST_LOOK_INTERVAL = timedelta(seconds=300)


def look_interval(age: timedelta) -> timedelta:
    """
    Return how long to wait after the last event of an object, or the last look at it.

    *age*: since its creation; of a missing object, since it was first missed.
    """
    return next(
        (interval for below, interval in LOOK_INTERVALS if age < below), LONGEST_LOOK_INTERVAL
    )


MINUTE = timedelta(minutes=1)
LOOKS_PER_MINUTE = 30
CONFIRM_AFTER = timedelta(seconds=1)
"""Time that the event of a difference may take to arrive."""

SPACING = (MINUTE + CONFIRM_AFTER) / LOOKS_PER_MINUTE + timedelta.resolution
"""
The mean time between looks. A confirmation may be early by CONFIRM_AFTER, so this is a little more
than the budget's share: no minute has more looks than LOOKS_PER_MINUTE.
"""

RELIST_INTERVAL = MINUTE
"""The least time between two lists of a kind that were asked for here."""


class Tracked(Struct, frozen=True, gc=False):
    """
    One object that something waits for.

    *born*: when it was created; if it is missing, when it was first missed.
    *last*: the last event or look, at first when it began to be waited for.
    """

    cached: Content
    born: datetime
    last: datetime
    interval: timedelta

    @classmethod
    def since(cls, last: datetime, cached: Content, born: datetime) -> "Tracked":
        """
        Return an object that is looked at again after *last* by the interval for its age at that time.
        """
        return cls(cached, born, last, look_interval(last - born))

    @property
    def due(self) -> datetime:
        """The moment of the next look, if no event of the object arrives before."""
        return self.last + self.interval


class Doubt(Struct, frozen=True):
    """
    A difference between the API server and the cache, to be looked at again *at* that time.

    *seen*: when it was first seen, with *cached* in the cache and *version* at the API server.
    """

    cached: Content
    at: datetime
    seen: datetime
    version: str = ""


class ScheduledLook(Struct, frozen=True):
    """The next object to read from the API server, and when; *at* is never in the past."""

    ref: ObjectRef
    at: datetime


class LookState(Struct, frozen=True):
    """
    All that is remembered between looks.

    *slot*: when the budget allows the next look. *relisted*: when a kind was last listed anew.
    """

    tracked: Mapping[ObjectRef, Tracked] = field(default_factory=dict)
    doubts: Mapping[ObjectRef, Doubt] = field(default_factory=dict)
    relisted: Mapping[str, datetime] = field(default_factory=dict)
    slot: datetime | None = None


def track(
    before: LookState, blocking: Iterable[ObjectRef], cache: Cache, *, now: datetime
) -> LookState:
    """Return the state with the objects that are waited for now, as the cache has them."""
    tracked = {}
    for ref in blocking:
        kind = cache.kind_of(ref)
        if kind is not None:
            content = cache.content(kind, ref)
            tracked[ref] = _tracked(before.tracked.get(ref), content, now=now)
    doubts = before.doubts
    if doubts:
        doubts = {
            ref: replace(doubt, at=min(doubt.at, now + RELIST_INTERVAL))
            for ref, doubt in doubts.items()
            if ref in tracked
        }
    slot = None if before.slot is None else min(before.slot, now + SPACING + CONFIRM_AFTER)
    return LookState(tracked, doubts, before.relisted, slot)


def _tracked(before: Tracked | None, content: Content, *, now: datetime) -> Tracked:
    # The clock may be set back: no time is later than now.
    if before is not None and before.cached is content:
        is_past = before.last <= now
        return before if is_past else Tracked.since(now, content, before.born)
    created = content.metadata.creation_timestamp if isinstance(content, ApiObject) else None
    # One that claims to be created in the future, by the clock of another server, is new now.
    return Tracked.since(now, content, min(created or now, now))


def track_nothing(before: LookState) -> LookState:
    """Return the state while nothing is waited for: the budget and the last lists are kept."""
    return replace(before, tracked={}, doubts={})


def next_look(state: LookState, *, now: datetime) -> ScheduledLook | None:
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


def _next_confirmation(state: LookState, earliest: datetime) -> ScheduledLook | None:
    looks = (ScheduledLook(ref, max(each.at, earliest)) for ref, each in state.doubts.items())
    return min(looks, key=lambda look: (look.at, look.ref), default=None)


def _next_ordinary(state: LookState, slot: datetime) -> ScheduledLook | None:
    waiting = {ref: each for ref, each in state.tracked.items() if ref not in state.doubts}
    if not waiting:
        return None

    def order(ref: ObjectRef) -> tuple[object, ...]:
        each = waiting[ref]
        return (each.due, -each.born.timestamp(), ref)

    first = min(waiting, key=order)
    return ScheduledLook(first, max(slot, waiting[first].due))


def begin_look(state: LookState, ref: ObjectRef, *, now: datetime) -> LookState:
    """Return the state once *ref* is being looked at: its next look and the budget count from *now*."""
    before = state.tracked[ref]
    tracked = {**state.tracked, ref: Tracked.since(now, before.cached, before.born)}
    doubts = dict(state.doubts)
    if ref in doubts:
        doubts[ref] = replace(doubts[ref], at=now + SPACING)
    slot = max(now, state.slot or now) + SPACING
    return replace(state, tracked=tracked, doubts=doubts, slot=slot)


def finish_look(
    state: LookState,
    ref: ObjectRef,
    read: Reading,
    cached: Content,
    watch: WatchProgress,
    *,
    now: datetime,
) -> tuple[LookState, bool]:
    """
    Compare what was read with the cache. Returns whether its kind has to be listed anew.

    A difference counts if it was there the last time, no event has changed the cache since then, and
    its event is not on its way. A kind that was listed a moment ago waits with its doubt.
    """
    doubt = state.doubts.get(ref)
    doubts = {other: each for other, each in state.doubts.items() if other != ref}
    if read.content == cached or (doubt is not None and doubt.cached != cached):
        return replace(state, doubts=doubts), False
    if doubt is None:
        doubts[ref] = Doubt(cached, now + CONFIRM_AFTER, now, read.version)
        return replace(state, doubts=doubts), False
    again = _confirm_again_at(state, ref, doubt, watch, now=now)
    if again is not None:
        doubts[ref] = replace(doubt, at=again)
        return replace(state, doubts=doubts), False
    doubts = {other: each for other, each in doubts.items() if other.resource != ref.resource}
    relisted = {**state.relisted, ref.resource: now}
    return replace(state, doubts=doubts, relisted=relisted), True


def _confirm_again_at(
    state: LookState, ref: ObjectRef, doubt: Doubt, watch: WatchProgress, *, now: datetime
) -> datetime | None:
    """Return when to look once more before the kind is listed anew; None if it is listed now."""
    if watch.is_behind(doubt.version, doubt.seen):
        return now + CONFIRM_AFTER
    listed = state.relisted.get(ref.resource)
    if listed is not None and listed <= now < listed + RELIST_INTERVAL:
        return listed + RELIST_INTERVAL
    return None
