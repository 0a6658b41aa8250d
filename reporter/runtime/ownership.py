"""
The Lease belongs to the Deployment that runs this process, so that it goes when that is deleted.

Rule 1: nothing here may fail or delay the election; who renews the Lease does not know of this.
Rule 2: it needs no further right. The Deployment is watched as every other one is, and the Lease
is written only from what the elector has just read or written.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NoReturn

import msgspec

from reporter.kube.client import Api
from reporter.kube.errors import Invalid, KubeError, Refused
from reporter.kube.leases import LeaseBook
from reporter.model.kinds import DEPLOYMENTS
from reporter.model.leases import LeaseOwner
from reporter.model.objects import Deployment
from reporter.runtime.elector import Elector
from reporter.settings import Settings
from reporter.stages.snapshot import Snapshot


EVERY = 2.0
"""
Seconds between two looks, which cost no request as long as the owner is right.
"""

logger = logging.getLogger(__name__)


class Ownership:
    """
    *view*: where the Deployment is looked up. *book*: that of the election.
    """

    def __init__(self, api: Api, settings: Settings, view: Callable[[], Snapshot]) -> None:
        self._namespace, self._name = settings.lease_namespace, settings.deployment
        self._view = view
        self._last: LeaseOwner | None = None
        self._refused: LeaseOwner | None = None
        self.book = LeaseBook(
            api, self._namespace, settings.leader_election_id, owner=self._present_or_last
        )

    async def run(self, elector: Elector, *, every: float = EVERY) -> NoReturn:
        while True:
            await self._look(elector)
            await asyncio.sleep(every)

    async def _look(self, elector: Elector) -> None:
        """
        Followers look as well, to know the owner of a Lease that they may have to create.
        """
        owner, lease = self._present(), elector.lease
        if owner is None or owner == self._refused or lease is None or not elector.holds():
            return
        try:
            if await self.book.own(lease, owner) is not lease:
                logger.info("lease %s goes when deployment %s does", self.book, owner.name)
        except (Refused, Invalid) as err:
            self._refused = owner
            logger.info("lease %s stays when deployment %s goes: %s", self.book, owner.name, err)
        except (KubeError, msgspec.DecodeError) as err:
            logger.debug("the owner of lease %s is tried again: %s", self.book, err)

    def _present(self) -> LeaseOwner | None:
        """
        None as well where no reason reads Deployments, or this one was not seen yet.
        """
        snapshot = self._view()
        if DEPLOYMENTS.resource not in snapshot.tables:
            return None
        found = snapshot.get(DEPLOYMENTS, Deployment, self._namespace, self._name)
        if found is None or not found.metadata.uid:
            return None
        self._last = LeaseOwner(self._name, found.metadata.uid)
        return self._last

    def _present_or_last(self) -> LeaseOwner | None:
        """
        Also one that is gone: a Lease that its last pod still makes is collected with it then.
        """
        return self._present() or self._last
