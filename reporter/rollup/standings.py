"""
The state of one subject, by the first row of the table that fits.

| if | state |
|---|---|
| it is being deleted | Terminating |
| a ranked finding, suppressed ones too, can be judged now | Failed |
| a ranked reason is Unknown, or the subject cannot be read | Unknown |
| its status is stale, trouble is held or settles, or replicas are missing or old | InProgress |
| else | Current |
"""

from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from reporter.evaluation.evaluation import Evaluation
from reporter.model.states import State
from reporter.model.subjects import Subject
from reporter.rollup.blockers import BlockerFinder
from reporter.rollup.findings import SubjectFindings
from reporter.rollup.records import Standing


NOT_EVALUATED, NOT_LISTED, UNDECODABLE = "NotEvaluated", "NotListed", "Undecodable"
UNREAD_EVENTS = "EarlierEventsUnread"
STALE, SCALING, UPDATING = "StaleStatus", "Scaling", "Updating"


class Remark(NamedTuple):
    """
    A cause that is no finding, such as a stale status, for a subject that is Unknown or in progress.
    """

    code: str
    why: str


class Facts(NamedTuple):
    """
    The facts that decide about the state beside findings.

    *unknown*: why it cannot be read. *progress*: what is not as wanted yet.
    """

    is_terminating: bool = False
    unknown: Remark | None = None
    progress: Remark | None = None


NO_FACTS = Facts()


def remark_unread_events(evaluation: Evaluation) -> Remark | None:
    """Return the cause while Events of an earlier process are not read yet; None once all are."""
    why = evaluation.unread_events
    return Remark(UNREAD_EVENTS, why) if why else None


def make_standing(
    before: Standing | None,
    subject: Subject,
    found: SubjectFindings,
    facts: Facts,
    blockers: BlockerFinder,
    *,
    now: datetime,
) -> Standing:
    """Return the state of a subject with what blocks it; *before* itself if both are the same."""
    state = _state_of(found, facts)
    standing = enter_state(before, state, now=now)
    if state is State.UNKNOWN and found.last_failed:
        # Also in a process that has not seen the trouble, which a predecessor announced.
        standing = replace(standing, last_known=State.FAILED)
    keys = {
        State.FAILED: found.failed,
        State.UNKNOWN: found.unknown,
        State.IN_PROGRESS: found.held or found.settling,
    }.get(state, ())
    remark = {State.UNKNOWN: facts.unknown, State.IN_PROGRESS: facts.progress}.get(state)
    blocker = None
    if keys:
        blocker = blockers.find_first(keys)
    elif remark is not None:
        since = _remarked_since(before, standing, now=now)
        blocker = blockers.without_finding(subject.layer, remark.code, remark.why, since=since)
    shown = () if state is State.TERMINATING else (*found.failed, *found.held)
    after = replace(standing, blocker=blocker, suppressed=blockers.find_suppressed(shown))
    return before if before is not None and after == before else after


def _remarked_since(before: Standing | None, standing: Standing, *, now: datetime) -> datetime:
    """
    Return since when a subject has been as it is without a finding.

    What was Unknown for one cause and is for another has been Unknown all along. Progress without
    trouble begins where trouble ends, which has a window of its own.
    """
    if standing.state is not State.IN_PROGRESS:
        return standing.since
    blocker = before.blocker if before is not None and before.state is standing.state else None
    return blocker.since if blocker is not None and blocker.key is None else now


def enter_state(before: Standing | None, state: State, *, now: datetime) -> Standing:
    """
    Return a standing in this state, without a blocker.

    *since* stays while the state does; *last_known* is the last state that was not Unknown, while
    it is Unknown.
    """
    since = before.since if before is not None and before.state is state else now
    last_known = None
    if state is State.UNKNOWN and before is not None:
        last_known = before.last_known if before.state is State.UNKNOWN else before.state
    return Standing(state=state, since=since, last_known=last_known)


def _state_of(found: SubjectFindings, facts: Facts) -> State:
    if facts.is_terminating:
        return State.TERMINATING
    if found.failed:
        return State.FAILED
    if found.unknown or facts.unknown is not None:
        return State.UNKNOWN
    if found.held or found.settling or facts.progress is not None:
        return State.IN_PROGRESS
    return State.CURRENT
