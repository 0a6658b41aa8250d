"""
The sums and the blockers of a namespace, kept by difference: a change costs one set, not all.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reporter.model.states import COUNTED_STATES, State
from reporter.model.subjects import FindingKey
from reporter.rollup.blockers import SETTLING
from reporter.rollup.records import (
    Blocker,
    Group,
    GroupKey,
    SetRecord,
    Standing,
    Totals,
)
from reporter.rollup.rules import RollUpRules


NO_RANK = 1_000_000
"""The rank of progress without trouble: after every reason."""


def add_record(totals: Totals, record: SetRecord | None, sign: int = 1) -> Totals:
    """Return the sums with one set more, or with one less for a *sign* of -1."""
    if record is None:
        return totals
    replicas = record.replicas
    is_counted = record.facts is None or record.facts.has_replicas
    updated = replicas.updated if replicas is not None else None
    ready = replicas.ready if replicas is not None else None
    state = record.standing.state
    counts = tuple(
        number + sign * (each is state)
        for each, number in zip(COUNTED_STATES, totals.counts, strict=True)
    )
    return Totals(
        counts=counts,
        available=totals.available + sign * (record.available is True),
        maybe_available=totals.maybe_available
        + sign * (record.available is None and state is not State.TERMINATING),
        desired=totals.desired + sign * (replicas.desired if replicas is not None else 0),
        updated=totals.updated + sign * (updated or 0),
        ready=totals.ready + sign * (ready or 0),
        desired_unreported=totals.desired_unreported + sign * (is_counted and replicas is None),
        updated_unreported=totals.updated_unreported + sign * (is_counted and updated is None),
        ready_unreported=totals.ready_unreported + sign * (is_counted and ready is None),
    )


def worst_state(harness: Standing, totals: Totals) -> State:
    """
    Return the worst state of a namespace's subjects; those that are being deleted do not count.
    """
    counts = totals.by_state
    states = [
        state for state, number in counts.items() if number and state is not State.TERMINATING
    ]
    return max((harness.state, *states), key=lambda state: state.severity)


class GroupsDraft:
    """The blockers of a namespace by what they have in common, while some of them change."""

    def __init__(self, before: Mapping[GroupKey, Group], rules: RollUpRules) -> None:
        self._groups, self._rules = dict(before), rules
        self._copied: set[GroupKey] = set()
        self._before = before

    def replace(self, name: str, old: Standing | None, new: Standing | None) -> None:
        """Put the blocker of one subject into the place of its old one."""
        if old is not None and old.blocker is not None:
            key = group_key(old.state, old.blocker, self._rules)
            group = self._writable(key)
            group.pop(name, None)
            if not group:
                del self._groups[key]
                self._copied.discard(key)
        if new is not None and new.blocker is not None:
            key = group_key(new.state, new.blocker, self._rules)
            self._writable(key)[name] = new.blocker

    def finish(self) -> Mapping[GroupKey, Group]:
        return self._groups

    def _writable(self, key: GroupKey) -> dict[str, Blocker]:
        group = self._groups.get(key)
        if group is None or key not in self._copied:
            group = dict(group or {})
            self._groups[key] = group
            self._copied.add(key)
        assert isinstance(group, dict)  # noqa: S101  copied just now or before
        return group


def group_key(state: State, blocker: Blocker, rules: RollUpRules) -> GroupKey:
    return GroupKey(
        milder_than_failed=State.FAILED.severity - state.severity,
        is_settling=blocker.code == SETTLING,
        is_silenced=blocker.silence is not None,
        is_pointer=blocker.is_pointer,
        layer=blocker.layer.order,
        rank=_rank(blocker.key, rules),
        reason=blocker.reason,
        code=blocker.code,
    )


def _rank(key: FindingKey | None, rules: RollUpRules) -> int:
    return NO_RANK if key is None else rules.rank(key)


class RankedCause(NamedTuple):
    """
    One cause in a namespace: its most important group, and the number of subjects that it blocks.
    """

    key: GroupKey
    group: Group
    subjects: int


def rank_causes(groups: Mapping[GroupKey, Group]) -> list[RankedCause]:
    """
    Return the causes of a namespace, the blocking one first.

    What still lasts comes before what settles, what is not silenced before what is, and own causes before
    pointers; then layer, rank, the number of subjects, and names. A cause that is one subject's own and that others point at is one cause.
    """
    causes: dict[tuple[str, str], RankedCause] = {}
    for key in sorted(groups):
        first = causes.get((key.reason, key.code))
        number = len(groups[key])
        causes[key.reason, key.code] = (
            RankedCause(key, groups[key], number)
            if first is None
            else first._replace(subjects=first.subjects + number)
        )

    def order(cause: RankedCause) -> tuple[object, ...]:
        key = cause.key
        urgency = (key.milder_than_failed, key.is_settling, key.is_silenced)
        place = (*urgency, key.is_pointer, key.layer, key.rank)
        return (*place, -cause.subjects, key.reason, key.code)

    return sorted(causes.values(), key=order)


def first_blocker(groups: Mapping[GroupKey, Group]) -> Blocker | None:
    """Return the blocker of the first cause, of its first subject by name."""
    ranked = rank_causes(groups)
    return ranked[0].group[min(ranked[0].group)] if ranked else None


def recount(records: Iterable[SetRecord]) -> Totals:
    """Return the sums over these sets, counted anew."""
    totals = Totals()
    for each in records:
        totals = add_record(totals, each)
    return totals
