"""
What the edges know about how well they see: a kind's watch, a resource's presence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Unlisted:
    """
    Never listed so far; *why* is empty while the first list is under way.
    """

    why: str = ""


@dataclass(frozen=True, slots=True)
class Watched:
    """
    Listed, and a watch is open.
    """


@dataclass(frozen=True, slots=True)
class Unwatched:
    """
    Listed once, but nothing tells of changes since *lost*.
    """

    lost: datetime
    why: str


@dataclass(frozen=True, slots=True)
class Unserved:
    """
    The API server answered that it has no such resource.
    """


Sight: TypeAlias = Unlisted | Watched | Unwatched | Unserved


@dataclass(frozen=True, slots=True)
class Discovery:
    """
    One answer of the API server to which resources it serves.

    *served*: ``resource.group`` → versions. *stale*: groups that this answer could not tell about.
    """

    served: Mapping[str, tuple[str, ...]]
    stale: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Presence:
    """
    What repeated discovery says of one resource; a loss counts once a second answer confirms it.

    *versions*: served, None before the first answer. *since*: when they became so.
    *doubted*: time of a first answer that lacked some of them. *blind*: why the last answer could
    not tell, empty if it could. *ever*: all versions that were served at any time.
    """

    versions: tuple[str, ...] | None = None
    since: datetime | None = None
    doubted: datetime | None = None
    blind: str = "not discovered yet"
    ever: frozenset[str] = frozenset()

    @property
    def known(self) -> bool:
        return self.versions is not None and self.doubted is None and not self.blind
