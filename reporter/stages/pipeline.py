"""
The whole order, on one screen: probes, gate, suppression, rank; then, for the speaker, pacing.

All layers are judged before anything is announced.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from reporter.model.entries import Catalogue, Entry
from reporter.model.kaito_objects import InferenceSet
from reporter.model.kinds import INFERENCE_SETS
from reporter.model.subjects import Key, Subject
from reporter.model.verdicts import Active, Clear, Paused, Unknown, Verdict
from reporter.model.words import Layer
from reporter.stages.gate import forget, observe, rewind, tick
from reporter.stages.gate import wakes as gate_wakes
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.rank import rank
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import Roster, expand, roster
from reporter.stages.suppression import suppress
from reporter.stages.suppression import wakes as suppression_wakes


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
        patience, rules = self.terms.patience, self.catalogue.__getitem__
        there = self.roster(snapshot, before.roster)
        subjects = there.subjects
        dirty = expand(dirty | (subjects - before.subjects), subjects)
        verdicts = self._verdicts(before, snapshot, dirty, now=now)
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
            there,
            frozenset(paused | ((before.paused - dirty) & subjects)),
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
            for kind in (*probe.spec.requires, *probe.spec.uses):
                moment = snapshot.blind_from(kind) if kind.resource in snapshot.tables else None
                if moment is not None and moment >= now:
                    yield moment

    def _verdicts(
        self, before: Judgement, snapshot: Snapshot, dirty: Iterable[Subject], *, now: datetime
    ) -> list[Verdict]:
        standing = defaultdict(set)
        for key in (*before.gate.records, *before.gate.unseen):
            standing[key.subject, key.reason].add(key)
        return [
            verdict
            for subject in sorted(dirty)
            for entry in self.catalogue.of(subject.layer)
            for verdict in self._ask(
                entry, subject, snapshot, standing[subject, entry.reason], now=now
            )
        ]

    def _ask(
        self,
        entry: Entry,
        subject: Subject,
        snapshot: Snapshot,
        standing: set[Key],
        *,
        now: datetime,
    ) -> Iterable[Verdict]:
        """
        The verdicts of one reason about one subject, one for each key that had a state too.
        """
        probe = self.probes[entry.probe]
        if probe.spec.pauses and _is_paused(snapshot, subject):
            return [Paused(key) for key in standing | {Key(subject, entry.reason)}]
        blind = [why for k in probe.spec.requires if (why := snapshot.blind(k, now=now))]
        if blind:
            return [Unknown(key, blind[0]) for key in standing | {Key(subject, entry.reason)}]
        question = Question(entry.reason, subject, entry.parameters, self.flags)
        verdicts = list(probe.judge(snapshot, question))
        left = standing - {verdict.key for verdict in verdicts}
        return [*verdicts, *(Clear(key) for key in left)]


def _is_paused(snapshot: Snapshot, subject: Subject) -> bool:
    """
    Whether an InferenceSet is scaled to zero.
    """
    if subject.layer is not Layer.MODELDEPLOYMENT:
        return False
    found = snapshot.get(INFERENCE_SETS, InferenceSet, subject.namespace, subject.name)
    return found is not None and found.desired == 0


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
