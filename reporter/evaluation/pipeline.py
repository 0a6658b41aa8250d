"""
The whole order of one pass: probes, tracking, suppression, silences, rank.

All layers are evaluated before anything is announced. A pass can be cut short after any batch: it
then counts as a pass over the subjects that it has evaluated, and the caller plans another one for
the rest. Subjects of upstream layers come first, so no finding precedes what would suppress it.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.evaluation import suppression
from reporter.evaluation.clear_subjects import ClearSubject, ClearSubjects, merge_clear
from reporter.evaluation.clocks import TrackedFindings
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.probe_run import (
    FaultFunc,
    ProbeRun,
    prepare_probe_run,
    raise_fault,
    unsettled_subjects,
    update_notes,
)
from reporter.evaluation.rank import Ranking, next_rank_deadline, rank
from reporter.evaluation.remembered import (
    NOTHING_REMEMBERED,
    Remembered,
    continue_findings,
    count_announced,
    found_after_outages,
)
from reporter.evaluation.silencing import silence_findings
from reporter.evaluation.tracking import (
    advance_clocks,
    apply_verdicts,
    extend_holds,
    next_tracking_deadline,
    without_keys,
)
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Paused
from reporter.probes.probe import Probe
from reporter.snapshot.noted_reads import (
    ReadNotes,
    has_lost_watch,
    with_noted_reads,
    without_pages,
)
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import Subjects, expand_placeholders, refresh_subjects


T = TypeVar("T")

SUBJECTS_PER_BATCH = 100
"""Subjects between two moments at which a pass may be cut: at most some twenty milliseconds."""

FEW_SUBJECTS = 100
"""Subjects that a pass looks at in any case: to note what so few read would cost what it saves."""


class PassProgress(Struct, frozen=True):
    """
    The state after some batches of a pass.

    *evaluated_reasons* are handed on only at the end: until then every subject is in the
    first evaluation of a reason, whose clocks start at transition times. *evaluated* counts the
    subjects of the plan. *remembered*: the findings of a predecessor that wait; *continued*: those
    that these batches have continued. *clear*: the clear subjects of each batch.
    """

    tracked: TrackedFindings
    evaluated_reasons: frozenset[Reason]
    paused: frozenset[Subject]
    notes: Mapping[FindingKey, tuple[str, ...]]
    evaluated: int = 0
    remembered: Remembered = NOTHING_REMEMBERED
    continued: Remembered = NOTHING_REMEMBERED
    clear: tuple[Mapping[Subject, ClearSubject], ...] = ()


class PassPlan(Struct, frozen=True):
    """
    The probes to run about *subjects*, upstream layers first, on one snapshot at one moment.

    *known_subjects* are all subjects of that snapshot, evaluated in this pass or not. *can_be_cut*
    is False while some reason is evaluated for the first time: its clocks start at transition
    times, for all subjects or for none.
    """

    snapshot: Snapshot
    probe_run: ProbeRun
    known_subjects: Subjects
    subjects: Sequence[Subject]
    now: datetime
    can_be_cut: bool

    def batches(self) -> Iterator[Sequence[Subject]]:
        """Yield the subjects in parts, after any of which the caller may end the pass."""
        return suppression.split_into_batches(self.subjects, SUBJECTS_PER_BATCH)

    def still_waiting(
        self, progress: "PassProgress", before: frozenset[Subject] = frozenset()
    ) -> frozenset[Subject]:
        """
        Return the subjects not evaluated yet: of this plan, and of those that waited *before* it.
        """
        done = progress.evaluated
        return before.difference(self.subjects[:done]).union(self.subjects[done:])


class Evaluator(Struct, frozen=True):
    """
    Everything that evaluation depends on and that stays the same until the catalogue changes.

    Then the controller replaces it by another one. *flags* holds the flags by name, for catalogue
    parameters that refer to one. *on_fault* is called with the exceptions of probes.
    """

    catalogue: Catalogue
    probes: Mapping[str, Probe]
    flags: Mapping[str, str]
    settings: EvaluationSettings
    on_fault: FaultFunc = raise_fault

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
        Run one pass over the dirty subjects; the holds of *announced* keys are never extended.
        """
        plan = run_to_end(self.plan(before, snapshot, dirty, now=now))
        progress = self.begin(before, plan)
        for batch in plan.batches():
            progress = run_to_end(self.run_batch(progress, plan, batch))
        return run_to_end(self.finish(before, plan, progress, announced=announced))

    def plan(
        self, before: Evaluation, snapshot: Snapshot, dirty: frozenset[Subject], *, now: datetime
    ) -> Generator[None, None, PassPlan]:
        """
        Prepare a pass over the dirty subjects that exist, and over those that are new.

        Yields where other tasks may run, if there are many or some are new: all are looked up then,
        which may take longer than a batch.
        """
        known = refresh_subjects(snapshot, before.known_subjects, now=now)
        if known is not before.known_subjects:
            yield
            dirty |= known.all - before.subjects
        dirty = expand_placeholders(dirty, known.all)
        # Only for the probes, which must know the continued keys: each gets a verdict, and its subject
        # is not skipped. `run_batch` continues them for good, as the pass may be cut after each.
        tracked = without_keys(before.tracked, lambda key: key.subject not in dirty)
        tracked = self._continue(tracked, before.remembered.of_subjects(dirty), now=now)
        may_skip = len(dirty) > FEW_SUBJECTS and not has_lost_watch(snapshot)
        # The first pass, for which everybody waits, is not made longer.
        notes = ReadNotes() if may_skip and before.evaluated_at is not None else None
        probe_run = prepare_probe_run(
            with_noted_reads(snapshot, notes) if notes is not None else snapshot,
            tracked,
            self.catalogue,
            self.probes,
            flags=self.flags,
            now=now,
        )
        clear: Mapping[Subject, ClearSubject] = {}
        if may_skip:
            clear = yield from self._still_clear(before, snapshot, tracked, known)
        probe_run = msgspec.structs.replace(
            probe_run, unknown=known.unknown, on_fault=self.on_fault, notes=notes, clear=clear
        )
        can_be_cut = before.evaluated_at is not None and not (
            probe_run.evaluable_reasons(dirty) - before.tracked.evaluated_reasons
        )
        subjects = suppression.upstream_first(dirty)
        return PassPlan(snapshot, probe_run, known, subjects, now, can_be_cut)

    def _still_clear(
        self,
        before: Evaluation,
        snapshot: Snapshot,
        tracked: TrackedFindings,
        known: Subjects,
    ) -> Generator[None, None, Mapping[Subject, ClearSubject]]:
        """Return the subjects that are clear, and of which every probe would find it again."""
        found = yield from before.clear.unchanged(snapshot, self)
        keys = (*tracked.finding_states, *tracked.unknown_states, *before.notes)
        others = (found.keys() - known.all) | {key.subject for key in keys}
        if others:
            found = {s: each for s, each in found.items() if s not in others}
        yield
        return found

    def begin(self, before: Evaluation, plan: PassPlan) -> PassProgress:
        """
        Return the progress before the first batch.

        It is the state after the pass *before*, without subjects that no longer exist.
        """
        subjects = plan.known_subjects.all
        return PassProgress(
            before.tracked,
            before.tracked.evaluated_reasons,
            before.paused & subjects,
            {key: notes for key, notes in before.notes.items() if key.subject in subjects},
            remembered=before.remembered,
        )

    def run_batch(
        self, progress: PassProgress, plan: PassPlan, subjects: Sequence[Subject]
    ) -> Generator[None, None, PassProgress]:
        """
        Apply the verdicts about one batch, after the findings of a predecessor about its subjects.

        Yields where other tasks may run.
        """
        verdicts, clear = yield from plan.probe_run.run_unknown(subjects)
        now, entry_of, delays = plan.now, self.catalogue.__getitem__, self.settings.delays
        # Again, after `plan`, whose tracked findings were for the probes alone.
        continued = progress.remembered.of_subjects(subjects)
        tracked = self._continue(progress.tracked, continued, now=now)
        tracked = apply_verdicts(tracked, verdicts, now=now, entry_of=entry_of, delays=delays)
        paused = frozenset(v.key.subject for v in verdicts if isinstance(v, Paused))
        return PassProgress(
            replace(tracked, evaluated_reasons=progress.tracked.evaluated_reasons),
            progress.evaluated_reasons | tracked.evaluated_reasons,
            progress.paused.difference(subjects) | paused,
            update_notes(progress.notes, verdicts),
            progress.evaluated + len(subjects),
            progress.remembered.without(continued),
            progress.continued.merged(continued),
            (*progress.clear, clear),
        )

    def _continue(
        self, tracked: TrackedFindings, remembered: Remembered, *, now: datetime
    ) -> TrackedFindings:
        entry_of, delays = self.catalogue.__getitem__, self.settings.delays
        return continue_findings(tracked, remembered, now=now, entry_of=entry_of, delays=delays)

    def finish(
        self,
        before: Evaluation,
        plan: PassPlan,
        progress: PassProgress,
        *,
        announced: frozenset[FindingKey] = frozenset(),
    ) -> Generator[None, None, Evaluation]:
        """Return the Evaluation after the batches so far. Yields where other tasks may run."""
        tracked = self._advance_tracked(before, plan, progress)
        yield
        tracked, suppressions, remembered = self._suppress(
            before, plan, progress, tracked, announced
        )
        yield
        silences = silence_findings(
            before.silences,
            plan.snapshot,
            tracked,
            self.catalogue,
            plan.known_subjects,
            unchecked=self.settings.unchecked,
            now=plan.now,
        )
        yield
        after = Evaluation(
            tracked,
            suppressions,
            before.rankings,
            plan.known_subjects,
            paused=progress.paused,
            not_ready=progress.paused | unsettled_subjects(tracked, self.catalogue, self.probes),
            evaluated_at=plan.now,
            notes=progress.notes,
            silences=silences,
            remembered=remembered,
            unread_events=before.unread_events,
            clear=self._known_clear(before, plan, progress),
        )
        return msgspec.structs.replace(after, rankings=self._rank_findings(before, after))

    def _known_clear(
        self, before: Evaluation, plan: PassPlan, progress: PassProgress
    ) -> ClearSubjects:
        """
        Return what is known of clear subjects, also after a pass that was cut.

        After a full pass that notes nothing it is nothing, so that no old snapshot is kept.
        """
        if plan.probe_run.notes is None:
            is_full = len(plan.subjects) == len(plan.known_subjects.all)
            return (
                ClearSubjects() if is_full else before.clear.moved_to(plan.snapshot, now=plan.now)
            )
        evaluated = frozenset(plan.subjects[: progress.evaluated])
        clear = merge_clear(plan.probe_run.clear, evaluated, progress.clear)
        return ClearSubjects(without_pages(plan.snapshot), plan.now, self, clear)

    def _suppress(
        self,
        before: Evaluation,
        plan: PassPlan,
        progress: PassProgress,
        tracked: TrackedFindings,
        announced: frozenset[FindingKey],
    ) -> tuple[TrackedFindings, suppression.Suppressions, Remembered]:
        """Suppress what follows from an upstream; return also what is still remembered."""
        now, delays, entry_of = plan.now, self.settings.delays, self.catalogue.__getitem__
        continued, remembered = progress.continued.with_groups_of(
            progress.remembered, plan.known_subjects
        )
        # Findings that Events name go on as these say.
        tracked = found_after_outages(tracked, continued)
        suppressions = suppression.suppress(
            before.suppressions.with_outages(continued.outages(now=now)),
            tracked,
            self.catalogue,
            now=now,
            settle=delays.settle,
            mode=self.settings.suppression,
        )
        tracked = count_announced(tracked, continued, suppressions)
        # What is no longer suppressed serves its hold anew: who writes its status has yet to see that
        # the upstream is back. An episode that runs goes on.
        lifted = suppressions.lifted(before.suppressions) - announced
        tracked = extend_holds(tracked, lifted, now=now, entry_of=entry_of, delays=delays)
        # So does what may have been suppressed before the first pass, unless an Event tells of it. When
        # it was found stays known, since that decides which upstream explains it.
        seen_first = self._seen_first(before, progress) - announced - continued.findings.keys()
        tracked = extend_holds(
            tracked,
            seen_first,
            now=now,
            entry_of=entry_of,
            delays=delays,
            stays_found=True,
        )
        return tracked, suppressions, remembered

    def _seen_first(self, before: Evaluation, progress: PassProgress) -> frozenset[FindingKey]:
        """
        Return the keys that may have been suppressed until a moment ago, before this process could see it.
        """
        if before.evaluated_at is not None:
            return frozenset()
        reasons = suppression.suppressible_reasons(self.catalogue, self.settings.suppression)
        return frozenset(key for key in progress.tracked.finding_states if key.reason in reasons)

    def _advance_tracked(
        self, before: Evaluation, plan: PassPlan, progress: PassProgress
    ) -> TrackedFindings:
        # The tracked findings after the batches, without deleted subjects.
        subjects, evaluated = plan.known_subjects.all, progress.evaluated_reasons
        evaluated |= plan.probe_run.reasons_without_subject(subjects, evaluated)
        tracked = replace(progress.tracked, evaluated_reasons=evaluated)
        if plan.known_subjects is not before.known_subjects:
            tracked = without_keys(tracked, lambda key: key.subject not in subjects)
        return advance_clocks(
            tracked,
            now=plan.now,
            entry_of=self.catalogue.__getitem__,
            delays=self.settings.delays,
        )

    def _rank_findings(self, before: Evaluation, after: Evaluation) -> Mapping[Subject, Ranking]:
        """
        Rank the findings anew for the subjects whose findings may rank otherwise than before.
        """
        given, settle = after.ranking_input, self.settings.delays.settle
        return rank(
            given,
            self.catalogue,
            settle=settle,
            before=before.rankings,
            changed=given.changed_keys(before.ranking_input, settle=settle),
        )

    def next_deadline(
        self, evaluation: Evaluation, snapshot: Snapshot, *, now: datetime
    ) -> datetime | None:
        """Return the next moment at which time alone changes the Evaluation; None without one."""
        delays = self.settings.delays
        moments = [
            next_tracking_deadline(
                evaluation.tracked, entry_of=self.catalogue.__getitem__, delays=delays
            ),
            suppression.next_suppression_deadline(evaluation.suppressions, settle=delays.settle),
            next_rank_deadline(evaluation.tracked.finding_states, settle=delays.settle, now=now),
            evaluation.silences.next_end,
            *(moment for moment in snapshot.unknown_moments() if moment > now),
        ]
        return min((moment for moment in moments if moment is not None), default=None)


def run_to_end(steps: Generator[None, None, T]) -> T:
    """
    Run a generator to its end at once, without letting other tasks run, and return its result.
    """
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
