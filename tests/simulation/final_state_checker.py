"""Check the Events that must exist once all faults are over."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from reporter.announcing.message import MessageInput, ReportedTrouble
from reporter.kube.event_record import EventRecord
from reporter.model.enums import EventType
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import Active, Trouble, Unknown
from tests.simulation.apiserver import EventWrite
from tests.simulation.delivery_checker import DeliveryChecker
from tests.simulation.ground_truth import GroundTruth, verdicts_of
from tests.simulation.replica import Replica
from tests.simulation.rules import (
    HEARTBEAT,
    SETTLE,
    hold_of,
    is_out,
    may_suppress,
    needs_no_looking,
    states_own_cause,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


UNCERTAIN = 20.0
"""
The seconds within which it is not known what a replica saw first: its watches may be so late.
"""


@dataclass
class FinalStateChecker:
    """
    Checks the final state: nothing real is hidden, and what is announced arrives.

    *quiet_since*: the time from which nothing changed and nothing failed.
    *active*: all troubles by the probes on the leader's store, as only the leader remembers what was
    deleted before.
    *unknown*: keys whose kind is not served; their Events stay as they were.
    *slack*: the seconds beyond the holds for lifted suppressions, retries and the rewrite interval.
    """

    truth: GroundTruth
    delivery_checker: DeliveryChecker
    quiet_since: float
    active: dict[FindingKey, tuple[Trouble, ...]] = field(default_factory=dict)
    unknown: frozenset[FindingKey] = frozenset()
    slack: float = 240

    def check(self) -> None:
        replicas = self.delivery_checker.send_checker.replicas
        for replica in replicas:
            self.check_store(replica)
        (leader,) = [each for each in replicas if each.elector.holds_lease()]
        verdicts = verdicts_of(leader.store.snapshot(), now=self.truth.clock.wall_time)
        self.active = {k: v.troubles for k, v in verdicts.items() if isinstance(v, Active)}
        self.unknown = frozenset(k for k, v in verdicts.items() if isinstance(v, Unknown))
        differing = (self.active.keys() ^ self.truth.active.keys()) - self.unknown
        missed = [k for k in differing if not self.truth.may_be_mixed_up(k.subject, UNCERTAIN)]
        assert not missed, f"{leader.name} evaluates differently: {sorted(map(str, missed))}"
        self.check_events()

    def check_store(self, replica: Replica) -> None:
        view = replica.store.snapshot()
        for kind, objects in self.truth.cluster.objects.items():
            if self.truth.cluster.serves(kind):
                known = {(o.metadata.namespace, o.metadata.name): o for o in view.all(kind)}
                assert known == objects, f"{replica.name} does not know the {kind.resource}"

    def check_events(self) -> None:
        for subject in self.truth.subjects:
            if all(self.is_past_hold(key) for key in self.ranked_keys(subject)):
                self.check_announced(subject)
                self.check_ready_written(subject)
        for key in self.active:
            if DEFAULT_CATALOGUE[key.reason].orthogonal and self.is_past_hold(key):
                self.check_event(key, ())

    # ------------------------------------------------------------ expectations

    def ranked_keys(self, subject: Subject) -> list[FindingKey]:
        keys = [k for k in self.active if k.subject == subject]
        ranked = [k for k in keys if not DEFAULT_CATALOGUE[k.reason].orthogonal]
        return sorted(ranked, key=lambda k: (DEFAULT_CATALOGUE[k.reason].rank or 0, k))

    def is_past_hold(self, key: FindingKey) -> bool:
        """Return whether every trouble of the key outlived its hold, with some slack."""
        now, entry = self.truth.clock.now, DEFAULT_CATALOGUE[key.reason]
        quiet_for = now - self.quiet_since
        return all(quiet_for > hold_of(entry, t) + self.slack for t in self.active[key])

    @property
    def is_everything_past_hold(self) -> bool:
        return all(map(self.is_past_hold, self.active))

    def sources(self, key: FindingKey) -> list[FindingKey]:
        return [
            s
            for s, troubles in self.active.items()
            if is_out(troubles) and may_suppress(s, key) and self.explains(s, key) is not False
        ]

    def explains(self, source: FindingKey, key: FindingKey) -> bool | None:
        """
        Return whether a source that is out explains a key; None where moments decide that nobody wrote down.

        What states its own cause is not explained, nor what was announced before its source went out. What
        began after that is.
        """
        if needs_no_looking(source):
            return True
        own = {states_own_cause(key, each) for each in self.active[key]}
        if True in own:
            return None if False in own else False
        truth, now = self.truth, self.truth.clock.now
        last, _ = truth.last_matching(source, now, is_out)
        assert last is not None
        outage = truth.went_out_at(source, last, SETTLE)
        if not any(each.troubles for each in truth.intervals(key, 0.0, outage)):
            since = [truth.to_seconds(each.since) for each in self.active[key]]
            # A new process believes the objects, which may say that it came first.
            return None if any(at is not None and at < outage for at in since) else True
        checker = self.delivery_checker
        writes = [w for w in checker.events.writes if w.record.key == key]
        announced = [w for w in writes if w.at < outage - UNCERTAIN]
        if not announced or checker.is_event_forgotten(announced[-1]):
            return None
        return None if truth.longest_clear(key, announced[-1].at, now) else False

    def is_open(self, keys: Iterable[FindingKey]) -> bool:
        """Return whether it is not known of one of the keys if it is suppressed."""
        return any(
            self.explains(source, key) is None for key in keys for source in self.sources(key)
        )

    def roots(self, key: FindingKey) -> frozenset[FindingKey]:
        found: frozenset[FindingKey] = frozenset()
        for source in self.sources(key):
            found |= self.roots(source) or {source}
        return found

    # ------------------------------------------------------------ the laws

    def check_announced(self, subject: Subject) -> None:
        if self.is_open(self.ranked_keys(subject)):
            return
        ranked = [key for key in self.ranked_keys(subject) if not self.sources(key)]
        for key in ranked:
            if key.reason == ranked[0].reason:
                self.check_event(key, ranked)

    def check_event(self, key: FindingKey, ranked: Iterable[FindingKey]) -> None:
        if self.sources(key):
            return
        event = self.running_event(key)
        assert event is not None, f"{key} has no Event"
        now = self.truth.clock.now
        unwritten_for = now - (self.truth.to_seconds(event.last_timestamp) or 0.0)
        assert unwritten_for < HEARTBEAT * 1.1 + 90, (
            f"{key} was not written for {unwritten_for:.0f} s"
        )
        unknown = any(not DEFAULT_CATALOGUE[k.reason].orthogonal for k in self.unknown)
        if self.is_everything_past_hold and not unknown and not self.is_open(self.active):
            wanted = self.digest(key, list(ranked))
            assert event.content_digest == wanted, f"{key} has an old message: {event.message}"

    def running_event(self, key: FindingKey) -> EventRecord | None:
        events = [e for e in self.delivery_checker.events.list() if e.key == key]
        return max(events, key=lambda e: e.last_timestamp, default=None)

    def digest(self, key: FindingKey, ranked: list[FindingKey]) -> str:
        primary = {k for k in ranked if k.reason == key.reason}
        roots = {key} | ({k for k in ranked if k not in primary} if key in primary else set())
        suppressed = [k for k in self.active if self.roots(k) & roots]
        return MessageInput(
            DEFAULT_CATALOGUE[key.reason],
            key.subject,
            tuple(ReportedTrouble(t, timedelta(0)) for t in self.active[key]),
            other_reasons=tuple(sorted({k.reason for k in ranked} - {key.reason})),
            suppressed_reasons=tuple(sorted({k.reason for k in suppressed})),
            suppressed_namespaces=len(
                {k.subject.namespace for k in suppressed if k.subject.namespace}
            ),
        ).content_digest

    def check_ready_written(self, subject: Subject) -> None:
        """Check that a subject that was announced and is clear has its Ready."""
        writes = [
            w for w in self.delivery_checker.events.writes if self._is_ranked_write(w, subject)
        ]
        existing_since = self.truth.subjects[subject]
        warned = max((w.at for w in writes if w.record.type is EventType.WARNING), default=0.0)
        ready = max((w.at for w in writes if w.record.type is EventType.NORMAL), default=0.0)
        unknown = any(key.subject == subject for key in self.unknown)
        if unknown or self.ranked_keys(subject) or subject in self.truth.paused:
            return
        quiet_for = self.truth.clock.now - self.quiet_since
        forgotten = (
            self.delivery_checker.is_subject_forgotten(subject, 0.0) or warned < existing_since
        )
        if warned > 0 and quiet_for > 900 and not forgotten:
            assert ready >= warned, f"{subject} is clear, and has no Ready"

    def _is_ranked_write(self, write: EventWrite, subject: Subject) -> bool:
        key = write.record.key
        return key.subject == subject and not DEFAULT_CATALOGUE[key.reason].orthogonal
