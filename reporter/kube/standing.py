"""
How well a kind is seen: told to the store at each change, logged once.
"""

import logging
from datetime import datetime, timedelta
from typing import Protocol

from reporter.kube.errors import Invalid, KubeError, Refused
from reporter.kube.means import Clock
from reporter.model.kinds import ResourceKind
from reporter.model.observations import Sight, Unlisted, Unserved, Unwatched, Watched


logger = logging.getLogger(__name__)


class Sights(Protocol):
    """
    Who must know how well a kind is seen.
    """

    def sight(self, kind: ResourceKind, sight: Sight) -> None: ...


class Standing:
    """
    A watch that ends and opens again at once changes nothing here.
    """

    def __init__(self, kind: ResourceKind, sights: Sights, clock: Clock) -> None:
        self._kind = kind
        self._sights = sights
        self._clock = clock
        self._listed = False
        self._lost: datetime | None = None
        self._logged = ""
        self._failures = 0

    def listed(self) -> None:
        self._listed = True

    def opened(self) -> None:
        """
        A watch is open.
        """
        self._lost = None
        self._failures = 0
        self._sights.sight(self._kind, Watched())
        if self._logged:
            logger.info("%s: watched again", self._kind.qualified)
        self._logged = ""

    @property
    def lost(self) -> timedelta:
        """
        For how long nothing has been watched; a watch that only was silent shows no such time.

        Of a kind that nobody changes the API server may say nothing for minutes.
        """
        if self._lost is None or not self._failures:
            return timedelta(0)
        return self._clock.now() - self._lost

    def ended(self, heard: datetime | None = None) -> None:
        """
        The watch is no longer open; *heard* is when it last said anything, if not just now.
        """
        if self._lost is None:
            self._lost = heard or self._clock.now()

    def blind(self, err: KubeError) -> None:
        why = _why(err)
        self.ended()
        if self._listed and self._lost is not None:
            self._sights.sight(self._kind, Unwatched(self._lost, why))
        else:
            self._sights.sight(self._kind, Unlisted(why))
        self._failures += 1
        lasting = self._failures > 1 or isinstance(err, Refused | Invalid)
        self._log(logging.WARNING if lasting else logging.DEBUG, err, why)

    def unserved(self) -> None:
        self._listed = False
        self._sights.sight(self._kind, Unserved())
        if self._logged != "unserved":
            logger.info("%s: not served by the API server", self._kind.qualified)
        self._logged = "unserved"

    def _log(self, level: int, err: KubeError, why: str) -> None:
        about = f"{type(err).__name__} {why if isinstance(err, Refused) else ''}"
        if level == logging.WARNING and self._logged == about:
            return
        logger.log(level, "%s: not watched: %s (%s)", self._kind.qualified, why, err)
        if level == logging.WARNING:
            self._logged = about


def _why(err: KubeError) -> str:
    if isinstance(err, Refused) and err.missing_right:
        return f"may not {err.missing_right}"
    return err.why
