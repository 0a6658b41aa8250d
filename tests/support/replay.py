"""
Replay verdicts through time in the pure core, and record what is announced.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Self

from reporter.model.entries import Catalogue, ProbeSpec
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Clear, InvolvedObject, Unknown, Verdict
from reporter.stages.announcing.announcement_state import AnnouncementState
from reporter.stages.announcing.episodes import apply_evaluation, next_episode_deadline
from reporter.stages.announcing.outcome import WriteOutcome, apply_outcome
from reporter.stages.announcing.restore import restore_episodes
from reporter.stages.announcing.schedule import PublishContext
from reporter.stages.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.stages.evaluation.states import reason_states
from reporter.stages.pipeline import Evaluator
from reporter.stages.probes.probe import Probe
from reporter.stages.snapshot.subjects import Subjects
from tests.support.builders import NOON, a_store


def involved_for(subject: Subject) -> InvolvedObject:
    return InvolvedObject("v1", "Namespace", subject.namespace or "kube-system", "uid-home")


@dataclass
class Replay:
    """
    One process, whose probes answer from *verdicts*; a key without a verdict is Clear.

    A verdict that is a string is Unknown, for that reason.
    *evaluating_since*: when the process began to evaluate.
    *announcing*: the process leads. *write_outcome*: the outcome of every write.
    """

    catalogue: Catalogue
    settings: EvaluationSettings = field(default_factory=EvaluationSettings)
    verdicts: dict = field(default_factory=dict)
    subjects: frozenset = frozenset({CLUSTER_SUBJECT})
    now: datetime = NOON
    evaluating_since: datetime = NOON
    evaluation: Evaluation = field(default_factory=Evaluation)
    announcement_state: AnnouncementState = field(default_factory=AnnouncementState)
    writes: list = field(default_factory=list)
    announcing: bool = True
    write_outcome: WriteOutcome = WriteOutcome.WRITTEN

    def __post_init__(self):
        probe = Probe(ProbeSpec("none", object), self._run_probe)
        replay = self

        class ReplayEvaluator(Evaluator):
            def refresh_subjects(self, snapshot, before, *, now):
                return Subjects(replay.subjects)

        self.evaluator: Evaluator = ReplayEvaluator(
            self.catalogue, {"none": probe}, {}, self.settings
        )
        self.store = a_store()
        self.run_pass()

    def _run_probe(self, _, request) -> list[Verdict]:
        verdicts = self._verdicts_of.get((request.subject, request.reason), {})
        return [
            Unknown(key, verdict) if isinstance(verdict, str) else verdict
            for key, verdict in verdicts.items()
        ] or [Clear(request.key())]

    def set_verdicts(self, *verdicts) -> Self:
        self.verdicts.update({verdict.key: verdict for verdict in verdicts})
        return self.run_pass()

    def set_clear(self, *keys) -> Self:
        for key in keys:
            self.verdicts.pop(key, None)
        return self.run_pass()

    def set_unknown(self, *keys) -> Self:
        self.verdicts.update(dict.fromkeys(keys, "forbidden"))
        return self.run_pass()

    def advance(self, span: timedelta | float) -> Self:
        """
        Let time pass, with a pass at every deadline and at the end.
        """
        span = span if isinstance(span, timedelta) else timedelta(seconds=span)
        self._pass_deadlines(self.now + span)
        return self.run_pass()

    def advance_to_change(self, end: datetime) -> None:
        """
        Let time pass, with a pass at every deadline. At the end there is one only if something is
        due: what changes then is followed by a pass of its own.
        """
        deadline = self._pass_deadlines(end)
        if deadline is not None and deadline <= self.now:
            self.run_pass()

    def _pass_deadlines(self, end: datetime) -> datetime | None:
        """
        Let time pass, with a pass at every deadline before the end. Returns the next deadline.
        """
        while (deadline := self._next_deadline()) is not None and deadline < end:
            self.now = max(deadline, self.now + timedelta(milliseconds=1))
            self.run_pass()
        self.now = max(end, self.now)
        return deadline

    def _next_deadline(self):
        deadlines = [self.evaluator.next_deadline(self.evaluation, self.snapshot, now=self.now)]
        if self.announcing:
            deadlines += [write.due_at for write in self.context.pending_writes(now=self.now)]
        deadlines.append(
            next_episode_deadline(
                self.announcement_state, settle=self.settings.delays.settle, now=self.now
            )
        )
        return min((each for each in deadlines if each is not None), default=None)

    @property
    def context(self) -> PublishContext:
        return PublishContext(
            self.announcement_state, self.evaluation, self.catalogue, self.settings, involved_for
        )

    def run_pass(self) -> Self:
        self.snapshot = self.store.snapshot()
        self._verdicts_of: dict = defaultdict(dict)
        for key, verdict in self.verdicts.items():
            self._verdicts_of[key.subject, key.reason][key] = verdict
        self.evaluation = self.evaluator.evaluate(
            self.evaluation,
            self.snapshot,
            self.subjects,
            now=self.now,
            announced=frozenset(self.announcement_state.episodes),
        )
        if self.announcing:
            self.announcement_state = apply_evaluation(
                self.announcement_state,
                self.evaluation,
                self.catalogue,
                self.settings,
                now=self.now,
            )
            self.write_pending()
        return self

    def write_pending(self, outcome: WriteOutcome | None = None) -> None:
        for write in self.context.pending_writes(now=self.now):
            if write.due_at > self.now:
                continue
            event = self.context.compose_event(write.key, now=self.now)
            if event is not None:
                self.writes.append(event)
                self.announcement_state = apply_outcome(
                    self.announcement_state, event, outcome or self.write_outcome, self.catalogue
                )

    def restart(self, *, back_after: float = 0.0) -> Self:
        """
        Replace the process by a new one, which reads the Events back.
        """
        self.now += timedelta(seconds=back_after)
        self.evaluation, self.announcement_state, self.announcing = (
            Evaluation(),
            AnnouncementState(),
            False,
        )
        self.evaluating_since = self.now
        self.run_pass()
        return self.take_over()

    def take_over(self) -> Self:
        """
        Let this process lead, which evaluated before, and read the Events of its predecessor back.
        """
        last = {}
        for event in self.writes:
            # The timestamps of an Event are whole seconds.
            last[event.key, event.episode_start] = replace(
                event,
                first_timestamp=event.first_timestamp.replace(microsecond=0),
                last_timestamp=event.last_timestamp.replace(microsecond=0),
            )
        self.announcing = True
        self.announcement_state = restore_episodes(
            AnnouncementState(),
            last.values(),
            self.catalogue,
            self.settings,
            now=self.now,
            since=self.evaluating_since,
        )
        return self.run_pass()

    @property
    def new_writes(self) -> list[str]:
        """
        Return the Events written since the last call, as ``reason xcount``.
        """
        lines = [f"{r.key.reason} x{r.count}" for r in self.writes[self._seen_writes :]]
        self._seen_writes = len(self.writes)
        return lines

    _seen_writes: int = 0

    @property
    def last_message(self) -> str:
        return str(self.writes[-1].message)

    def state(self, key) -> str:
        return str(reason_states(self.evaluation).get(key, "clear"))
