"""
Who leads, judged as client-go judges it (tools/leaderelection), so that both may share a Lease.

A record's times are never compared with a clock of ours: what counts is how long, by the local
monotonic clock, a record has not changed. Monotonic times are seconds of the event loop.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto, unique

from reporter.model.lease_record import LeaseRecord


MIN_POLL_FACTOR, MAX_POLL_FACTOR = 0.25, 0.45
"""
In retry periods, when a follower polls again: spread, so that followers do not come together, and
within half of one, as what a follower sees late it waits for longer: with the flags' defaults it
takes a lease within a second of its end, and a released one at once. client-go waits 1 to 2.2.
"""

RELEASED_DURATION = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTiming:
    """
    How patient a candidate is; the flags' defaults, which are client-go's.

    *lease*: how long others wait for us. *renew*: after how long without a renewal we give up.
    *retry*: the time between two tries.
    """

    lease_duration: timedelta = timedelta(seconds=15)
    renew_deadline: timedelta = timedelta(seconds=10)
    retry_period: timedelta = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class ObservedRecord:
    """
    A record, and when it was first seen as it is.
    """

    record: LeaseRecord
    observed_at: float


def lease_expires_at(seen: ObservedRecord, terms: LeaseTiming) -> float:
    """
    The moment from which it may be taken: its own duration counts, unless ours is longer.

    One that was edited by hand must not end before its holder has seen that.
    """
    return seen.observed_at + max(seen.record.duration, terms.lease_duration).total_seconds()


def observe_record(
    previous: ObservedRecord | None, record: LeaseRecord, *, now: float
) -> ObservedRecord:
    """
    *now*: when the answer with the record was there, not when it was asked for.
    """
    if previous is not None and previous.record == record:
        return previous
    return ObservedRecord(record, now)


@unique
class LeaseAction(Enum):
    """
    What a candidate does next.
    """

    CREATE = auto()
    RENEW = auto()
    ACQUIRE = auto()
    WAIT = auto()


def is_lease_removed(seen: ObservedRecord | None, record: LeaseRecord | None) -> bool:
    """
    Whether a Lease was deleted or emptied by hand, which does not stop its holder.

    Who gives a Lease back leaves a short one with its time, as client-go does.
    """
    if seen is None or not seen.record.holder:
        return False
    if record is None:
        return True
    return not record.holder and (
        record.duration != RELEASED_DURATION or record.renew_time is None
    )


def with_local_duration(seen: ObservedRecord, terms: LeaseTiming) -> ObservedRecord:
    """
    What is still waited for when a Lease was dropped: its duration may be why it was.
    """
    return replace(seen, record=replace(seen.record, duration=terms.lease_duration))


def next_action(
    seen: ObservedRecord | None, terms: LeaseTiming, *, exists: bool, identity: str, now: float
) -> LeaseAction:
    """
    *seen* may outlive the Lease and its content.
    """
    if seen is not None and seen.record.holder == identity:
        return LeaseAction.RENEW if exists else LeaseAction.CREATE
    if seen is not None and seen.record.holder and now < lease_expires_at(seen, terms):
        return LeaseAction.WAIT
    return LeaseAction.ACQUIRE if exists else LeaseAction.CREATE


def make_held_record(
    previous: LeaseRecord | None, *, identity: str, lease_duration: timedelta, now: datetime
) -> LeaseRecord:
    """
    The record that makes or keeps *me* the holder; only a change of holder is a transition.
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
    Free at once for who sees it, and soon for who does not.
    """
    return LeaseRecord(
        "", RELEASED_DURATION, acquire_time=now, renew_time=now, transitions=previous.transitions
    )


def leadership_deadline(renewed: float, terms: LeaseTiming) -> float:
    """
    When a lead ends without another renewal; *renewed* is when the last good one was *begun*.

    Others start counting when they see that renewal, which is later, and count longer.
    """
    return renewed + terms.renew_deadline.total_seconds()


def next_attempt(
    seen: ObservedRecord | None, terms: LeaseTiming, *, now: float, jitter: float
) -> float:
    """
    When a follower tries again: at its next poll, or already at the moment the lease runs out.

    *draw* is random in [0, 1).
    """
    poll = now + terms.retry_period.total_seconds() * (
        MIN_POLL_FACTOR + (MAX_POLL_FACTOR - MIN_POLL_FACTOR) * jitter
    )
    if seen is not None and seen.record.holder and now < lease_expires_at(seen, terms) < poll:
        return lease_expires_at(seen, terms)
    return poll


def next_renewal(renewed: float, terms: LeaseTiming, *, now: float) -> float:
    """
    When a leader tries again, or notices that it no longer is one.
    """
    return min(now + terms.retry_period.total_seconds(), leadership_deadline(renewed, terms))
