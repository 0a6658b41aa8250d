"""
Decide who leads, by the rules of client-go (tools/leaderelection), so that both may share a Lease.

The times in a record are never compared with a local clock, as clocks of machines differ. The age of
a record is how long the local monotonic clock has seen it unchanged. Monotonic times are seconds of
the event loop.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto, unique

from reporter.model.records.lease_record import LeaseRecord


MIN_POLL_FACTOR, MAX_POLL_FACTOR = 0.25, 0.45
"""
The bounds of a follower's polling interval, in retry periods. The interval is random, so that
followers spread. It is short, because a follower counts the lease from when it sees a renewal, and
what it sees late it waits for longer: with the default flags it acquires an expired lease within a
second, and a released one at once. client-go waits 1 to 2.2 periods.
"""

RELEASED_DURATION = timedelta(seconds=1)
"""The duration in a released Lease, as client-go writes it: the API does not allow zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTiming:
    """
    The three durations of an election. The defaults are those of client-go.

    *lease_duration*: how long followers wait for a leader that does not renew.
    *renew_deadline*: how long a leader goes on without a successful renewal.
    *retry_period*: the time between two attempts.
    """

    lease_duration: timedelta = timedelta(seconds=15)
    renew_deadline: timedelta = timedelta(seconds=10)
    retry_period: timedelta = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class ObservedRecord:
    """
    A record, and when it was first seen with this content, or first missed.

    *missed_at*: when it was last found removed; None if it was there.
    """

    record: LeaseRecord
    observed_at: float
    missed_at: float | None = None

    @property
    def removed(self) -> bool:
        return self.missed_at is not None


def lease_expires_at(observed: ObservedRecord, timing: LeaseTiming) -> float:
    """
    Return the moment from which the lease may be acquired, which is at once if it was released.

    The duration in the record counts, but never less than the local one: a record that somebody edited
    by hand must not expire before its holder has noticed.
    """
    if not observed.record.holder and not observed.removed:
        return observed.observed_at
    duration = max(observed.record.duration, timing.lease_duration)
    return observed.observed_at + duration.total_seconds()


def observe_record(
    previous: ObservedRecord | None, record: LeaseRecord, *, now: float
) -> ObservedRecord:
    """
    Return the observation of a record, the previous one if the record has not changed.

    *now*: when the response with the record arrived, not when it was requested.
    """
    if previous is not None and previous.record == record and not previous.removed:
        return previous
    return ObservedRecord(record, now)


@unique
class LeaseAction(Enum):
    """The next step of a candidate."""

    CREATE = auto()
    RENEW = auto()
    ACQUIRE = auto()
    WAIT = auto()


def is_lease_removed(observed: ObservedRecord | None, record: LeaseRecord | None) -> bool:
    """
    Return whether a Lease was deleted or emptied by hand, which does not stop its holder.

    A holder that releases its Lease leaves a short duration and the time, as client-go does.
    """
    if observed is None or record is None:
        return observed is not None
    is_released = record.duration == RELEASED_DURATION and record.renew_time is not None
    return bool(observed.record.holder) and not record.holder and not is_released


def observe_removal(
    observed: ObservedRecord, timing: LeaseTiming, *, now: float
) -> ObservedRecord:
    """
    Return the observation of a removed Lease, which somebody may have renewed until it was removed.

    So its age counts from now: what a process saw before a pause says nothing about who held it. The
    duration in the record may be why an administrator removed the Lease, so the local one counts.
    """
    record = replace(observed.record, duration=timing.lease_duration)
    if observed.missed_at is not None and now - observed.missed_at <= longest_gap(timing):
        return ObservedRecord(record, observed.observed_at, missed_at=now)
    return ObservedRecord(record, now, missed_at=now)


def longest_gap(timing: LeaseTiming) -> float:
    """
    Return the seconds between two reads that miss a Lease, so that they may miss the same one.

    A leader that made it anew in between, and lost it again, has stopped when the first one expires.
    """
    return max(timing.lease_duration - timing.renew_deadline, timing.retry_period).total_seconds()


def next_action(
    observed: ObservedRecord | None,
    timing: LeaseTiming,
    *,
    exists: bool,
    leading: bool,
    identity: str,
    now: float,
) -> LeaseAction:
    """
    Return the next step of the candidate *identity*.

    *observed*: the last record, also if the Lease was removed since. *exists*: the Lease exists now.
    *leading*: the candidate leads. A former leader cannot know whose Lease it was that was removed.
    """
    if observed is not None:
        is_own = observed.record.holder == identity and (leading or not observed.removed)
        if is_own:
            return LeaseAction.RENEW if exists else LeaseAction.CREATE
        if now < lease_expires_at(observed, timing):
            return LeaseAction.WAIT
    return LeaseAction.ACQUIRE if exists else LeaseAction.CREATE


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
    observed: ObservedRecord | None, timing: LeaseTiming, *, now: float, jitter: float
) -> float:
    """
    Return when a follower tries again: at its next poll, or when the lease expires if that is sooner.

    *jitter*: random in [0, 1).
    """
    factor = MIN_POLL_FACTOR + (MAX_POLL_FACTOR - MIN_POLL_FACTOR) * jitter
    poll = now + timing.retry_period.total_seconds() * factor
    if observed is not None:
        expires = lease_expires_at(observed, timing)
        if now < expires < poll:
            return expires
    return poll


def next_renewal(renewed_at: float, timing: LeaseTiming, *, now: float) -> float:
    """Return when a leader renews again, or when its leadership ends if that is sooner."""
    return min(now + timing.retry_period.total_seconds(), leadership_deadline(renewed_at, timing))
