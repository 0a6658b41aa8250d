"""The replay of one process: evaluation and announcing, with a virtual clock."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from msgspec.structs import replace

from reporter.announcing import restore
from reporter.announcing.announcement_state import AnnouncementState, WriteOutcome, apply_outcome
from reporter.announcing.episodes import apply_evaluation, next_episode_deadline
from reporter.announcing.schedule import PublishContext
from reporter.catalogue.entries import Catalogue
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.kinds.health_events import HealthEvent
from reporter.kube.event_record import EventRecord
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from reporter.model.verdicts import InvolvedObject
from reporter.snapshot.snapshot import Snapshot
from reporter.store.store import Store
from reporter.stories.format import START, since_start


def involved_for(subject: Subject) -> InvolvedObject:
    """
    Return the involvedObject of a story's Ready Event: the subject's namespace, or kube-system.
    """
    return InvolvedObject("v1", "Namespace", subject.namespace or "kube-system", "uid-home")


class UnknownReasons:
    """
    Keeps when the reasons of a story were Unknown first, and why: nothing is announced or ended then.
    """

    def __init__(self, about: Iterable[str]) -> None:
        self._about = frozenset(about)
        self._since: dict[tuple[FindingKey, str], datetime] = {}

    def add(self, evaluation: Evaluation, *, now: datetime) -> None:
        """Note what is Unknown after a pass."""
        tracked = evaluation.tracked
        whys = [(key, each.why) for key, each in tracked.unknown_states.items()]
        whys += [(key, each.why_unknown) for key, each in tracked.finding_states.items()]
        for key, why in whys:
            if why and key.reason in self._about:
                self._since.setdefault((key, why), now)

    def lines(self) -> list[str]:
        """Return a line for each reason, subject and cause, with the time since the start."""
        return [
            f"{since_start(at)} {key.reason} of {key.subject}: {why}"
            for (key, why), at in self._since.items()
        ]


@dataclass
class ReplayedProcess:
    """
    One process. A subclass sets *store* and *evaluator*, and runs the first pass.

    *evaluating_since*: when the process began to evaluate.
    *announcing*: the process leads. *write_outcome*: the outcome of every write.
    *stored*: returns the HealthEvents in the cluster.
    """

    catalogue: Catalogue
    settings: EvaluationSettings = field(default_factory=EvaluationSettings)
    subjects: frozenset[Subject] = frozenset({CLUSTER_SUBJECT})
    now: datetime = START
    evaluating_since: datetime = START
    evaluation: Evaluation = field(default_factory=Evaluation)
    announcement_state: AnnouncementState = field(default_factory=AnnouncementState)
    writes: list[EventRecord] = field(default_factory=list)
    announcing: bool = True
    write_outcome: WriteOutcome = WriteOutcome.WRITTEN
    stored: Callable[[], Iterable[HealthEvent]] = tuple

    evaluator: Evaluator = field(init=False)
    store: Store = field(init=False)
    snapshot: Snapshot = field(init=False)

    def advance(self, span: timedelta | float) -> Self:
        """Let time pass, with a pass at every deadline and at the end. *span*: a number is of seconds."""
        span = span if isinstance(span, timedelta) else timedelta(seconds=span)
        self._pass_deadlines(self.now + span)
        return self.run_pass()

    def advance_to_change(self, end: datetime) -> None:
        """
        Let time pass, with a pass at every deadline.

        At the end there is one only if something is due: what changes then is followed by a pass of
        its own.
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

    def _next_deadline(self) -> datetime | None:
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
        """Everything that decides what is written at this moment of the story."""
        return PublishContext(
            self.announcement_state,
            self.evaluation,
            self.catalogue,
            self.settings,
            involved_for,
            snapshot=self.snapshot,
        )

    def run_pass(self) -> Self:
        """
        Evaluate all subjects on a snapshot of the store; while leading, write what is due then.
        """
        self.snapshot = self.store.snapshot()
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
        """
        Write the Events that are due, all with *outcome*, or with that of the process if it is None.
        """
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
        Replace the process by a new one, which reads the Events before its first pass, and again to lead.

        *back_after*: seconds without any process.
        """
        self.now += timedelta(seconds=back_after)
        self.evaluation, self.announcing = Evaluation(), False
        self.evaluating_since = self.now
        self._remember(self._read_back())
        self.announcement_state = AnnouncementState()
        self.run_pass()
        return self.take_over()

    def take_over(self) -> Self:
        """
        Let this process lead, which evaluated before, and read the Events of its predecessor back.
        """
        self.announcing = True
        self.announcement_state = self._read_back()
        self._remember(self.announcement_state)
        return self.run_pass()

    def _read_back(self) -> AnnouncementState:
        last: dict[tuple[FindingKey, datetime], EventRecord] = {}
        for event in self.writes:
            # The timestamps of an Event are whole seconds.
            last[event.key, event.episode_start] = replace(
                event,
                first_timestamp=event.first_timestamp.replace(microsecond=0),
                last_timestamp=event.last_timestamp.replace(microsecond=0),
            )
        told = restore.with_stored(
            last.values(), restore.stored_episodes(self.stored(), now=self.now)
        )
        return restore.restore_episodes(
            AnnouncementState(),
            restore.of_living_subjects(told, self.store.snapshot().born_at),
            self.catalogue,
            self.settings,
            now=self.now,
            since=self.evaluating_since,
        )

    def _remember(self, state: AnnouncementState) -> None:
        remembered = restore.remember_findings(
            state, self.evaluation, self.catalogue, self.settings, now=self.now
        )
        self.store.record_seen_before(remembered.seen)
        self.evaluation = replace(
            self.evaluation, remembered=self.evaluation.remembered.merged(remembered)
        )
