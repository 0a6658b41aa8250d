"""The kinds that cannot be read now, with what each of them costs."""

from collections.abc import Collection, Mapping
from datetime import datetime

from msgspec import Struct

from reporter.catalogue.entries import Catalogue
from reporter.controller.coverage import ReasonsWithout, reasons_without
from reporter.model.enums import DetailSource, Reason
from reporter.model.observations import WATCH_LOSS_TOLERANCE, NotSynced, WatchLost, WatchState
from reporter.store.store import Store


EVENTS = "events"
"""The name among the kinds for our own Events, which no reason needs."""


class UnreadKind(Struct, frozen=True):
    """
    A kind that cannot be read now, and the reasons that miss it.

    *why* names the missing permission, if that is the cause.
    """

    why: str
    reasons: ReasonsWithout = ReasonsWithout()

    def as_json(self) -> dict[str, str | list[Reason]]:
        """Return the kind as /status shows it; the reasons are sorted by name."""
        return {
            "why": self.why,
            "unknown": sorted(self.reasons.unknown),
            "unknownInPart": sorted(self.reasons.unknown_in_part),
            "lessDetail": sorted(self.reasons.less_detail),
        }


class UnreadKinds:
    """Finds the kinds that cannot be read. A kind that is not served, or being listed, is none."""

    def __init__(
        self, store: Store, catalogue: Catalogue, sources: Collection[DetailSource]
    ) -> None:
        self._store, self._catalogue, self._sources = store, catalogue, sources

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
            kind.watch_name: UnreadKind(why, reasons_without(kind, self._catalogue, self._sources))
            for kind, state in states
            if (why := _why_unread(state, now=now))
        }
        return {name: each for name, each in found.items() if any(each.reasons)}


def _why_unread(state: WatchState, *, now: datetime) -> str:
    match state:
        case NotSynced(why):
            return why
        case WatchLost(since, why) if now - since >= WATCH_LOSS_TOLERANCE:
            return why
        case _:
            return ""
