"""
The pure core, played through time: what is announced when.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Self

from reporter.model.entries import Catalogue, ProbeSpec
from reporter.model.subjects import CLUSTER, Subject
from reporter.model.verdicts import Clear, Involved, Unknown, Verdict
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.outcome import Outcome, tell
from reporter.stages.pacing import Stage
from reporter.stages.pipeline import Court
from reporter.stages.probes.probe import Probe
from reporter.stages.states import states
from reporter.stages.subjects import Roster
from reporter.stages.voice import Voice, follow, resume, wakes
from tests.builders import NOON, a_store


def home(subject: Subject) -> Involved:
    return Involved("v1", "Namespace", subject.namespace or "kube-system", "uid-home")


@dataclass
class Play:
    """
    Probes read from *says* what to answer; what is not said is clear.
    """

    catalogue: Catalogue
    terms: Terms = field(default_factory=Terms)
    says: dict = field(default_factory=dict)
    subjects: frozenset = frozenset({CLUSTER})
    now: datetime = NOON
    since: datetime = NOON
    judged: Judgement = field(default_factory=Judgement)
    voice: Voice = field(default_factory=Voice)
    written: list = field(default_factory=list)
    speaking: bool = True
    outcome: Outcome = Outcome.WRITTEN

    def __post_init__(self):
        probe = Probe(ProbeSpec("none", object), self._judge)
        play = self

        class Staged(Court):
            def roster(self, snapshot, before):
                return Roster(play.subjects)

        self.court: Court = Staged(self.catalogue, {"none": probe}, {}, self.terms)
        self.store = a_store()
        self.step()

    def _judge(self, _, question) -> list[Verdict]:
        asked = question.subject, question.reason
        said = {k: v for k, v in self.says.items() if (k.subject, k.reason) == asked}
        return [
            Unknown(key, verdict) if isinstance(verdict, str) else verdict
            for key, verdict in said.items()
        ] or [Clear(question.key())]

    def say(self, *verdicts) -> Self:
        self.says.update({verdict.key: verdict for verdict in verdicts})
        return self.step()

    def clear(self, *keys) -> Self:
        for key in keys:
            self.says.pop(key, None)
        return self.step()

    def unknown(self, *keys) -> Self:
        self.says.update(dict.fromkeys(keys, "blind"))
        return self.step()

    def after(self, span: timedelta | float) -> Self:
        """
        Let time pass, looking at every moment that matters.
        """
        span = span if isinstance(span, timedelta) else timedelta(seconds=span)
        end = self.now + span
        while (wake := self._wake()) is not None and wake < end:
            self.now = max(wake, self.now + timedelta(milliseconds=1))
            self.step()
        self.now = max(end, self.now)
        return self.step()

    def _wake(self):
        moments = [self.court.wakes(self.judged, self.store.view(), now=self.now)]
        if self.speaking:
            moments += [due.at for due in self.stage.due(now=self.now)]
        moments.append(wakes(self.voice, settle=self.terms.patience.settle, now=self.now))
        return min((m for m in moments if m is not None), default=None)

    @property
    def stage(self) -> Stage:
        return Stage(self.voice, self.judged, self.catalogue, self.terms, home)

    def step(self) -> Self:
        self.judged = self.court.judge(
            self.judged,
            self.store.view(),
            self.subjects,
            now=self.now,
            announced=frozenset(self.voice.episodes),
        )
        if self.speaking:
            self.voice = follow(self.voice, self.judged, self.catalogue, self.terms, now=self.now)
            self.speak()
        return self

    def speak(self, outcome: Outcome | None = None) -> None:
        for due in self.stage.due(now=self.now):
            record = self.stage.compose(due.key, now=self.now) if due.at <= self.now else None
            if record is not None:
                self.written.append(record)
                self.voice = tell(self.voice, record, outcome or self.outcome, self.catalogue)

    def restart(self, *, back_after: float = 0.0) -> Self:
        """
        A new process reads back what is there.
        """
        self.now += timedelta(seconds=back_after)
        self.judged, self.voice, self.speaking = Judgement(), Voice(), False
        self.since = self.now
        self.step()
        return self.take_over()

    def take_over(self) -> Self:
        """
        A process that has judged *since* then reads back what another said, in whole seconds.
        """
        last = {}
        for record in self.written:
            seconds = {"first": record.first.replace(microsecond=0)}
            seconds["last"] = record.last.replace(microsecond=0)
            last[record.key, record.episode] = replace(record, **seconds)
        self.speaking = True
        terms, now = self.terms, self.now
        self.voice = resume(
            Voice(), last.values(), self.catalogue, terms, now=now, since=self.since
        )
        return self.step()

    @property
    def said(self) -> list[str]:
        """
        Everything written since the last look, as ``reason xcount``.
        """
        lines = [f"{r.key.reason} x{r.count}" for r in self.written[self._looked :]]
        self._looked = len(self.written)
        return lines

    _looked: int = 0

    @property
    def last(self) -> str:
        return str(self.written[-1].message)

    def state(self, key) -> str:
        return str(states(self.judged).get(key, "clear"))
