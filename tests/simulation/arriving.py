"""
What is said is said once: every write that arrived, held against those that arrived before.
"""

from dataclasses import dataclass

from reporter.model.subjects import Subject
from reporter.model.words import EventType
from tests.shipped import CATALOGUE
from tests.simulation.apiserver import Events, Write
from tests.simulation.rules import settle_of
from tests.simulation.sending import Sending


REMEMBERED = 3000.0
"""
Seconds after which a successor may take an Event for an old one: an hour, less a heartbeat.
"""


@dataclass
class Arriving:
    events: Events
    sending: Sending

    def __call__(self, write: Write) -> None:
        before = [w for w in self.events.writes[:-1] if w.record.key == write.record.key]
        self.counts_on(write, [w for w in before if w.name == write.name])
        if write.verb == "create" and before:
            if write.record.type is EventType.NORMAL:
                self.is_a_new_recovery(write, before)
            elif before[-1].name != write.name:
                self.is_a_new_episode(write, before[-1])

    def counts_on(self, write: Write, before: list[Write]) -> None:
        last = before[-1].record.count if before else 0
        assert last <= write.record.count <= last + 2, f"{write.record.key} counts from {last}"
        assert len(write.record.message.encode()) <= 1024

    def is_a_new_episode(self, write: Write, last: Write) -> None:
        key, now = write.record.key, write.at
        truth = self.sending.truth
        lag = self.lag(write, last)
        begin = last.at - lag - 600
        troubles = [t for s in truth.stretches(key, begin, now) for t in s.troubles]
        quiet = truth.clear_for(key, last.at - lag, now)
        enough = settle_of(CATALOGUE[key.reason], troubles) - lag
        ended = any(s.paused for s in truth.stretches(key, last.at - lag, now))
        ended |= truth.gone.get(key.subject, 0.0) >= last.at - lag
        assert quiet >= enough or ended or self.is_forgotten(last), (
            f"{key} has two Events in one episode, it was clear for {quiet:.1f} s (lag {lag:.1f})"
        )

    def is_a_new_recovery(self, write: Write, before: list[Write]) -> None:
        last = before[-1]
        if last.name == write.name:
            return
        said = any(
            w.record.type is EventType.WARNING
            and w.record.key.subject == write.record.key.subject
            and w.at >= last.at
            for w in self.events.writes
        )
        assert said or self.is_forgotten(last), f"{write.record.key} is said twice"

    def lag(self, write: Write, last: Write) -> float:
        """
        How late they were who told of it, then and now.
        """
        sending, record = self.sending, write.record
        writer = sending.writers[record.key, record.episode]
        then = sending.late[last.record.key, last.record.episode]
        return then + sending.lag(writer, last.at, record.key)

    def is_forgotten(self, last: Write) -> bool:
        """
        Whether the Event was gone, or too old, when another replica read back.
        """
        now = self.events.agenda.now
        over = [f for f in self.sending.failovers if f > last.at]
        vanished = [at for at, r in self.events.vanished if r.key == last.record.key]
        return any(v <= f for v in vanished for f in over) or (
            bool(over) and now - last.at > REMEMBERED
        )

    def is_forgotten_of(self, subject: Subject, since: float) -> bool:
        """
        Whether what is owed to a subject may have been unknown to a successor.
        """
        failovers = [f for f in self.sending.failovers if f > since]
        vanished = [at for at, r in self.events.vanished if r.key.subject == subject]
        return any(v <= f for v in vanished for f in failovers)
