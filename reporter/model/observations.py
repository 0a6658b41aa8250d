"""
What the edges know about how well they see: a kind's watch, a resource's presence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias


WATCH_LOSS_TOLERANCE = timedelta(seconds=30)
"""
How long the last known state of a kind still counts after its watch was lost.
"""


@dataclass(frozen=True, slots=True)
class NotSynced:
    """
    Never listed so far; *why* is empty while the first list is under way.
    """

    why: str = ""


@dataclass(frozen=True, slots=True)
class Watching:
    """
    Listed, and a watch is open.
    """


@dataclass(frozen=True, slots=True)
class WatchLost:
    """
    Listed once, but nothing tells of changes since *lost*.
    """

    since: datetime
    why: str


@dataclass(frozen=True, slots=True)
class NotServed:
    """
    The API server answered that it has no such resource.
    """


WatchState: TypeAlias = NotSynced | Watching | WatchLost | NotServed


@dataclass(frozen=True, slots=True)
class DiscoveryResult:
    """
    One answer of the API server to which resources it serves.

    *served*: ``resource.group`` → versions. *stale*: groups that this answer could not tell about.
    """

    served_versions: Mapping[str, tuple[str, ...]]
    failed_groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CRDPresence:
    """
    What repeated discovery says of one resource; a loss counts once a second answer confirms it.

    *versions*: served, None before the first answer. *since*: when they became so.
    *doubted*: time of a first answer that lacked some of them. *blind*: why the last answer could
    not tell, empty if it could. *ever*: all versions that were served at any time.
    """

    versions: tuple[str, ...] | None = None
    since: datetime | None = None
    missing_since: datetime | None = None
    why_unknown: str = "not discovered yet"
    ever_served: frozenset[str] = frozenset()

    @property
    def is_known(self) -> bool:
        return self.versions is not None and self.missing_since is None and not self.why_unknown
