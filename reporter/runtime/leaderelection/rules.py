"""
The rules of leader election, those of client-go (tools/leaderelection), so both may share a Lease.

The times in a record are never compared with a local clock: what counts is for how long, by the
local monotonic clock, a record has not changed. Monotonic times are seconds of the event loop.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto, unique

from reporter.model.lease_record import LeaseRecord


MIN_POLL_FACTOR, MAX_POLL_FACTOR = 0.25, 0.45
"""
Bounds, in retry periods, of a follower's random pause between two polls.

Followers count a lease's duration from when they see a renewal, so a late poll delays failover:
with the default flags they take a lease within a second of its end. client-go waits 1 to 2.2.
"""

RELEASED_DURATION = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTiming:
    """
    The durations of the election; the defaults are those of the flags and of client-go.

    Others wait for *lease_duration* before they take the Lease. A leader gives up after
    *renew_deadline* without a renewal. *retry_period* is the time between two tries.
    """

    lease_duration: timedelta = timedelta(seconds=15)
    renew_deadline: timedelta = timedelta(seconds=10)
    retry_period: timedelta = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class ObservedRecord:
    """
    A record, and when it was first seen with this content.
    """

    record: LeaseRecord
    observed_at: float


def lease_expires_at(observed: ObservedRecord, timing: LeaseTiming) -> float:
    """
    Return the moment from which a Lease may be taken, by the longer of its duration and ours.

    A duration that was shortened by hand must not end a lease before its holder has seen that.
    """
    return (
        observed.observed_at + max(observed.record.duration, timing.lease_duration).total_seconds()
    )


def observe_record(
    previous: ObservedRecord | None, record: LeaseRecord, *, now: float
) -> ObservedRecord:
    """
    Return the observation after a read; *now* is when the answer arrived, not when it was sent.
    """
    if previous is not None and previous.record == record:
        return previous
    return ObservedRecord(record, now)


@unique
class LeaseAction(Enum):
    """
    The next step of a candidate.
    """

    CREATE = auto()
    RENEW = auto()
    ACQUIRE = auto()
    WAIT = auto()


def is_lease_removed(observed: ObservedRecord | None, record: LeaseRecord | None) -> bool:
    """
    Report whether a Lease was deleted or emptied by hand, which does not stop its holder.

    A released Lease differs: it has a short duration and a renew time, as client-go leaves it.
    """
    if observed is None or not observed.record.holder:
        return False
    if record is None:
        return True
    return not record.holder and (
        record.duration != RELEASED_DURATION or record.renew_time is None
    )


def with_local_duration(observed: ObservedRecord, timing: LeaseTiming) -> ObservedRecord:
    """
    Return what to wait for after a Lease was removed: its duration may be why someone removed it.
    """
    return replace(observed, record=replace(observed.record, duration=timing.lease_duration))


def next_action(
    observed: ObservedRecord | None,
    timing: LeaseTiming,
    *,
    exists: bool,
    identity: str,
    now: float,
) -> LeaseAction:
    """
    Return what the candidate *identity* does next.

    *observed* may outlive a Lease that was removed; *exists* is whether there is one now.
    """
    if observed is not None and observed.record.holder == identity:
        return LeaseAction.RENEW if exists else LeaseAction.CREATE
    if (
        observed is not None
        and observed.record.holder
        and now < lease_expires_at(observed, timing)
    ):
        return LeaseAction.WAIT
    return LeaseAction.ACQUIRE if exists else LeaseAction.CREATE


def make_held_record(
    previous: LeaseRecord | None, *, identity: str, lease_duration: timedelta, now: datetime
) -> LeaseRecord:
    """
    Return the record that makes or keeps *identity* the holder; a new holder is a transition.
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
    """
    Return a record without a holder: free at once, and soon also for those that do not read it.
    """
    return LeaseRecord(
        "", RELEASED_DURATION, acquire_time=now, renew_time=now, transitions=previous.transitions
    )


def leadership_deadline(renewed_at: float, timing: LeaseTiming) -> float:
    """
    Return when leadership ends without another renewal.

    *renewed_at* is when the last successful renewal was *started*. Others start counting when they
    see that renewal, which is later, and count longer.
    """
    return renewed_at + timing.renew_deadline.total_seconds()


def next_attempt(
    observed: ObservedRecord | None, timing: LeaseTiming, *, now: float, jitter: float
) -> float:
    """
    Return when a follower tries again: at its next poll, or earlier when the lease expires.

    *jitter* is random in [0, 1).
    """
    poll = now + timing.retry_period.total_seconds() * (
        MIN_POLL_FACTOR + (MAX_POLL_FACTOR - MIN_POLL_FACTOR) * jitter
    )
    if observed is not None and observed.record.holder:
        expires_at = lease_expires_at(observed, timing)
        if now < expires_at < poll:
            return expires_at
    return poll


def next_renewal(renewed_at: float, timing: LeaseTiming, *, now: float) -> float:
    """
    Return when a leader tries again, or notices that it no longer leads.
    """
    return min(now + timing.retry_period.total_seconds(), leadership_deadline(renewed_at, timing))
