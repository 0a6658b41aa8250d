"""
The states of all keys that are not clear, kept up to date by what changed since the last scrape.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import product
from typing import TypeAlias, TypeVar

from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.states import ReasonState, is_alerted, shown_state
from reporter.model.enums import Layer, Reason
from reporter.model.subjects import FindingKey, Subject


ReasonRow: TypeAlias = tuple[Layer, Reason, str]
"""Layer, reason and namespace."""

Names: TypeAlias = tuple[str, ...]
T = TypeVar("T")

ACTIVE, CLEAR = "active", "clear"
IMPORTANCE = (
    ReasonState.ANNOUNCED,
    ReasonState.OUTRANKED,
    ReasonState.SUPPRESSED,
    ReasonState.SILENCED,
    ReasonState.UNKNOWN,
    ReasonState.HELD,
    ReasonState.SETTLING,
)
"""
The states of a key, the most important first. DUE is not among them: what the leader announces counts as
ANNOUNCED on every replica.
"""

STATE_NAMES: Names = (ACTIVE, *(each.value for each in IMPORTANCE))
"""
A finding is active beside its state, whatever that is, and silenced while a silence is about it.
"""


class StateIndex:
    """
    Counts keys by state. The states do not depend on whether this replica leads.

    A pair is a key without its item: one reason about one subject.
    *rows*: keys by state, for each reason and namespace. *subjects*: the same for each subject.
    *alerted*: the pairs on which alerts fire, and which of their items are out.
    """

    def __init__(self) -> None:
        self.rows: defaultdict[ReasonRow, Counter[str]] = defaultdict(Counter)
        self.subjects: defaultdict[Subject, Counter[str]] = defaultdict(Counter)
        self.alerted: defaultdict[FindingKey, dict[str, bool]] = defaultdict(dict)
        self._evaluation = Evaluation()
        self._items: defaultdict[FindingKey, dict[str, Names]] = defaultdict(dict)

    def update(self, evaluation: Evaluation) -> set[FindingKey]:
        """
        Take an evaluation, and return the keys that may have changed since the one before, without items.
        """
        changed = set()
        # Another thread than that of the passes counts, so it does not follow each of them.
        for key in evaluation.changed_since(self._evaluation):
            state = shown_state(evaluation, key, leading=True)
            names, pair = _names(evaluation, key, state), without_item(key)
            self._count(pair, self._items[pair].get(key.item, ()), -1)
            self._count(pair, names, 1)
            _keep(self._items, pair, key.item, names)
            out = _is_out(evaluation, key) if is_alerted(evaluation, key) else None
            _keep(self.alerted, pair, key.item, out)
            changed.add(pair)
        # Only what is compared: if nobody scrapes for long, all else is of objects that are gone.
        self._evaluation = Evaluation(
            evaluation.tracked,
            evaluation.suppressions,
            evaluation.rankings,
            silences=evaluation.silences,
        )
        return changed

    def names_of(self, pair: FindingKey) -> Names:
        """Return the states of a reason about one subject; several if its items differ."""
        found = {name for names in self._items.get(pair, {}).values() for name in names}
        return tuple(name for name in STATE_NAMES if name in found)

    def _count(self, pair: FindingKey, names: Names, number: int) -> None:
        subject = pair.subject
        for counted, by in (
            (self.rows, (subject.layer, pair.reason, subject.namespace)),
            (self.subjects, subject),
        ):
            _add(counted, by, names, number)


def _keep(
    kept: defaultdict[FindingKey, dict[str, T]], pair: FindingKey, item: str, value: T | None
) -> None:
    """Keep the value of an item of a pair; None, or no names at all, forgets the item."""
    items = kept[pair]
    if value is None or value == ():
        items.pop(item, None)
    else:
        items[item] = value
    if not items:
        del kept[pair]


def _is_out(evaluation: Evaluation, key: FindingKey) -> bool:
    found = evaluation.tracked.finding_states[key].announceable
    return any(clock.trouble.is_out for clock in found)


def _names(evaluation: Evaluation, key: FindingKey, state: ReasonState | None) -> Names:
    finding = evaluation.tracked.finding_states.get(key)
    names = () if state is None else (state.value,)
    if finding is None or not finding.past_hold:
        return names
    silenced = evaluation.silence_of(key) is not None and state is not ReasonState.SILENCED
    return (ACTIVE, *names, ReasonState.SILENCED.value) if silenced else (ACTIVE, *names)


def _add(counted: defaultdict, by: object, names: Names, number: int) -> None:  # type: ignore[type-arg]
    if not names:
        return
    counter = counted[by]
    for name in names:
        counter[name] += number
        if not counter[name]:
            del counter[name]
    if not counter:
        del counted[by]


def without_item(key: FindingKey) -> FindingKey:
    """Return the key without its item: all items of one subject and reason share their series."""
    return key if not key.item else FindingKey(key.subject, key.reason)


def most_important(names: Iterable[str]) -> str:
    """
    Return the most important of some states, by the order of STATE_NAMES.

    Raises ValueError for none at all, and for "active", which stands beside a state.
    """
    return min(names, key=STATE_NAMES[1:].index)


def count_subjects(
    evaluation: Evaluation, states: Mapping[Subject, Mapping[str, int]]
) -> Mapping[tuple[str, str], int]:
    """
    Count subjects by layer and their most important state.

    A layer whose subjects cannot be listed has no zeros: there may be some in any state.
    """
    unlisted = {each.layer for each in evaluation.known_subjects.unknown}
    listed = (layer for layer in Layer if layer not in unlisted)
    counts: Counter[tuple[str, str]] = Counter()
    counts.update(dict.fromkeys(product(listed, (*STATE_NAMES[1:], CLEAR)), 0))
    for each in evaluation.subjects:
        names = states.get(each)
        state = most_important(n for n in names if n != ACTIVE) if names else CLEAR
        counts[each.layer, state] += 1
    return counts
