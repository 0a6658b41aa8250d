"""Check that every Event is announced once: compare each write with those that arrived before."""

from dataclasses import dataclass

from reporter.model.enums import EventType
from reporter.model.subjects import Subject
from tests.simulation.apiserver import EventStore, EventWrite
from tests.simulation.network import REQUEST_TIMEOUT
from tests.simulation.rules import settle_of
from tests.simulation.send_checker import SendChecker
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


READ_BACK_LIMIT = 3000.0
"""The seconds after which a successor may not restore an Event: an hour less some heartbeats."""


@dataclass
class DeliveryChecker:
    """Checks each write that arrived at the API server."""

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
        known = truth.intervals(key, begin, now)
        while known and known[-1].troubles:
            known.pop()  # what is announced anew says nothing about how long the last one settled
        # The last trouble of an object decides: one that was remedied by a new pod crashes no more.
        latest = {t.cause.object: t for s in known for t in s.troubles}
        clear_for = truth.longest_clear(key, last.at - lag, now)
        enough = settle_of(DEFAULT_CATALOGUE[key.reason], latest.values()) - lag
        ended = any(s.paused for s in truth.intervals(key, last.at - lag, now))
        ended |= truth.deleted_at.get(key.subject, 0.0) >= last.at - lag
        ended |= self.was_led_by_two(write, last)
        assert clear_for >= enough or ended or self.is_event_forgotten(last), (
            f"{key} has two Events in one episode, it was clear for {clear_for:.1f} s (lag {lag:.1f})"
        )

    def check_new_recovery(self, write: EventWrite, before: list[EventWrite]) -> None:
        last = before[-1]
        if last.name == write.name:
            return
        announced = any(
            w.record.type is EventType.WARNING
            and w.record.key.subject == write.record.key.subject
            and w.at >= last.at
            for w in self.events.writes
        )
        excused = self.is_event_forgotten(last) or self.was_led_by_two(write, last)
        assert announced or excused, f"{write.record.key} is written twice"

    def lag(self, write: EventWrite, last: EventWrite) -> float:
        """Return how late both writers were with what they knew, then and now."""
        checker, record = self.send_checker, write.record
        writer = checker.writers[record.key, record.episode_start]
        then = checker.max_lag[last.record.key, last.record.episode_start]
        return then + checker.lag(writer, last.at, record.key)

    def was_led_by_two(self, write: EventWrite, last: EventWrite) -> bool:
        """
        Return whether one leader wrote the last Event unseen by the other one, which led beside it.

        Neither reads back what the other writes then. It ends with the deadline of the one: see
        ``SendChecker.may_both_hold``.
        """
        writer, other = [
            self.send_checker.writers[each.record.key, each.record.episode_start]
            for each in (write, last)
        ]
        both = self.send_checker.led_by_two_at
        return writer is not other and any(abs(at - last.at) <= REQUEST_TIMEOUT for at in both)

    def is_event_forgotten(self, last: EventWrite) -> bool:
        """Return whether the Event was deleted, or too old, when another replica read back."""
        now = self.events.clock.now
        failovers = [f for f in self.send_checker.failovers if f > last.at]
        deleted = [at for at, r in self.events.deleted if r.key == last.record.key]
        return any(v <= f for v in deleted for f in failovers) or (
            bool(failovers) and now - last.at > READ_BACK_LIMIT
        )

    def is_subject_forgotten(self, subject: Subject, since: float) -> bool:
        """Return whether a successor could not know what is owed to a subject."""
        failovers = [f for f in self.send_checker.failovers if f > since]
        deleted = [at for at, r in self.events.deleted if r.key.subject == subject]
        return any(v <= f for v in deleted for f in failovers)
