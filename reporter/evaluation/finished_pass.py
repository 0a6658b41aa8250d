"""The result of a pass, with what changed in it, for all who follow the passes."""

from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from reporter.evaluation.clocks import ZERO
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.states import ReasonState, shown_state
from reporter.model.subjects import FindingKey, Subject
from reporter.snapshot.snapshot import Snapshot


class FinishedPass(Struct, frozen=True, kw_only=True):
    """
    A pass, or one part of a pass that was cut.

    *evaluated*: the subjects that it looked at. *dirty*: those of objects that changed, whether they
    exist and were reached or not. *unchanged*: those of *evaluated* that only a full pass looked at, and of
    which it ran no probe: they were clear, and all that their probes would read is the same.
    *changed*: the keys of which anything may have changed since the pass before.
    *leading*: this replica leads, so that its findings are announced.
    """

    evaluation: Evaluation
    snapshot: Snapshot
    evaluated: frozenset[Subject]
    dirty: frozenset[Subject]
    now: datetime
    changed: frozenset[FindingKey]
    unchanged: frozenset[Subject] = frozenset()
    leading: bool = False
    took: timedelta = ZERO

    def joined_by(self, later: "FinishedPass") -> "FinishedPass":
        """Return the pass after this one, with what both have looked at and changed."""
        return replace(
            later,
            evaluated=self.evaluated | later.evaluated,
            dirty=self.dirty | later.dirty,
            changed=self.changed | later.changed,
            unchanged=(self.unchanged | later.unchanged) - self.probed - later.probed,
        )

    @property
    def probed(self) -> frozenset[Subject]:
        """The subjects whose probes ran."""
        return self.evaluated - self.unchanged

    def state(self, key: FindingKey) -> ReasonState | None:
        """Return the state of a key after this pass; None if it is clear."""
        return shown_state(self.evaluation, key, leading=self.leading)


class StateTracker:
    """Finds what changed since the last pass that was handed out: in an outage most has not."""

    def __init__(self) -> None:
        self._evaluation, self._was_leading = Evaluation(), False

    def update(self, after: Evaluation, *, leading: bool) -> frozenset[FindingKey]:
        """
        Return the keys of which anything may have changed: all once this replica begins or ceases to lead.
        """
        before, was_leading = self._evaluation, self._was_leading
        self._evaluation, self._was_leading = after, leading
        return after.changed_since(before) if was_leading == leading else before.keys | after.keys
