"""
The sidecar's decisions: which look is next, and when to report, to wait or to leave. Pure.

A look at the file comes before one at the container, and both before the deadline counts. The end
of the container counts only after one more look at the file, because the adapter may have written it
between the two. Times are in seconds of the event loop.
"""

from collections.abc import Collection
from datetime import timedelta
from enum import Enum, unique
from math import inf
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reporter.job import reports
from reporter.job.reports import Report
from reporter.job.result import FileObservation, InvalidResult, NoFile, ValidResult
from reporter.model.job_results import Container, SidecarPod, Terminated


class SidecarRules(Struct, frozen=True):
    """
    Times and habits of the looks.

    *rereads_invalid*: an invalid file counts only if it is still the same a poll later.
    *looks_at_stop*: a stop signal is answered by a last look, else by leaving at once.
    *container_interval*: between two looks at the container.
    *stop_interval*: between two looks after a stop signal, if there is time for several.
    *native_patience*: how long a native sidecar looks again after its stop signal. The kubelet sends it
    once the adapter has ended, and writes the status of the adapter at about the same time.
    """

    poll_interval: timedelta
    max_wait: timedelta
    rereads_invalid: bool = True
    looks_at_stop: bool = True
    container_interval: timedelta = timedelta(seconds=10)
    stop_interval: timedelta = timedelta(seconds=1)
    native_patience: timedelta = timedelta(seconds=5)


@unique
class LookAt(Enum):
    """The thing to look at next: the result FILE, or the status of the adapter CONTAINER in the pod."""

    FILE = "file"
    CONTAINER = "container"


class WaitUntil(Struct, frozen=True):
    """Wait until a moment, a stop signal or the status of the container, whatever comes first."""

    until: float


class Leave(Struct, frozen=True):
    """The step that ends the sidecar without a report: the Job is left as it is."""


NextStep: TypeAlias = LookAt | WaitUntil | Report | Leave


class SidecarState(Struct, frozen=True):
    """
    Everything seen so far, and when to look next.

    *file_due*, *container_due*: when to look next; *file_at*, *container_at*: the last looks.
    *owed*: looks that come before anything else is decided. *asking*: the status was requested.
    *suspect*: an invalid file that does not count yet; *invalid*: one that does.
    *stop_until*: when to leave after a stop signal; None without one.
    """

    deadline: float
    file_due: float
    container_due: float
    file_at: float = -inf
    container_at: float = -inf
    owed: frozenset[LookAt] = frozenset()
    asking: bool = False
    result: ValidResult | None = None
    suspect: InvalidResult | None = None
    invalid: InvalidResult | None = None
    terminated: Terminated | None = None
    stop_until: float | None = None


def begin(rules: SidecarRules, *, now: float) -> SidecarState:
    """
    Return the state at the start, with the deadline *max_wait* from *now*.

    The container is looked at at once, the file after the first poll interval.
    """
    return SidecarState(
        deadline=now + rules.max_wait.total_seconds(),
        file_due=now + rules.poll_interval.total_seconds(),
        container_due=now,
    )


# ------------------------------------------------------------ what was seen


def with_file(
    state: SidecarState, rules: SidecarRules, seen: FileObservation, *, now: float
) -> SidecarState:
    """
    Return the state after a look at the result file, which is due again after the poll interval.

    An invalid file counts once two looks see the same one, unless *rules* count it at once; after a stop
    signal it never does.
    """
    interval = rules.poll_interval if state.stop_until is None else rules.stop_interval
    state = replace(
        state,
        file_at=now,
        file_due=now + interval.total_seconds(),
        owed=state.owed - {LookAt.FILE},
    )
    match seen:
        case NoFile():
            return replace(state, suspect=None)
        case ValidResult():
            return replace(state, result=seen)
        case InvalidResult():
            # At a stop signal the adapter may have been ended while it wrote.
            counts = state.stop_until is None and (
                not rules.rereads_invalid or seen == state.suspect
            )
            return replace(state, suspect=seen, invalid=seen if counts else None)


def with_question(state: SidecarState) -> SidecarState:
    """Note that the status of the container was requested."""
    return replace(state, asking=True)


def with_container(
    state: SidecarState, rules: SidecarRules, ended: Terminated | None, *, now: float
) -> SidecarState:
    """
    Return the state after the status of the container was read, or could not be.

    *ended*: None while the container runs or its status is unknown. Its end owes one more look at the file.
    """
    interval = rules.container_interval if state.stop_until is None else rules.stop_interval
    owed = state.owed - {LookAt.CONTAINER}
    return replace(
        state,
        asking=False,
        container_at=now,
        container_due=now + interval.total_seconds(),
        owed=owed | {LookAt.FILE} if ended is not None else owed,
        terminated=ended or state.terminated,
    )


def with_stop(
    state: SidecarState, rules: SidecarRules, *, patience: timedelta, now: float
) -> SidecarState:
    """Note a stop signal. *patience*: for how long to look again before leaving with nothing."""
    if state.stop_until is not None:
        return state
    looks = frozenset(LookAt) if rules.looks_at_stop else frozenset[LookAt]()
    until = now + patience.total_seconds() if rules.looks_at_stop else now
    return replace(state, stop_until=until, owed=state.owed | looks)


def with_patience(state: SidecarState, *, until: float) -> SidecarState:
    """
    Note until when to look again after a stop signal, where that was found out after the signal.
    """
    if state.stop_until is None:
        return state
    return replace(state, stop_until=max(state.stop_until, until))


# ------------------------------------------------------------ what to do


def next_step(state: SidecarState, rules: SidecarRules, *, now: float) -> NextStep:
    """
    Return the one thing to do at *now*: a look, a wait, the report to write, or to leave.

    A valid result comes first, then the end of the container, an invalid file, and the deadline.
    """
    if state.stop_until is not None and not rules.looks_at_stop:
        return Leave()
    certain = _certain_report(state)
    if certain is not None:
        return certain
    if LookAt.FILE in state.owed:
        return LookAt.FILE
    if state.stop_until is not None:
        return _step_at_stop(state, state.stop_until, now=now)
    if now >= state.deadline:
        return _step_at_deadline(state, rules)
    return _due_look(state, now=now) or WaitUntil(_next_moment(state, state.deadline))


def _certain_report(state: SidecarState) -> Report | None:
    """Return the report of what was seen; None while it may still change."""
    if state.result is not None:
        return reports.report_result(state.result)
    if state.terminated is not None:
        return None if LookAt.FILE in state.owed else reports.report_termination(state.terminated)
    return None if state.invalid is None else reports.report_invalid(state.invalid)


def _step_at_stop(state: SidecarState, until: float, *, now: float) -> NextStep:
    if LookAt.CONTAINER in state.owed:
        return WaitUntil(inf) if state.asking else LookAt.CONTAINER
    if now >= until:
        return Leave()
    return _due_look(state, now=now) or WaitUntil(_next_moment(state, until))


def _step_at_deadline(state: SidecarState, rules: SidecarRules) -> NextStep:
    """Look at both once more; the status that was requested before may be the last one."""
    if state.file_at < state.deadline:
        return LookAt.FILE
    if state.container_at < state.deadline:
        return WaitUntil(inf) if state.asking else LookAt.CONTAINER
    if state.suspect is not None:
        # No time is left for another poll: an invalid file explains more than the deadline.
        return reports.report_invalid(state.suspect)
    return reports.report_timeout(rules.max_wait)


def _due_look(state: SidecarState, *, now: float) -> LookAt | None:
    if now >= state.file_due:
        return LookAt.FILE
    return LookAt.CONTAINER if now >= state.container_due and not state.asking else None


def _next_moment(state: SidecarState, end: float) -> float:
    return min(end, state.file_due, inf if state.asking else state.container_due)


def find_adapter(pod: SidecarPod, *, adapter: str, own_names: Collection[str]) -> Container | None:
    """
    Return the status of the container that writes the result; None while there is none.

    Without a name it is the first that is not the sidecar itself. Init containers never are.
    """
    for each in pod.containers:
        if each.name == adapter if adapter else each.name not in own_names:
            return each
    return None
