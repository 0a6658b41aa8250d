"""
The outcome of one look at everything: what every later decision about speaking is made from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from reporter.model.subjects import Key, Subject
from reporter.model.words import Emission
from reporter.stages.rank import Standing
from reporter.stages.records import OPEN, Gate, Patience, Record
from reporter.stages.subjects import Roster
from reporter.stages.suppression import NONE, Silence


@dataclass(frozen=True, slots=True)
class Terms:
    """
    The settings of judging and speaking.

    *rewrite*: the least time between two rewrites of one Event because its content changed.
    """

    patience: Patience = field(default_factory=Patience)
    emission: Emission = Emission.PRIMARY
    heartbeat: timedelta = timedelta(seconds=300)
    rewrite: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Judgement:
    """
    Every key that is not clear, what is silenced by what, and the order among the rest.

    *at*: of when it is. *roster*: all subjects. *paused*: those that are scaled to zero on purpose.
    *unwell*: those of whom a ranked reason has not settled or is Unknown, and the paused ones.
    *notes*: what an operator should set right, by reason and subject.
    """

    gate: Gate = OPEN
    silence: Silence = NONE
    standings: Mapping[Subject, Standing] = field(default_factory=dict)
    roster: Roster = field(default_factory=Roster)
    paused: frozenset[Subject] = frozenset()
    unwell: frozenset[Subject] = frozenset()
    at: datetime | None = None
    notes: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)

    @property
    def subjects(self) -> frozenset[Subject]:
        return self.roster.subjects

    def record(self, key: Key) -> Record | None:
        """
        With its clocks as they stand *at* that moment.
        """
        found = self.gate.records.get(key)
        return found if found is None or self.at is None else found.elapsed(now=self.at)

    def candidates(self, subject: Subject) -> Standing:
        return self.standings.get(subject, Standing((), ()))
