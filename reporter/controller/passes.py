"""The input of a pass, its cuts, what it leaves, and the change of the evaluator between two."""

import asyncio
from asyncio import Future
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Struct, field

from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.finished_pass import FinishedPass
from reporter.evaluation.pipeline import Evaluator, PassPlan
from reporter.model.subjects import Subject
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import ALL_LAYERS, expand_placeholders


class PassFollower(Protocol):
    """The receiver of each pass and each part of one, once its Evaluation is in effect."""

    def follow(self, finished: FinishedPass) -> Iterable[None]:
        """Take the pass, now or in steps, between which other tasks may run."""
        ...


# --------------------------------------------------------------------
# The input of one pass, and the end of the last one.


class PassTimes(Struct):
    """
    The end of the last pass, or of the last part of one.

    *finished*: in seconds of the event loop. *finished_at*: the time as of which it evaluated. Both are
    None before the first one, which sets *first_finished*.
    """

    finished: float | None = None
    finished_at: datetime | None = None
    first_finished: asyncio.Event = field(default_factory=asyncio.Event)


class PassInput(Struct, frozen=True):
    """
    The store at one moment, and the subjects to evaluate on it.

    Dirty subjects are always taken together with the snapshot: whatever changes after that is
    dirty again. *started*: when it was taken, in seconds of the event loop.
    *full*: all subjects are evaluated, and not only the dirty ones.
    """

    snapshot: Snapshot
    dirty: frozenset[Subject]
    now: datetime
    started: float
    full: bool = False

    @property
    def requested(self) -> frozenset[Subject]:
        """The subjects to evaluate, of which some may not exist."""
        return self.dirty | ALL_LAYERS if self.full else self.dirty

    def unchanged(self, plan: PassPlan, evaluated: frozenset[Subject]) -> frozenset[Subject]:
        """
        Return those of *evaluated* that only a full pass looked at, and of which it ran no probe.
        """
        if not self.full:
            return frozenset()
        return plan.probe_run.unchanged & (evaluated - expand_placeholders(self.dirty, evaluated))


# --------------------------------------------------------------------
# Limit on the cuts of a pass over many subjects for a change or a deadline.


MIN_BATCHES = 3
"""Batches between two cuts: at most some sixty milliseconds, so that each cut finds the pass advanced."""


class PassCuts:
    """
    Bound the cost of cuts, so that changes without end cannot keep a pass from its end.

    After a cut the pass goes on for at least as long as that cut took, so cuts at most double its
    time. Moments are seconds of the event loop, but for *due_at*: when time alone next changes something,
    None until it is looked up, once after each cut.
    """

    due_at: datetime | None
    _batches: int
    _resumed_at: float

    def __init__(self) -> None:
        self._cut_at: float | None = None
        self._cost = 0.0

    def resumed(self, now: float) -> None:
        """Note that the pass runs its next batch from *now* on, at first or after a cut."""
        if self._cut_at is not None:
            self._cost = now - self._cut_at
        self._batches, self._resumed_at, self.due_at = 0, now, None

    def batch_finished(self) -> None:
        """Count a batch of subjects; a cut is allowed after MIN_BATCHES of them."""
        self._batches += 1

    def is_allowed(self, now: float) -> bool:
        """
        Return whether the pass may be cut now; False until it ran on for as long as the last cut took.
        """
        return self._batches >= MIN_BATCHES and now - self._resumed_at >= self._cost

    def cut(self, now: float) -> None:
        """Note that the pass is cut at *now*; the time until *resumed* is the cost of the cut."""
        self._cut_at = now


# --------------------------------------------------------------------
# A change of the evaluator between two passes.


class AdaptedEvaluation(NamedTuple):
    """
    An Evaluation that fits another evaluator.

    *commit*: changes all other parts of the process to the catalogue of that evaluator; it must not fail.
    """

    evaluation: Evaluation
    commit: Callable[[], None]


AdaptFunc: TypeAlias = Callable[[Evaluation], AdaptedEvaluation]
"""
Makes an Evaluation of the old evaluator fit the new one. It changes nothing else, so it may raise.
"""


class EvaluatorChange(NamedTuple):
    """
    Another evaluator that was asked for.

    *done*: finished once the change is made, or with the exception of *adapt*, after which nothing changes.
    """

    evaluator: Evaluator
    adapt: AdaptFunc
    done: "Future[None]"
