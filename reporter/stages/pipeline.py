"""
The whole order, on one screen: probes, gate, suppression, rank; then, for the speaker, pacing.

All layers are judged before anything is announced.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from reporter.model.entries import Catalogue
from reporter.model.subjects import Key, Subject
from reporter.model.verdicts import Active, Clear, Paused, Verdict
from reporter.model.words import Reason, Source
from reporter.stages.gate import forget, observe, rewind, tick
from reporter.stages.gate import wakes as gate_wakes
from reporter.stages.inquiry import Inquiry, inquiry
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.probes.probe import Probe
from reporter.stages.rank import rank
from reporter.stages.records import Gate
from reporter.stages.snapshot import Snapshot
from reporter.stages.subjects import Roster, expand, roster
from reporter.stages.suppression import suppress
from reporter.stages.suppression import wakes as suppression_wakes
from reporter.stages.unlike import unlike


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
class Heard:
    """
    What a hearing brought so far.

    *judged*: the reasons, of which the gate learns at the end: for all subjects it is the first look.
    """

    gate: Gate
    judged: frozenset[Reason]
    paused: frozenset[Subject]
    notes: Mapping[Key, tuple[str, ...]]


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
        heard = self.opened(before, hearing)
        for verdicts in hearing.parts():
            heard = self.take(heard, verdicts, now=now)
        ruling = self.rule(before, hearing, heard, announced=announced)
        while True:
            try:
                next(ruling)
            except StopIteration as end:
                judged: Judgement = end.value
                return judged

    def hear(
        self, before: Judgement, snapshot: Snapshot, dirty: frozenset[Subject], *, now: datetime
    ) -> Hearing:
        """
        Who is to be asked about; nobody was yet.
        """
        there = self.roster(snapshot, before.roster)
        if there is not before.roster:
            dirty |= there.subjects - before.subjects
        dirty = expand(dirty, there.subjects)
        gate = forget(before.gate, lambda key: key.subject not in dirty)
        asked = inquiry(snapshot, gate, self.catalogue, self.probes, flags=self.flags, now=now)
        return Hearing(asked, there, dirty, now)

    def opened(self, before: Judgement, hearing: Hearing) -> Heard:
        """
        Before the first part.
        """
        subjects = hearing.roster.subjects
        return Heard(
            before.gate,
            before.gate.judged,
            (before.paused - hearing.dirty) & subjects,
            {key: notes for key, notes in before.notes.items() if key.subject in subjects},
        )

    def take(self, heard: Heard, verdicts: Sequence[Verdict], *, now: datetime) -> Heard:
        """
        One part of a hearing.
        """
        rules, patience = self.catalogue.__getitem__, self.terms.patience
        gate = observe(heard.gate, verdicts, now=now, rules=rules, patience=patience)
        return Heard(
            replace(gate, judged=heard.gate.judged),
            heard.judged | gate.judged,
            heard.paused.union(v.key.subject for v in verdicts if isinstance(v, Paused)),
            _noted(heard.notes, verdicts),
        )

    def rule(
        self,
        before: Judgement,
        hearing: Hearing,
        heard: Heard,
        *,
        announced: frozenset[Key] = frozenset(),
    ) -> Generator[None, None, Judgement]:
        """
        From all that was heard to the judgement. Yields where others may have their turn.
        """
        patience, rules, now = self.terms.patience, self.catalogue.__getitem__, hearing.now
        subjects, gate = hearing.roster.subjects, replace(heard.gate, judged=heard.judged)
        if hearing.roster is not before.roster:
            gate = forget(gate, lambda key: key.subject not in subjects)
        gate = tick(gate, now=now, rules=rules, patience=patience)
        yield
        silence = suppress(before.silence, gate, self.catalogue, now=now, settle=patience.settle)
        lifted = silence.lifted(before.silence) - announced
        gate = rewind(gate, lifted, now=now, rules=rules, patience=patience)
        yield
        standings = rank(
            gate,
            silence,
            self.catalogue,
            settle=patience.settle,
            before=before.standings,
            changed=unlike(before.gate.records, gate.records)
            | (before.silence.by.keys() ^ silence.by.keys()),
        )
        return Judgement(
            gate,
            silence,
            standings,
            hearing.roster,
            paused=heard.paused,
            unwell=heard.paused | self._troubled(gate),
            at=now,
            notes=heard.notes,
        )

    def _troubled(self, gate: Gate) -> frozenset[Subject]:
        ranked = {e.reason for e in self.catalogue.entries.values() if not e.orthogonal}
        return frozenset(k.subject for k in (*gate.records, *gate.unseen) if k.reason in ranked)

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


def _noted(
    before: Mapping[Key, tuple[str, ...]], verdicts: Iterable[Verdict]
) -> Mapping[Key, tuple[str, ...]]:
    found = {v.key: v.notes for v in verdicts if isinstance(v, Active | Clear)}
    if not any(found.values()) and not (before.keys() & found.keys()):
        return before
    return {key: notes for key, notes in {**before, **found}.items() if notes}
