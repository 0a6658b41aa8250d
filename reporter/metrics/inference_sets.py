"""The series of InferenceSets: those that are not clear, and those that were within the hour."""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from heapq import nsmallest
from itertools import chain

from msgspec import Struct
from prometheus_client.samples import Sample

from reporter.metrics.declarations import SET_LABELS, SET_STATE
from reporter.metrics.index import ACTIVE, STATE_NAMES, Names, StateIndex
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey, Subject


KEPT_FOR = timedelta(hours=1)
"""
The time for which zeros follow the end of trouble: an alert resolves on a zero, and a graph shows the end.
"""


class _Remembered(Struct):
    """
    The states of one pair.

    *seen*: the states since the trouble began. *names*: those of now. *clear_since*: None while any.
    """

    seen: Names = ()
    names: Names = ()
    clear_since: datetime | None = None
    samples: tuple[Sample, ...] = ()


class SetSeries:
    """
    Remembers each pair of InferenceSet and reason, and its samples, which most scrapes repeat.

    *shown*: the pairs with series. *left_out*: how many have none, beyond the limit.
    """

    def __init__(self, owner_of: Callable[[Reason], str], *, limit: int) -> None:
        self.shown: Collection[FindingKey] = ()
        self.left_out = 0
        self._owner_of, self._limit = owner_of, limit
        self._remembered: dict[FindingKey, _Remembered] = {}

    def update(
        self,
        changed: Iterable[FindingKey],
        index: StateIndex,
        subjects: Collection[Subject],
        *,
        now: datetime,
    ) -> None:
        """
        Take the states of the changed pairs, and forget what was deleted or has long been clear.
        """
        for pair in changed:
            if pair.subject.name:
                self._update_one(pair, index.names_of(pair), now=now)
        for pair, each in list(self._remembered.items()):
            expired = each.clear_since is not None and now - each.clear_since >= KEPT_FOR
            if expired or pair.subject not in subjects:
                del self._remembered[pair]
        self.shown = self._choose()
        self.left_out = len(self._remembered) - len(self.shown)

    def samples(self) -> list[Sample]:
        """
        Return the samples of *inferenceset_reason_state* for all pairs that are shown.

        A state that is over reads 0, until the pair is forgotten.
        """
        return list(chain.from_iterable(self._remembered[pair].samples for pair in self.shown))

    def labels(self, pair: FindingKey) -> dict[str, str]:
        """Return the values of SET_LABELS for a pair: its subject, its reason and who must act."""
        subject = pair.subject
        owner = self._owner_of(pair.reason)
        values = (subject.layer, pair.reason, owner, subject.namespace, subject.name)
        return dict(zip(SET_LABELS, values, strict=True))

    def _update_one(self, pair: FindingKey, names: Names, *, now: datetime) -> None:
        before = self._remembered.get(pair)
        if before is None and not names:
            return
        each = before or _Remembered()
        each.names = names
        each.seen = tuple(n for n in STATE_NAMES if n in names or n in each.seen)
        each.clear_since = None if names else each.clear_since or now
        each.samples = tuple(self._make_samples(pair, each))
        self._remembered[pair] = each

    def _make_samples(self, pair: FindingKey, each: _Remembered) -> Iterator[Sample]:
        labels = self.labels(pair)
        for name in each.seen:
            yield Sample(SET_STATE.full_name, {**labels, "state": name}, float(name in each.names))

    def _choose(self) -> Collection[FindingKey]:
        """Return the pairs to show, by importance if they are too many."""
        if len(self._remembered) <= self._limit:
            return self._remembered.keys()
        return dict.fromkeys(nsmallest(self._limit, self._remembered, key=self._order))

    def _order(self, pair: FindingKey) -> tuple[int, FindingKey]:
        names = self._remembered[pair].names
        first = min((STATE_NAMES.index(n) for n in names if n != ACTIVE), default=len(STATE_NAMES))
        return first, pair
