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
from reporter.rollup.records import SubjectState


NOT_EVALUATED, NOT_LISTED, UNDECODABLE = "NotEvaluated", "NotListed", "Undecodable"
UNREAD_EVENTS = "EarlierEventsUnread"
STALE, SCALING, UPDATING = "StaleStatus", "Scaling", "Updating"


class StateReason(NamedTuple):
    """
    A cause that is no finding, such as a stale status, for a subject that is Unknown or in progress.
    """

    code: str
    why: str


class Facts(NamedTuple):
    """
    The facts that decide about the state beside findings.

    *unknown*: why it cannot be read. *progress*: what is not as desired yet.
    """

    is_terminating: bool = False
    unknown: StateReason | None = None
    progress: StateReason | None = None


def explain_unread_events(evaluation: Evaluation) -> StateReason | None:
    """Return the cause while Events of an earlier process are not read yet; None once all are."""
    why = evaluation.unread_events
    return StateReason(UNREAD_EVENTS, why) if why else None


def make_subject_state(
    before: SubjectState | None,
    subject: Subject,
    found: SubjectFindings,
    facts: Facts,
    blockers: BlockerFinder,
    *,
    now: datetime,
) -> SubjectState:
    """Return the state of a subject with what blocks it; *before* itself if both are the same."""
    state = _state_of(found, facts)
    subject_state = enter_state(before, state, now=now)
    if state is State.UNKNOWN and found.last_failed:
        # Also in a process that has not seen the trouble, which a predecessor announced.
        subject_state = replace(subject_state, last_known=State.FAILED)
    keys = {
        State.FAILED: found.failed,
        State.UNKNOWN: found.unknown,
        State.IN_PROGRESS: found.held or found.settling,
    }.get(state, ())
    reason = {State.UNKNOWN: facts.unknown, State.IN_PROGRESS: facts.progress}.get(state)
    blocker = None
    if keys:
        blocker = blockers.find_first(keys)
    elif reason is not None:
        since = _explained_since(before, subject_state, now=now)
        blocker = blockers.without_finding(subject.layer, reason.code, reason.why, since=since)
    shown = () if state is State.TERMINATING else (*found.failed, *found.held)
    after = replace(subject_state, blocker=blocker, suppressed=blockers.find_suppressed(shown))
    return before if before is not None and after == before else after


def _explained_since(
    before: SubjectState | None, subject_state: SubjectState, *, now: datetime
) -> datetime:
    """
    Return since when a subject has been as it is without a finding.

    What was Unknown for one cause and is for another has been Unknown all along. Progress without
    trouble begins where trouble ends, which has a window of its own.
    """
    if subject_state.state is not State.IN_PROGRESS:
        return subject_state.since
    blocker = (
        before.blocker if before is not None and before.state is subject_state.state else None
    )
    return blocker.since if blocker is not None and blocker.key is None else now


def enter_state(before: SubjectState | None, state: State, *, now: datetime) -> SubjectState:
    """
    Return a subject_state in this state, without a blocker.

    *since* stays while the state does; *last_known* is the last state that was not Unknown, while
    it is Unknown.
    """
    since = before.since if before is not None and before.state is state else now
    last_known = None
    if state is State.UNKNOWN and before is not None:
        last_known = before.last_known if before.state is State.UNKNOWN else before.state
    return SubjectState(state=state, since=since, last_known=last_known)


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
