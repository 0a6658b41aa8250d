"""The writes of a plan, and what a leader remembers from plan to plan."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from reporter.history.wanted import WantedEpisode
from reporter.kinds.health_events import HealthEvent, StoreLimit


Json: TypeAlias = dict[str, Any]

SILENCED = "silenced"
"""The field of a status with the silence of its episode."""


class Create(NamedTuple):
    """An object to create. *node*: "" for trouble that is bound to none."""

    name: str
    node: str
    episode: WantedEpisode


class Patch(NamedTuple):
    """
    A merge patch of a status. *episode*: its causes and suffixes are written too, if there is one.
    """

    found: HealthEvent
    status: Json
    episode: WantedEpisode | None = None


class Rejection(NamedTuple):
    """A wanted object that has no place."""

    name: str
    limit: StoreLimit


class PlanMemory(Struct, frozen=True):
    """
    The memory of a leader, by names of objects.

    *wanted*: objects that were wanted, so that this process has seen their episodes end.
    *clear_since*: since when an Active object of no running episode has been without trouble.
    *patched_at*: when causes or suffixes were written last.
    """

    wanted: frozenset[str] = frozenset()
    clear_since: Mapping[str, datetime] = field(default_factory=dict)
    patched_at: Mapping[str, datetime] = field(default_factory=dict)
