"""
The whole order, on one screen: probes, gate, suppression, rank; then, for the speaker, pacing.

All layers are judged before anything is announced.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from reporter.model.entries import Catalogue
from reporter.model.enums import DetailSource, Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Active, Clear, Paused, Verdict
from reporter.stages.evaluation.clocks import Gate
from reporter.stages.evaluation.diff import changed_keys
from reporter.stages.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.stages.evaluation.gate import (
    advance_clocks,
    apply_verdicts,
    extend_holds,
    forget_keys,
)
from reporter.stages.evaluation.gate import next_gate_deadline as gate_wakes
from reporter.stages.evaluation.probe_run import ProbeRun, prepare_probe_run
from reporter.stages.evaluation.rank import rank
from reporter.stages.evaluation.suppression import next_suppression_deadline as suppression_wakes
from reporter.stages.evaluation.suppression import suppress
from reporter.stages.probes.probe import Probe
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.snapshot.subjects import Subjects, expand_placeholders, refresh_subjects


ALL_SOURCES = frozenset(DetailSource)


SUBJECTS_PER_BATCH = 100
"""
Subjects that are asked about in one go: some ten milliseconds.
"""


@dataclass(frozen=True, slots=True)
class PassPlan:
    """
    One moment's questions about the *dirty* subjects, asked part by part.
    """

    probe_run: ProbeRun
    known_subjects: Subjects
    dirty: frozenset[Subject]
    now: datetime

    def run_in_batches(self) -> Iterator[list[Verdict]]:
        waiting = sorted(self.dirty)
        for first in range(0, len(waiting), SUBJECTS_PER_BATCH):
            yield self.probe_run.run(waiting[first : first + SUBJECTS_PER_BATCH])


@dataclass(frozen=True, slots=True)
class PassProgress:
    """
    What a hearing brought so far.

    *judged*: the reasons, of which the gate learns at the end: for all subjects it is the first look.
    """

    gate: Gate
    evaluated_reasons: frozenset[Reason]
    paused: frozenset[Subject]
    notes: Mapping[FindingKey, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Evaluator:
    """
    What judging goes by and what does not change while the process runs.

    *flags*: by name, for catalogue parameters that refer to one.
    """

    catalogue: Catalogue
    probes: Mapping[str, Probe]
    flags: Mapping[str, str]
    settings: EvaluationSettings

    def evaluate(
        self,
        before: Evaluation,
        snapshot: Snapshot,
        dirty: frozenset[Subject],
        *,
        now: datetime,
        announced: frozenset[FindingKey] = frozenset(),
    ) -> Evaluation:
        """
        One pass over the whole of each dirty subject; *announced* keys are not held anew.
        """
        hearing = self.plan(before, snapshot, dirty, now=now)
        heard = self.begin(before, hearing)
        for verdicts in hearing.run_in_batches():
            heard = self.add(heard, verdicts, now=now)
        ruling = self.finish(before, hearing, heard, announced=announced)
        while True:
            try:
                next(ruling)
            except StopIteration as end:
                judged: Evaluation = end.value
                return judged

    def plan(
        self, before: Evaluation, snapshot: Snapshot, dirty: frozenset[Subject], *, now: datetime
    ) -> PassPlan:
        """
        Who is to be asked about; nobody was yet.
        """
        there = self.refresh_subjects(snapshot, before.known_subjects)
        if there is not before.known_subjects:
            dirty |= there.all - before.subjects
        dirty = expand_placeholders(dirty, there.all)
        gate = forget_keys(before.gate, lambda key: key.subject not in dirty)
        asked = prepare_probe_run(
            snapshot, gate, self.catalogue, self.probes, flags=self.flags, now=now
        )
        return PassPlan(asked, there, dirty, now)

    def begin(self, before: Evaluation, hearing: PassPlan) -> PassProgress:
        """
        Before the first part.
        """
        subjects = hearing.known_subjects.all
        return PassProgress(
            before.gate,
            before.gate.evaluated_reasons,
            (before.paused - hearing.dirty) & subjects,
            {key: notes for key, notes in before.notes.items() if key.subject in subjects},
        )

    def add(
        self, heard: PassProgress, verdicts: Sequence[Verdict], *, now: datetime
    ) -> PassProgress:
        """
        One part of a hearing.
        """
        rules, patience = self.catalogue.__getitem__, self.settings.delays
        gate = apply_verdicts(heard.gate, verdicts, now=now, entry_of=rules, delays=patience)
        return PassProgress(
            replace(gate, evaluated_reasons=heard.gate.evaluated_reasons),
            heard.evaluated_reasons | gate.evaluated_reasons,
            heard.paused.union(v.key.subject for v in verdicts if isinstance(v, Paused)),
            _update_notes(heard.notes, verdicts),
        )

    def finish(
        self,
        before: Evaluation,
        hearing: PassPlan,
        heard: PassProgress,
        *,
        announced: frozenset[FindingKey] = frozenset(),
    ) -> Generator[None, None, Evaluation]:
        """
        From all that was heard to the judgement. Yields where others may have their turn.
        """
        patience, rules, now = self.settings.delays, self.catalogue.__getitem__, hearing.now
        subjects, gate = (
            hearing.known_subjects.all,
            replace(heard.gate, evaluated_reasons=heard.evaluated_reasons),
        )
        if hearing.known_subjects is not before.known_subjects:
            gate = forget_keys(gate, lambda key: key.subject not in subjects)
        gate = advance_clocks(gate, now=now, entry_of=rules, delays=patience)
        yield
        silence = suppress(
            before.suppressions, gate, self.catalogue, now=now, settle=patience.settle
        )
        lifted = silence.lifted(before.suppressions) - announced
        gate = extend_holds(gate, lifted, now=now, entry_of=rules, delays=patience)
        yield
        standings = rank(
            gate,
            silence,
            self.catalogue,
            settle=patience.settle,
            before=before.rankings,
            changed=changed_keys(before.gate.finding_states, gate.finding_states)
            | (before.suppressions.suppressed_by.keys() ^ silence.suppressed_by.keys()),
        )
        return Evaluation(
            gate,
            silence,
            standings,
            hearing.known_subjects,
            paused=heard.paused,
            not_ready=heard.paused | self._unsettled_subjects(gate),
            evaluated_at=now,
            notes=heard.notes,
        )

    def _unsettled_subjects(self, gate: Gate) -> frozenset[Subject]:
        ranked = {e.reason for e in self.catalogue.entries.values() if not e.orthogonal}
        return frozenset(
            k.subject for k in (*gate.finding_states, *gate.unknown_states) if k.reason in ranked
        )

    def refresh_subjects(self, snapshot: Snapshot, before: Subjects) -> Subjects:
        return refresh_subjects(snapshot, before)

    def next_deadline(
        self, judged: Evaluation, snapshot: Snapshot, *, now: datetime
    ) -> datetime | None:
        """
        The next moment at which time alone changes the judgement.
        """
        patience = self.settings.delays
        moments = [
            gate_wakes(judged.gate, entry_of=self.catalogue.__getitem__, delays=patience),
            suppression_wakes(judged.suppressions, settle=patience.settle),
            *(self._unknown_deadlines(snapshot, now=now)),
        ]
        return min((moment for moment in moments if moment is not None), default=None)

    def _unknown_deadlines(self, snapshot: Snapshot, *, now: datetime) -> Iterable[datetime]:
        for probe in self.probes.values():
            for kind in probe.spec.watched_kinds(ALL_SOURCES):
                moment = snapshot.unknown_from(kind) if kind.resource in snapshot.tables else None
                if moment is not None and moment > now:
                    yield moment


def _update_notes(
    before: Mapping[FindingKey, tuple[str, ...]], verdicts: Iterable[Verdict]
) -> Mapping[FindingKey, tuple[str, ...]]:
    found = {v.key: v.notes for v in verdicts if isinstance(v, Active | Clear)}
    if not any(found.values()) and not (before.keys() & found.keys()):
        return before
    return {key: notes for key, notes in {**before, **found}.items() if notes}
