"""
The record of a Lease that an election is judged by.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """
    As client-go writes it into coordination.k8s.io/v1 Lease.spec (resourcelock.LeaderElectionRecord).

    An empty holder means that the lease is free.
    """

    holder: str
    duration: timedelta
    acquire_time: datetime | None
    renew_time: datetime | None
    transitions: int = 0


@dataclass(frozen=True, slots=True)
class LeaseOwner:
    """
    The Deployment, in the Lease's namespace, with which the garbage collector removes the Lease.
    """

    name: str
    uid: str
