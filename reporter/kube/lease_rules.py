"""
Decide who leads, by the rules of client-go (tools/leaderelection), so that both may share a Lease.

The times in a record are never compared with a local clock, as clocks of machines differ. The age of
a record is how long the local monotonic clock has seen it unchanged. Monotonic times are seconds of
the event loop.
"""

from datetime import datetime, timedelta
from enum import Enum, auto, unique

from msgspec import Struct
from msgspec.structs import replace


# --------------------------------------------------------------------
# The record and the owner of the Lease of a leader election.


class LeaseRecord(Struct, frozen=True):
    """
    The spec of a coordination.k8s.io/v1 Lease, as client-go writes it (resourcelock.LeaderElectionRecord).

    An empty holder means that the lease is free.
    """

    holder: str
    duration: timedelta
    acquire_time: datetime | None
    renew_time: datetime | None
    transitions: int = 0


class LeaseOwner(Struct, frozen=True):
    """
    The Deployment in the Lease's namespace that owns the Lease, so that both are deleted together.
    """

    name: str
    uid: str


MIN_POLL_FACTOR, MAX_POLL_FACTOR = 0.25, 0.45
"""
The bounds of a follower's polling interval, in retry periods. The interval is random, so that
followers spread. It is short, because a follower counts the lease from when it sees a renewal, and
what it sees late it waits for longer: with the default flags it acquires an expired lease within a
second, and a released one at once. client-go waits 1 to 2.2 periods.
"""

RELEASED_DURATION = timedelta(seconds=1)
"""The duration in a released Lease, as client-go writes it: the API does not allow zero."""


class LeaseTiming(Struct, frozen=True, kw_only=True):
    """
    The three durations of an election. The defaults are those of client-go.

    *lease_duration*: how long followers wait for a leader that does not renew.
    *renew_deadline*: how long a leader goes on without a successful renewal.
    *retry_period*: the time between two attempts.
    """

    lease_duration: timedelta = timedelta(seconds=15)
    renew_deadline: timedelta = timedelta(seconds=10)
    retry_period: timedelta = timedelta(seconds=2)


class ObservedRecord(Struct, frozen=True):
    """A record, and when it was first seen with this content: it expires from then, by our own clock."""

    record: LeaseRecord
    observed_at: float


class LeaseAbsence(Struct, frozen=True):
    """A Lease that is missing, or was emptied by hand: when this was seen first and last."""

    since: float
    seen_at: float


def lease_expires_at(
    observed: ObservedRecord | None, timing: LeaseTiming, absence: LeaseAbsence | None = None
) -> float:
    """
    Return the moment from which the lease may be acquired, which is at once if it was released.

    An absent one may have been renewed until it was removed, so its age counts from then, and what was
    seen before, perhaps before a pause, does not count. A candidate that has never seen it does not
    wait, as that of client-go: most likely it is the first of all.
    The duration in the record counts, but never less than the local one: a record that somebody edited
    by hand must not expire before its holder has noticed.
    """
    if observed is None or (absence is None and not observed.record.holder):
        return float("-inf")
    if absence is not None:
        return absence.since + timing.lease_duration.total_seconds()
    duration = max(observed.record.duration, timing.lease_duration)
    return observed.observed_at + duration.total_seconds()


def observe_record(
    previous: ObservedRecord | None, record: LeaseRecord, *, now: float
) -> ObservedRecord:
    """
    Return the observation of a record, the previous one if the record has not changed.

    *now*: when the response with the record arrived, not when it was requested.
    """
    if previous is not None and previous.record == record:
        return previous
    return ObservedRecord(record, now)


@unique
class LeaseAction(Enum):
    """
    The next step of a candidate after it has read the Lease.

    RENEW and ACQUIRE write it. WAIT leaves it to its holder until the next poll.
    """

    RENEW = auto()
    ACQUIRE = auto()
    WAIT = auto()


def is_lease_absent(observed: ObservedRecord | None, record: LeaseRecord | None) -> bool:
    """
    Return whether a Lease is missing or was emptied by hand, which does not stop its holder.

    A holder that releases its Lease leaves a short duration and the time, as client-go does.
    """
    if record is None:
        return True
    was_held = observed is not None and bool(observed.record.holder)
    is_released = record.duration == RELEASED_DURATION and record.renew_time is not None
    return was_held and not record.holder and not is_released


def observe_absence(
    previous: LeaseAbsence | None, timing: LeaseTiming, *, now: float
) -> LeaseAbsence:
    """
    Return the absence of a Lease that a read has just missed.

    *previous* goes on if it was seen at most `longest_gap` ago. Else another one begins, as the Lease may
    have been there in between.
    """
    if previous is not None and now - previous.seen_at <= longest_gap(timing):
        return replace(previous, seen_at=now)
    return LeaseAbsence(now, now)


def longest_gap(timing: LeaseTiming) -> float:
    """
    Return how many seconds apart two reads that miss a Lease may be to count as one absence.

    A leader that made the Lease anew in between, and lost it again, has stopped when the first one
    expires.
    """
    return max(timing.lease_duration - timing.renew_deadline, timing.retry_period).total_seconds()


def next_action(
    observed: ObservedRecord | None,
    timing: LeaseTiming,
    *,
    absence: LeaseAbsence | None,
    leading: bool,
    identity: str,
    now: float,
) -> LeaseAction:
    """
    Return the next step of the candidate *identity*.

    *observed*: the last record, also if the Lease is absent now.
    *leading*: the candidate leads. A former leader cannot know whose Lease it was that was removed.
    """
    is_own = observed is not None and observed.record.holder == identity
    if is_own and (leading or absence is None):
        return LeaseAction.RENEW
    if now < lease_expires_at(observed, timing, absence):
        return LeaseAction.WAIT
    return LeaseAction.ACQUIRE


def make_held_record(
    previous: LeaseRecord | None, *, identity: str, lease_duration: timedelta, now: datetime
) -> LeaseRecord:
    """
    Return the record that makes or keeps *identity* the holder.

    Only a change of holder counts as a transition.
    """
    if previous is None:
        return LeaseRecord(identity, lease_duration, acquire_time=now, renew_time=now)
    if previous.holder == identity:
        return replace(previous, duration=lease_duration, renew_time=now)
    return LeaseRecord(
        identity,
        lease_duration,
        acquire_time=now,
        renew_time=now,
        transitions=previous.transitions + 1,
    )


def make_released_record(previous: LeaseRecord, *, now: datetime) -> LeaseRecord:
    """Return the record of a released Lease, which any candidate may acquire at once."""
    return LeaseRecord(
        "", RELEASED_DURATION, acquire_time=now, renew_time=now, transitions=previous.transitions
    )


def leadership_deadline(renewed_at: float, timing: LeaseTiming) -> float:
    """
    Return when leadership ends without another renewal.

    *renewed_at*: when the last successful renewal was *sent*. Followers count from when they see that
    renewal, which is later, and for longer, so the leader gives up first.
    """
    return renewed_at + timing.renew_deadline.total_seconds()


def next_attempt(
    observed: ObservedRecord | None,
    timing: LeaseTiming,
    absence: LeaseAbsence | None = None,
    *,
    now: float,
    jitter: float,
) -> float:
    """
    Return when a follower tries again: at its next poll, or when the lease expires if that is sooner.

    *jitter*: random in [0, 1).
    """
    factor = MIN_POLL_FACTOR + (MAX_POLL_FACTOR - MIN_POLL_FACTOR) * jitter
    poll = now + timing.retry_period.total_seconds() * factor
    expires = lease_expires_at(observed, timing, absence)
    return expires if now < expires < poll else poll


def next_renewal(renewed_at: float, timing: LeaseTiming, *, now: float) -> float:
    """Return when a leader renews again, or when its leadership ends if that is sooner."""
    return min(now + timing.retry_period.total_seconds(), leadership_deadline(renewed_at, timing))
