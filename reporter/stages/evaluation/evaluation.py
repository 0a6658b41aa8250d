"""
The outcome of one look at everything: what every later decision about speaking is made from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from reporter.model.enums import Emission
from reporter.model.subjects import FindingKey, Subject
from reporter.stages.evaluation.clocks import EMPTY_GATE, Delays, FindingState, Gate
from reporter.stages.evaluation.rank import Ranking
from reporter.stages.evaluation.suppression import NO_SUPPRESSIONS, Suppressions
from reporter.stages.snapshot.subjects import Subjects


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """
    The settings of judging and speaking.

    *rewrite*: the least time between two rewrites of one Event because its content changed.
    """

    delays: Delays = field(default_factory=Delays)
    emission: Emission = Emission.PRIMARY
    heartbeat: timedelta = timedelta(seconds=300)
    rewrite_interval: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """
    Every key that is not clear, what is silenced by what, and the order among the rest.

    *at*: of when it is. *roster*: all subjects. *paused*: those that are scaled to zero on purpose.
    *unwell*: those of whom a ranked reason has not settled or is Unknown, and the paused ones.
    *notes*: what an operator should set right, by reason and subject.
    """

    gate: Gate = EMPTY_GATE
    suppressions: Suppressions = NO_SUPPRESSIONS
    rankings: Mapping[Subject, Ranking] = field(default_factory=dict)
    known_subjects: Subjects = field(default_factory=Subjects)
    paused: frozenset[Subject] = frozenset()
    not_ready: frozenset[Subject] = frozenset()
    evaluated_at: datetime | None = None
    notes: Mapping[FindingKey, tuple[str, ...]] = field(default_factory=dict)

    @property
    def subjects(self) -> frozenset[Subject]:
        return self.known_subjects.all

    def finding_state_of(self, key: FindingKey) -> FindingState | None:
        """
        With its clocks as they stand *at* that moment.
        """
        found = self.gate.finding_states.get(key)
        return (
            found
            if found is None or self.evaluated_at is None
            else found.advanced(now=self.evaluated_at)
        )

    def ranking_of(self, subject: Subject) -> Ranking:
        return self.rankings.get(subject, Ranking((), ()))
