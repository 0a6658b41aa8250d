"""
What is said is said once: every write that arrived, held against those that arrived before.
"""

from dataclasses import dataclass

from reporter.model.enums import EventType
from reporter.model.subjects import Subject
from tests.simulation.apiserver import EventStore, EventWrite
from tests.simulation.rules import settle_of
from tests.simulation.send_checker import SendChecker
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


READ_BACK_LIMIT = 3000.0
"""
Seconds after which a successor may take an Event for an old one: an hour, less a heartbeat.
"""


@dataclass
class DeliveryChecker:
    events: EventStore
    send_checker: SendChecker

    def __call__(self, write: EventWrite) -> None:
        before = [w for w in self.events.writes[:-1] if w.record.key == write.record.key]
        self.check_count(write, [w for w in before if w.name == write.name])
        if write.verb == "create" and before:
            if write.record.type is EventType.NORMAL:
                self.check_new_recovery(write, before)
            elif before[-1].name != write.name:
                self.check_new_episode(write, before[-1])

    def check_count(self, write: EventWrite, before: list[EventWrite]) -> None:
        last = before[-1].record.count if before else 0
        assert last <= write.record.count <= last + 2, f"{write.record.key} counts from {last}"
        assert len(write.record.message.encode()) <= 1024

    def check_new_episode(self, write: EventWrite, last: EventWrite) -> None:
        key, now = write.record.key, write.at
        truth = self.send_checker.truth
        lag = self.lag(write, last)
        begin = last.at - lag - 600
        troubles = [t for s in truth.intervals(key, begin, now) for t in s.troubles]
        quiet = truth.longest_clear(key, last.at - lag, now)
        enough = settle_of(DEFAULT_CATALOGUE[key.reason], troubles) - lag
        ended = any(s.paused for s in truth.intervals(key, last.at - lag, now))
        ended |= truth.deleted_at.get(key.subject, 0.0) >= last.at - lag
        assert quiet >= enough or ended or self.is_event_forgotten(last), (
            f"{key} has two Events in one episode, it was clear for {quiet:.1f} s (lag {lag:.1f})"
        )

    def check_new_recovery(self, write: EventWrite, before: list[EventWrite]) -> None:
        last = before[-1]
        if last.name == write.name:
            return
        said = any(
            w.record.type is EventType.WARNING
            and w.record.key.subject == write.record.key.subject
            and w.at >= last.at
            for w in self.events.writes
        )
        assert said or self.is_event_forgotten(last), f"{write.record.key} is said twice"

    def lag(self, write: EventWrite, last: EventWrite) -> float:
        """
        How late they were who told of it, then and now.
        """
        sending, record = self.send_checker, write.record
        writer = sending.writers[record.key, record.episode_start]
        then = sending.max_lag[last.record.key, last.record.episode_start]
        return then + sending.lag(writer, last.at, record.key)

    def is_event_forgotten(self, last: EventWrite) -> bool:
        """
        Whether the Event was gone, or too old, when another replica read back.
        """
        now = self.events.clock.now
        over = [f for f in self.send_checker.failovers if f > last.at]
        vanished = [at for at, r in self.events.deleted if r.key == last.record.key]
        return any(v <= f for v in vanished for f in over) or (
            bool(over) and now - last.at > READ_BACK_LIMIT
        )

    def is_subject_forgotten(self, subject: Subject, since: float) -> bool:
        """
        Whether what is owed to a subject may have been unknown to a successor.
        """
        failovers = [f for f in self.send_checker.failovers if f > since]
        vanished = [at for at, r in self.events.deleted if r.key.subject == subject]
        return any(v <= f for v in vanished for f in failovers)
