"""The kinds that cannot be read now, with what each of them costs."""

from collections.abc import Collection, Mapping
from datetime import datetime

from msgspec import Struct

from reporter.catalogue.entries import Catalogue, ProbeSpec
from reporter.controller.coverage import (
    reasons_partly_unknown_without,
    reasons_unknown_without,
    reasons_with_less_detail_without,
)
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import DetailSource, Reason
from reporter.model.observations import WATCH_LOSS_TOLERANCE, NotSynced, WatchLost, WatchState
from reporter.store.store import Store


EVENTS = "events"
"""The name among the kinds for our own Events, which no reason needs."""


class UnreadKind(Struct, frozen=True):
    """
    A kind that cannot be read now; *why* names the missing permission, if that is the cause.

    *unknown*: the reasons that are Unknown without it. *unknown_in_part*: those that are Unknown for
    some subjects. *less_detail*: those that are evaluated all the same, without what it would add.
    """

    why: str
    unknown: frozenset[Reason] = frozenset()
    unknown_in_part: frozenset[Reason] = frozenset()
    less_detail: frozenset[Reason] = frozenset()

    @property
    def costs_anything(self) -> bool:
        """True if a reason is Unknown or has less detail without it; other kinds are not reported."""
        return bool(self.unknown or self.unknown_in_part or self.less_detail)

    def as_json(self) -> dict[str, str | list[Reason]]:
        """Return the kind as /status shows it; the reasons are sorted by name."""
        return {
            "why": self.why,
            "unknown": sorted(self.unknown),
            "unknownInPart": sorted(self.unknown_in_part),
            "lessDetail": sorted(self.less_detail),
        }


class UnreadKinds:
    """Finds the kinds that cannot be read. A kind that is not served, or being listed, is none."""

    def __init__(
        self,
        store: Store,
        catalogue: Catalogue,
        specs: Mapping[str, ProbeSpec],
        sources: Collection[DetailSource],
    ) -> None:
        self._store, self._catalogue = store, catalogue
        self._specs, self._sources = specs, sources

    def change_catalogue(self, catalogue: Catalogue) -> None:
        """Say from now on what an unread kind costs by another catalogue."""
        self._catalogue = catalogue

    def find(self, *, now: datetime) -> Mapping[str, UnreadKind]:
        """
        Return the kinds that cannot be read and cost a reason something, by the name of their watch.

        A watch that was lost counts only after WATCH_LOSS_TOLERANCE, as what it has shown holds
        until then.
        """
        states = zip(self._store.kinds, self._store.watch_states, strict=True)
        found = {
            kind.watch_name: self._describe(kind, why)
            for kind, state in states
            if (why := _why_unread(state, now=now))
        }
        return {name: each for name, each in found.items() if each.costs_anything}

    def _describe(self, kind: ResourceKind, why: str) -> UnreadKind:
        return UnreadKind(
            why,
            reasons_unknown_without(kind, self._catalogue, self._specs, self._sources),
            reasons_partly_unknown_without(kind, self._catalogue, self._specs, self._sources),
            reasons_with_less_detail_without(kind, self._catalogue, self._specs, self._sources),
        )


def _why_unread(state: WatchState, *, now: datetime) -> str:
    match state:
        case NotSynced(why):
            return why
        case WatchLost(since, why) if now - since >= WATCH_LOSS_TOLERANCE:
            return why
        case _:
            return ""
