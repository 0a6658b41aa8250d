"""A sidecar's decisions in virtual time: what it finds when, and what it then does."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from reporter.job.reports import Report
from reporter.job.result import (
    FileObservation,
    InvalidResult,
    NoFile,
    ValidResult,
)
from reporter.job.steps import (
    Leave,
    LookAt,
    SidecarRules,
    WaitUntil,
    begin,
    next_step,
    with_container,
    with_file,
    with_question,
    with_stop,
)
from reporter.model.job_results import Terminated


RULES = SidecarRules(timedelta(seconds=2), timedelta(seconds=300))
SUCCESS = ValidResult(is_success=True, reason="AllChecksPassed", message="all is well")
FAILURE = ValidResult(is_success=False, reason="MissingPermissions", message="no right")
INVALID = InvalidResult("failed to parse JSON: unexpected end of JSON input", (1, 2, 3, 4))
MAX_STEPS = 10_000


@dataclass
class ReplayedAdapter:
    """
    The world of one sidecar, by the second.

    *file*, *ended*: what a look finds at that second. *answers_after*: how long the API server takes.
    *stop_at*: when the stop signal comes.
    """

    file: Callable[[float], FileObservation] = lambda _: NoFile()
    ended: Callable[[float], Terminated | None] = lambda _: None
    rules: SidecarRules = RULES
    stop_at: float | None = None
    patience: timedelta = timedelta(0)
    answers_after: float = 0.0
    looks: list[tuple[float, LookAt]] = field(default_factory=list)

    def run(self) -> tuple[float, Report | Leave]:
        """Return when it ends, in seconds, and how."""
        now, answer_at = 0.0, None
        state = begin(self.rules, now=now)
        for _ in range(MAX_STEPS):
            step = next_step(state, self.rules, now=now)
            match step:
                case LookAt.FILE:
                    self.looks.append((now, step))
                    state = with_file(state, self.rules, self.file(now), now=now)
                case LookAt.CONTAINER:
                    self.looks.append((now, step))
                    state, answer_at = with_question(state), now + self.answers_after
                case WaitUntil(until):
                    stop_at = self.stop_at if state.stop_until is None else None
                    moments = [each for each in (until, answer_at, stop_at) if each is not None]
                    now = max(now, min(moments))
                    if answer_at is not None and now >= answer_at:
                        ended, answer_at = self.ended(now), None
                        state = with_container(state, self.rules, ended, now=now)
                    if stop_at is not None and now >= stop_at:
                        state = with_stop(state, self.rules, patience=self.patience, now=now)
                case Report() | Leave():
                    return now, step
        raise AssertionError(f"no end after {MAX_STEPS} steps, at {now} s: {state}")


def from_second(second: float, then, before=None) -> Callable:
    """Return what is found: *then* from that second on, *before* until then."""
    return lambda now: then if now >= second else before


def file_from(second: float, then: FileObservation) -> Callable[[float], FileObservation]:
    return from_second(second, then, NoFile())
