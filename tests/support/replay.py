"""
The pure core, played through time: what is announced when.
"""

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
    Probes read from *says* what to answer; what is not said is clear.
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
        play = self

        class Staged(Evaluator):
            def refresh_subjects(self, snapshot, before):
                return Subjects(play.subjects)

        self.court: Evaluator = Staged(self.catalogue, {"none": probe}, {}, self.settings)
        self.store = a_store()
        self.run_pass()

    def _run_probe(self, _, question) -> list[Verdict]:
        asked = question.subject, question.reason
        said = {k: v for k, v in self.verdicts.items() if (k.subject, k.reason) == asked}
        return [
            Unknown(key, verdict) if isinstance(verdict, str) else verdict
            for key, verdict in said.items()
        ] or [Clear(question.key())]

    def set_verdicts(self, *verdicts) -> Self:
        self.verdicts.update({verdict.key: verdict for verdict in verdicts})
        return self.run_pass()

    def set_clear(self, *keys) -> Self:
        for key in keys:
            self.verdicts.pop(key, None)
        return self.run_pass()

    def set_unknown(self, *keys) -> Self:
        self.verdicts.update(dict.fromkeys(keys, "blind"))
        return self.run_pass()

    def advance(self, span: timedelta | float) -> Self:
        """
        Let time pass, looking at every moment that matters.
        """
        span = span if isinstance(span, timedelta) else timedelta(seconds=span)
        end = self.now + span
        while (wake := self._next_deadline()) is not None and wake < end:
            self.now = max(wake, self.now + timedelta(milliseconds=1))
            self.run_pass()
        self.now = max(end, self.now)
        return self.run_pass()

    def _next_deadline(self):
        moments = [self.court.next_deadline(self.evaluation, self.store.snapshot(), now=self.now)]
        if self.announcing:
            moments += [due.due_at for due in self.stage.pending_writes(now=self.now)]
        moments.append(
            next_episode_deadline(
                self.announcement_state, settle=self.settings.delays.settle, now=self.now
            )
        )
        return min((m for m in moments if m is not None), default=None)

    @property
    def stage(self) -> PublishContext:
        return PublishContext(
            self.announcement_state, self.evaluation, self.catalogue, self.settings, involved_for
        )

    def run_pass(self) -> Self:
        self.evaluation = self.court.evaluate(
            self.evaluation,
            self.store.snapshot(),
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
        for due in self.stage.pending_writes(now=self.now):
            record = (
                self.stage.compose_event(due.key, now=self.now) if due.due_at <= self.now else None
            )
            if record is not None:
                self.writes.append(record)
                self.announcement_state = apply_outcome(
                    self.announcement_state, record, outcome or self.write_outcome, self.catalogue
                )

    def restart(self, *, back_after: float = 0.0) -> Self:
        """
        A new process reads back what is there.
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
        A process that has judged *since* then reads back what another said, in whole seconds.
        """
        last = {}
        for record in self.writes:
            seconds = {"first_timestamp": record.first_timestamp.replace(microsecond=0)}
            seconds["last_timestamp"] = record.last_timestamp.replace(microsecond=0)
            last[record.key, record.episode_start] = replace(record, **seconds)
        self.announcing = True
        terms, now = self.settings, self.now
        self.announcement_state = restore_episodes(
            AnnouncementState(),
            last.values(),
            self.catalogue,
            terms,
            now=now,
            since=self.evaluating_since,
        )
        return self.run_pass()

    @property
    def new_writes(self) -> list[str]:
        """
        Everything written since the last look, as ``reason xcount``.
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
