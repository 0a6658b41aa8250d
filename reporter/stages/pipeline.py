"""
The whole order, on one screen: probes, gate, suppression, rank; then, for the speaker, pacing.

All layers are judged before anything is announced.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from reporter.model.entries import Catalogue
from reporter.model.subjects import Key, Subject
from reporter.model.verdicts import Active, Clear, Paused, Verdict
from reporter.model.words import Source
from reporter.stages.gate import forget, observe, rewind, tick
from reporter.stages.gate import wakes as gate_wakes
from reporter.stages.inquiry import Inquiry, inquiry
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.probes.probe import Probe
from reporter.stages.rank import rank
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import Roster, expand, roster
from reporter.stages.suppression import suppress
from reporter.stages.suppression import wakes as suppression_wakes


ALL = frozenset(Source)


PART = 100
"""
Subjects that are asked about in one go: some ten milliseconds.
"""


@dataclass(frozen=True, slots=True)
class Hearing:
    """
    One moment's questions about the *dirty* subjects, asked part by part.
    """

    inquiry: Inquiry
    roster: Roster
    dirty: frozenset[Subject]
    now: datetime

    def parts(self) -> Iterator[list[Verdict]]:
        waiting = sorted(self.dirty)
        for first in range(0, len(waiting), PART):
            yield self.inquiry.verdicts(waiting[first : first + PART])


@dataclass(frozen=True, slots=True)
class Court:
    """
    What judging goes by and what does not change while the process runs.

    *flags*: by name, for catalogue parameters that refer to one.
    """

    catalogue: Catalogue
    probes: Mapping[str, Probe]
    flags: Mapping[str, str]
    terms: Terms

    def judge(
        self,
        before: Judgement,
        snapshot: Snapshot,
        dirty: frozenset[Subject],
        *,
        now: datetime,
        announced: frozenset[Key] = frozenset(),
    ) -> Judgement:
        """
        One pass over the whole of each dirty subject; *announced* keys are not held anew.
        """
        hearing = self.hear(before, snapshot, dirty, now=now)
        verdicts = [verdict for part in hearing.parts() for verdict in part]
        return self.rule(before, hearing, verdicts, announced=announced)

    def hear(
        self, before: Judgement, snapshot: Snapshot, dirty: frozenset[Subject], *, now: datetime
    ) -> Hearing:
        """
        Who is to be asked about; nobody was yet.
        """
        there = self.roster(snapshot, before.roster)
        dirty = expand(dirty | (there.subjects - before.subjects), there.subjects)
        asked = inquiry(
            snapshot, before.gate, self.catalogue, self.probes, flags=self.flags, now=now
        )
        return Hearing(asked, there, dirty, now)

    def rule(
        self,
        before: Judgement,
        hearing: Hearing,
        verdicts: Sequence[Verdict],
        *,
        announced: frozenset[Key] = frozenset(),
    ) -> Judgement:
        """
        From all the verdicts of a hearing to the judgement.
        """
        patience, rules, now = self.terms.patience, self.catalogue.__getitem__, hearing.now
        subjects = hearing.roster.subjects
        gate = observe(before.gate, verdicts, now=now, rules=rules, patience=patience)
        gate = forget(gate, lambda key: key.subject not in subjects)
        gate = tick(gate, now=now, rules=rules, patience=patience)
        silence = suppress(before.silence, gate, self.catalogue, now=now, settle=patience.settle)
        lifted = silence.lifted(before.silence) - announced
        gate = rewind(gate, lifted, rules=rules, patience=patience)
        standings = rank(gate, silence, self.catalogue, settle=patience.settle)
        paused = {v.key.subject for v in verdicts if isinstance(v, Paused)}
        return Judgement(
            gate,
            silence,
            standings,
            hearing.roster,
            frozenset(paused | ((before.paused - hearing.dirty) & subjects)),
            now,
            _notes(before, verdicts, subjects),
        )

    def roster(self, snapshot: Snapshot, before: Roster) -> Roster:
        return roster(snapshot, before)

    def wakes(self, judged: Judgement, snapshot: Snapshot, *, now: datetime) -> datetime | None:
        """
        The next moment at which time alone changes the judgement.
        """
        patience = self.terms.patience
        moments = [
            gate_wakes(judged.gate, rules=self.catalogue.__getitem__, patience=patience),
            suppression_wakes(judged.silence, settle=patience.settle),
            *(self._blind_from(snapshot, now=now)),
        ]
        return min((moment for moment in moments if moment is not None), default=None)

    def _blind_from(self, snapshot: Snapshot, *, now: datetime) -> Iterable[datetime]:
        for probe in self.probes.values():
            for kind in probe.spec.reads(ALL):
                moment = snapshot.blind_from(kind) if kind.resource in snapshot.tables else None
                if moment is not None and moment > now:
                    yield moment


def _notes(
    before: Judgement, verdicts: Iterable[Verdict], subjects: frozenset[Subject]
) -> Mapping[Key, tuple[str, ...]]:
    notes = {key: n for key, n in before.notes.items() if key.subject in subjects}
    for verdict in verdicts:
        if isinstance(verdict, Active | Clear):
            notes.pop(verdict.key, None)
            if verdict.notes:
                notes[verdict.key] = verdict.notes
    return notes
