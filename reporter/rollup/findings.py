"""The ranked findings of each subject, by what they mean for its state."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import NamedTuple

from reporter.evaluation.clocks import CauseClock, FindingState
from reporter.evaluation.evaluation import Evaluation
from reporter.model.subjects import FindingKey, Subject
from reporter.rollup.rules import RollUpRules


class SubjectFindings(NamedTuple):
    """
    The ranked keys of one subject that are not clear, the most important first.

    *failed*: outlived their hold and can be judged now. *unknown*: cannot be judged now. *held*: trouble
    within its hold. *settling*: trouble that is absent, but has not settled. *unread*: Unknown for want of
    a metrics page; these alone make no subject Unknown, as they delay no Ready Event. *last_failed*: those
    of *unknown* that were in trouble past its hold when last seen, or announced.
    """

    failed: tuple[FindingKey, ...] = ()
    unknown: tuple[FindingKey, ...] = ()
    held: tuple[FindingKey, ...] = ()
    settling: tuple[FindingKey, ...] = ()
    unread: tuple[FindingKey, ...] = ()
    last_failed: tuple[FindingKey, ...] = ()


NO_FINDINGS = SubjectFindings()


def collect_findings(
    evaluation: Evaluation, subjects: Collection[Subject], rules: RollUpRules
) -> Mapping[Subject, SubjectFindings]:
    """
    Return the ranked findings of each of the *subjects* that has any; orthogonal reasons are left out.
    """
    keys: defaultdict[Subject, set[FindingKey]] = defaultdict(set)
    tracked = evaluation.tracked
    for key in chain(tracked.finding_states, tracked.unknown_states):
        if key.subject in subjects and not rules.entry(key).orthogonal:
            keys[key.subject].add(key)
    return {subject: _sort_findings(each, evaluation, rules) for subject, each in keys.items()}


def _sort_findings(
    keys: Iterable[FindingKey], evaluation: Evaluation, rules: RollUpRules
) -> SubjectFindings:
    suppressed_by = evaluation.suppressions.suppressed_by

    def order(key: FindingKey) -> tuple[bool, int, FindingKey]:
        # A subject's own cause comes before one that it only points at.
        return (key in suppressed_by, rules.rank(key), key)

    found: SubjectFindings = SubjectFindings()
    lists: dict[str, list[FindingKey]] = {name: [] for name in found._fields}
    for key in sorted(keys, key=order):
        lists[_class_of(key, evaluation, rules)].append(key)
    states = evaluation.tracked.finding_states
    lists["last_failed"] = [k for k in lists["unknown"] if k in states and states[k].announceable]
    return SubjectFindings(**{name: tuple(each) for name, each in lists.items()})


def _class_of(key: FindingKey, evaluation: Evaluation, rules: RollUpRules) -> str:
    state = evaluation.tracked.finding_states.get(key)
    if state is None and rules.reads_pages(key):
        return "unread"
    if state is None or state.why_unknown or is_last_seen(state):
        return "unknown"
    if state.announceable:
        return "failed"
    return "held" if state.troubles else "settling"


def is_last_seen(state: FindingState) -> bool:
    """
    Return whether all trouble that outlived its hold is of objects that cannot be evaluated now.

    An Event goes on to report it as last seen; whether it still exists is not known.
    """
    found = state.announceable
    return bool(found) and all(clock.stopped for clock in found)


def judged_clocks(state: FindingState) -> tuple[CauseClock, ...]:
    """
    Return the clocks of the trouble to show: what outlived its hold, or else all that exists.

    Trouble of objects that cannot be evaluated now is left out.
    """
    clocks = state.announceable or tuple(each for each in state.clocks if each.active)
    return tuple(each for each in clocks if not each.stopped)
