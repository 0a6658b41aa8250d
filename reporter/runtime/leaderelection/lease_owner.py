"""
Makes the Deployment of this process the owner of its Lease, so that both are deleted together.

Rule 1: nothing here may fail or delay the election; the elector does not know of this module.
Rule 2: it needs no further permission. The Deployment is watched like every other one, and the
Lease is written only from what the elector has just read or written.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NoReturn

import msgspec

from reporter.kube.client.client import RestClient
from reporter.kube.objects.leases import LeaseLock
from reporter.kube.wire.errors import Invalid, KubeError, Refused
from reporter.model.kinds.objects import Deployment
from reporter.model.kinds.resource_kinds import DEPLOYMENTS
from reporter.model.lease_record import LeaseOwner
from reporter.runtime.leaderelection.elector import Elector
from reporter.settings import Settings
from reporter.stages.snapshot.snapshot import Snapshot


CHECK_INTERVAL = 2.0
"""
Seconds between two checks, which cost no request as long as the owner is right.
"""

logger = logging.getLogger(__name__)


class LeaseOwnership:
    """
    *snapshot* returns the objects in which the Deployment is looked up. *lock* is the election's.
    """

    def __init__(
        self, api: RestClient, settings: Settings, snapshot: Callable[[], Snapshot]
    ) -> None:
        self._namespace, self._name = settings.lease_namespace, settings.deployment_name
        self._take_snapshot = snapshot
        self._last_owner: LeaseOwner | None = None
        self._refused_owner: LeaseOwner | None = None
        self.lock = LeaseLock(
            api, self._namespace, settings.leader_election_id, owner=self._current_or_last_owner
        )

    async def run(self, elector: Elector, *, interval: float = CHECK_INTERVAL) -> NoReturn:
        while True:
            await self._update_owner(elector)
            await asyncio.sleep(interval)

    async def _update_owner(self, elector: Elector) -> None:
        """
        Add the owner to the Lease if this process leads.

        Followers look the Deployment up as well: they may have to create the Lease with its owner.
        """
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
                logger.info("lease %s goes when deployment %s does", self.lock, owner.name)
        except (Refused, Invalid) as err:
            self._refused_owner = owner
            logger.info("lease %s stays when deployment %s goes: %s", self.lock, owner.name, err)
        except (KubeError, msgspec.DecodeError) as err:
            logger.debug("the owner of lease %s is not set yet; trying again: %s", self.lock, err)

    def _current_owner(self) -> LeaseOwner | None:
        """
        Return None where no reason reads Deployments, or while this one is not in the store.
        """
        snapshot = self._take_snapshot()
        if DEPLOYMENTS.resource not in snapshot.tables:
            return None
        found = snapshot.get(DEPLOYMENTS, Deployment, self._namespace, self._name)
        if found is None or not found.metadata.uid:
            return None
        self._last_owner = LeaseOwner(self._name, found.metadata.uid)
        return self._last_owner

    def _current_or_last_owner(self) -> LeaseOwner | None:
        """
        Return a deleted Deployment as well: a Lease that its last pod creates is then collected.
        """
        return self._current_owner() or self._last_owner
