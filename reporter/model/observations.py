"""The state of a kind's watch and the presence of a resource."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec import Struct, field


WATCH_LOSS_TOLERANCE = timedelta(seconds=30)
"""Time that the last known state of a kind still counts after its watch was lost."""


class NotSynced(Struct, frozen=True):
    """
    The state of a kind that is not listed yet; *why* is empty while the first list is under way.

    *refused*: the API server itself answered that there is no such list for now: it is forbidden, the
    API group fails, no readable version is served, or the kind has another scope than a catalogue
    declares. So waiting for it is no use. What a proxy answers, or nobody, is no such answer.
    *failing*: the API server itself keeps answering with an error, such as that of a conversion
    webhook. Waiting is no use either if it lists other kinds meanwhile; if it lists none, it may be
    the server that fails, and not the kind.
    """

    why: str = ""
    refused: bool = False
    failing: bool = False


class Watching(Struct, frozen=True):
    """
    The state of a kind that was listed and whose watch is open, so that its objects are current.
    """


class WatchLost(Struct, frozen=True):
    """The state of a kind that was listed once, and that no watch is open for since *since*."""

    since: datetime
    why: str


class NotServed(Struct, frozen=True):
    """The state of a kind of which the API server says that it has no such resource."""


WatchState: TypeAlias = NotSynced | Watching | WatchLost | NotServed


class DiscoveryResult(Struct, frozen=True):
    """
    The resources that the API server serves, as of one discovery.

    *served_versions*: by ``resource.group``. *failed_groups*: API groups whose discovery failed.
    *namespaced*: of each resource of which the API server says whether it has namespaces.
    """

    served_versions: Mapping[str, tuple[str, ...]]
    failed_groups: frozenset[str] = frozenset()
    namespaced: Mapping[str, bool] = field(default_factory=dict)


CRDS_RESOURCE = "customresourcedefinitions.apiextensions.k8s.io"

FORGOTTEN_VERSION = ""
"""Stands for the versions in which a predecessor of this process saw a resource served."""


class CRDPresence(Struct, frozen=True):
    """
    The presence of one resource; a loss counts once a second discovery confirms it.

    *versions*: the served ones, None before the first discovery; *since*: when they became so.
    *missing_since*: time of the first discovery that lacked some of them.
    *why_unknown*: why the last discovery gave no answer, "" if it did.
    *ever_served*: all versions that were served at any time.
    *namespaced*: it has namespaces; None while that is not known, or if it is not served.
    """

    versions: tuple[str, ...] | None = None
    since: datetime | None = None
    missing_since: datetime | None = None
    why_unknown: str = "not discovered yet"
    ever_served: frozenset[str] = frozenset()
    namespaced: bool | None = None

    def was_served(self, versions: Collection[str]) -> bool:
        """
        Return whether one of these versions was served at any time; any version if none is named.
        """
        if not versions:
            return bool(self.ever_served)
        return not self.ever_served.isdisjoint({*versions, FORGOTTEN_VERSION})

    @property
    def is_known(self) -> bool:
        """True if the last discovery answered; False also while a loss is not confirmed yet."""
        return self.versions is not None and self.missing_since is None and not self.why_unknown
