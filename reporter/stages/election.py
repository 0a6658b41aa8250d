"""
Who leads, judged as client-go judges it (tools/leaderelection), so that both may share a Lease.

A record's times are never compared with a clock of ours: what counts is how long, by the local
monotonic clock, a record has not changed. Monotonic times are seconds of the event loop.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto, unique

from reporter.model.leases import LeaseRecord


SOONEST, LATEST = 0.25, 0.45
"""
In retry periods, when a follower polls again: spread, so that followers do not come together, and
within half of one, as what a follower sees late it waits for longer: with the flags' defaults it
takes a lease within a second of its end, and a released one at once. client-go waits 1 to 2.2.
"""

RELEASED = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """
    How patient a candidate is; the flags' defaults, which are client-go's.

    *lease*: how long others wait for us. *renew*: after how long without a renewal we give up.
    *retry*: the time between two tries.
    """

    lease: timedelta = timedelta(seconds=15)
    renew: timedelta = timedelta(seconds=10)
    retry: timedelta = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Sighting:
    """
    A record, and when it was first seen as it is.
    """

    record: LeaseRecord
    at: float


def runs_out(seen: Sighting, terms: Terms) -> float:
    """
    The moment from which it may be taken: its own duration counts, unless ours is longer.

    One that was edited by hand must not end before its holder has seen that.
    """
    return seen.at + max(seen.record.duration, terms.lease).total_seconds()


def sight(previous: Sighting | None, record: LeaseRecord, *, now: float) -> Sighting:
    """
    *now*: when the answer with the record was there, not when it was asked for.
    """
    if previous is not None and previous.record == record:
        return previous
    return Sighting(record, now)


@unique
class Move(Enum):
    """
    What a candidate does next.
    """

    CREATE = auto()
    RENEW = auto()
    TAKE = auto()
    WAIT = auto()


def dropped(seen: Sighting | None, record: LeaseRecord | None) -> bool:
    """
    Whether a Lease was deleted or emptied by hand, which does not stop its holder.

    Who gives a Lease back leaves a short one with its time, as client-go does.
    """
    if seen is None or not seen.record.holder:
        return False
    if record is None:
        return True
    return not record.holder and (record.duration != RELEASED or record.renewed is None)


def orphan(seen: Sighting, terms: Terms) -> Sighting:
    """
    What is still waited for when a Lease was dropped: its duration may be why it was.
    """
    return replace(seen, record=replace(seen.record, duration=terms.lease))


def decide(seen: Sighting | None, terms: Terms, *, exists: bool, me: str, now: float) -> Move:
    """
    *seen* may outlive the Lease and its content.
    """
    if seen is not None and seen.record.holder == me:
        return Move.RENEW if exists else Move.CREATE
    if seen is not None and seen.record.holder and now < runs_out(seen, terms):
        return Move.WAIT
    return Move.TAKE if exists else Move.CREATE


def claim(
    previous: LeaseRecord | None, *, me: str, lease: timedelta, now: datetime
) -> LeaseRecord:
    """
    The record that makes or keeps *me* the holder; only a change of holder is a transition.
    """
    if previous is None:
        return LeaseRecord(me, lease, acquired=now, renewed=now)
    if previous.holder == me:
        return replace(previous, duration=lease, renewed=now)
    return LeaseRecord(me, lease, acquired=now, renewed=now, transitions=previous.transitions + 1)


def released(previous: LeaseRecord, *, now: datetime) -> LeaseRecord:
    """
    Free at once for who sees it, and soon for who does not.
    """
    return LeaseRecord("", RELEASED, acquired=now, renewed=now, transitions=previous.transitions)


def lead_ends(renewed: float, terms: Terms) -> float:
    """
    When a lead ends without another renewal; *renewed* is when the last good one was *begun*.

    Others start counting when they see that renewal, which is later, and count longer.
    """
    return renewed + terms.renew.total_seconds()


def next_try(seen: Sighting | None, terms: Terms, *, now: float, draw: float) -> float:
    """
    When a follower tries again: at its next poll, or already at the moment the lease runs out.

    *draw* is random in [0, 1).
    """
    poll = now + terms.retry.total_seconds() * (SOONEST + (LATEST - SOONEST) * draw)
    if seen is not None and seen.record.holder and now < runs_out(seen, terms) < poll:
        return runs_out(seen, terms)
    return poll


def next_renewal(renewed: float, terms: Terms, *, now: float) -> float:
    """
    When a leader tries again, or notices that it no longer is one.
    """
    return min(now + terms.retry.total_seconds(), lead_ends(renewed, terms))
