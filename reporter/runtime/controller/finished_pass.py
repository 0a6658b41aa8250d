"""The result of a finished pass, for those who follow it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from reporter.model.subjects import Subject
from reporter.stages.evaluation.evaluation import Evaluation
from reporter.stages.snapshot.snapshot import Snapshot


class FinishedPass(Struct, frozen=True):
    """
    A pass, or one part of a pass that was cut.

    *looked_at*: the subjects whose probes ran. *dirty*: those of objects that changed, whether they
    exist and were reached or not.
    """

    before: Evaluation
    after: Evaluation
    snapshot: Snapshot
    looked_at: frozenset[Subject]
    dirty: frozenset[Subject]
    now: datetime


class PassFollower(Protocol):
    """Called after each pass and each part of one, when its Evaluation is in effect."""

    def follow(self, finished: FinishedPass) -> Iterator[None]:
        """Take the pass. Yields where other tasks may run."""
        ...
