"""The sums and the blockers of a namespace, counted anew when a pass has touched it."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from reporter.model.states import State
from reporter.rollup.blockers import SETTLING
from reporter.rollup.records import (
    NO_COUNTS,
    Blocker,
    Group,
    GroupKey,
    InferenceSetRecord,
    SubjectState,
    Totals,
)
from reporter.rollup.rules import RollUpRules


NO_RANK = 1_000_000
"""The rank of progress without trouble: after every reason."""


def count_sets(records: Collection[InferenceSetRecord]) -> Totals:
    """
    Return the sums over these InferenceSets, with how many do not report the replicas that they have.
    """
    by_state = dict(NO_COUNTS)
    for each in records:
        by_state[each.subject_state.state] += 1
    staying = [each for each in records if each.subject_state.state is not State.TERMINATING]
    reported = [each.facts.replicas for each in records if each.facts.replicas is not None]
    updated = [each.updated for each in reported if each.updated is not None]
    ready = [each.ready for each in reported if each.ready is not None]
    expected = sum(each.facts.progress.has_replicas for each in records)
    return Totals(
        by_state=by_state,
        available=sum(each.available is True for each in records),
        maybe_available=sum(each.available is None for each in staying),
        unavailable=sum(each.available is False and not each.is_paused for each in staying),
        paused=sum(each.is_paused for each in staying),
        desired=sum(each.desired for each in reported),
        updated=sum(updated),
        ready=sum(ready),
        desired_unreported=expected - len(reported),
        updated_unreported=expected - len(updated),
        ready_unreported=expected - len(ready),
    )


def worst_state(harness: SubjectState, totals: Totals) -> State:
    """
    Return the worst state of a namespace's subjects; those that are being deleted do not count.
    """
    states = [
        state
        for state, number in totals.by_state.items()
        if number and state is not State.TERMINATING
    ]
    return max((harness.state, *states), key=lambda state: state.severity)


def group_blockers(
    harness: SubjectState, sets: Mapping[str, InferenceSetRecord], rules: RollUpRules
) -> Mapping[GroupKey, Group]:
    """
    Return the blockers of a harness and its InferenceSets by their GroupKey; Current ones have none.
    """
    groups: defaultdict[GroupKey, dict[str, Blocker]] = defaultdict(dict)
    if harness.blocker is not None:
        groups[_group_key(harness.state, harness.blocker, rules)][""] = harness.blocker
    for name, each in sets.items():
        subject_state = each.subject_state
        if subject_state.blocker is not None:
            groups[_group_key(subject_state.state, subject_state.blocker, rules)][name] = (
                subject_state.blocker
            )
    return dict(groups)


def _group_key(state: State, blocker: Blocker, rules: RollUpRules) -> GroupKey:
    return GroupKey(
        milder_than_failed=State.FAILED.severity - state.severity,
        is_settling=blocker.code == SETTLING,
        is_silenced=blocker.silence is not None,
        is_pointer=blocker.is_pointer,
        layer=blocker.layer.order,
        rank=NO_RANK if blocker.key is None else rules.rank(blocker.key),
        reason=blocker.reason,
        code=blocker.code,
    )


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
    pointers; then layer, rank, the number of subjects, and names. A cause that is one subject's own and
    that others point at is one cause.
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
    """
    Return the blocker of the cause that `rank_causes` puts first; None without groups.

    Of the subjects with that cause it is the first one's, in the order of subjects.
    """
    ranked = rank_causes(groups)
    return ranked[0].group[min(ranked[0].group)] if ranked else None
