"""The record and the owner of the Lease of a leader election."""

from datetime import datetime, timedelta

from msgspec import Struct


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
