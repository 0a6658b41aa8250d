"""
Make the Deployment that runs this process an owner of the Lease, so that both are deleted together.

Rule 1: nothing here may fail or delay the election; the elector does not know of it.
Rule 2: it needs no further permission. The Deployment is watched like every other one, and the Lease
is written only from what the elector has just read or written.
"""

import asyncio
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import NoReturn

import msgspec

from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kube.client import RestClient
from reporter.kube.elector import Elector
from reporter.kube.errors import Invalid, KubeError, Refused
from reporter.kube.lease_rules import LeaseOwner
from reporter.kube.leases import LeaseLock
from reporter.settings import Settings
from reporter.snapshot.snapshot import Snapshot


CHECK_INTERVAL = 2.0
"""Seconds between two checks. A check costs no request while the owner is right."""

logger = logging.getLogger(__name__)


class LeaseOwnership:
    """
    Keeps the owner of the Lease up to date.

    *snapshot*: returns the present snapshot, in which the Deployment is looked up.
    *lock*: the lock of the election, which creates the Lease with its owner.
    """

    def __init__(
        self, api: RestClient, settings: Settings, snapshot: Callable[[], Snapshot]
    ) -> None:
        self._namespace, self._name = settings.lease_namespace, settings.deployment_name
        self._snapshot = snapshot
        self._last_owner: LeaseOwner | None = None
        self._refused_owner: LeaseOwner | None = None
        self.lock = LeaseLock(
            api, self._namespace, settings.leader_election_id, owner=self._current_or_last_owner
        )

    async def run(self, elector: Elector, *, interval: float = CHECK_INTERVAL) -> NoReturn:
        """
        Check the owner each *interval* of seconds until cancelled; write it while *elector* leads.

        A refused write is logged once and not tried again for the same Deployment.
        """
        while True:
            await self._update_owner(elector)
            await asyncio.sleep(interval)

    async def _update_owner(self, elector: Elector) -> None:
        """Add the owner if this process leads and the Lease lacks it."""
        # Followers look up the owner as well: they may have to create the Lease.
        owner, lease = self._current_owner(), elector.lease
        if (
            owner is None
            or owner == self._refused_owner
            or lease is None
            or not elector.holds_lease()
        ):
            return
        try:
            if await self.lock.add_owner(lease, owner) is not lease:
                logger.info("lease %s is deleted with deployment %s", self.lock, owner.name)
        except (KubeError, msgspec.DecodeError) as err:
            if not _is_lasting(err):
                logger.debug("lease %s has no owner yet, trying again: %s", self.lock, err)
                return
            # A permission that is missing is not granted every two seconds: not tried again.
            self._refused_owner = owner
            logger.info(
                "lease %s is not deleted with deployment %s: %s", self.lock, owner.name, err
            )

    def _current_owner(self) -> LeaseOwner | None:
        """
        Return the Deployment as owner; None if it was not seen or no Deployments are watched.
        """
        snapshot = self._snapshot()
        if DEPLOYMENTS.resource not in snapshot.tables:
            return None
        deployment = snapshot.get(DEPLOYMENTS, Deployment, self._namespace, self._name)
        if deployment is None or not deployment.metadata.uid:
            return None
        self._last_owner = LeaseOwner(self._name, deployment.metadata.uid)
        return self._last_owner

    def _current_or_last_owner(self) -> LeaseOwner | None:
        """
        Return the owner for a new Lease, also if the Deployment was deleted since.

        The garbage collector then deletes a Lease that the last pod still creates.
        """
        return self._current_owner() or self._last_owner


def _is_lasting(err: Exception) -> bool:
    """
    Return whether a write is refused for long; a webhook that cannot be called soon can (5xx).
    """
    return isinstance(err, Refused | Invalid) and err.status < HTTPStatus.INTERNAL_SERVER_ERROR
