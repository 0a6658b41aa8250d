"""Check that trouble is announced in time while the network is healthy."""

from dataclasses import dataclass, field

from reporter.model.enums import EventType
from reporter.model.subjects import FindingKey, Subject
from tests.simulation.apiserver import EventWrite
from tests.simulation.ground_truth import NEVER
from tests.simulation.rules import (
    GRACE,
    HEARTBEAT,
    SETTLE,
    crds_of,
    hold_of,
    is_out,
    may_suppress,
    settle_of,
)
from tests.simulation.send_checker import DISCOVERY_DELAY
from tests.simulation.simulation import Simulation
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


MAX_DELAY = 3.0
"""The seconds that changes, passes and requests take on a healthy network."""


@dataclass
class LatencyChecker:
    """
    Checks trouble that began when all was clear, and since when nothing else changed.

    *max_delay*: the most that any write may be late, because of a change of leader for example.
    """

    simulation: Simulation
    max_delay: float = MAX_DELAY
    began_at: float = field(init=False)

    def __post_init__(self) -> None:
        self.truth, self.began_at = self.simulation.truth, self.simulation.clock.now

    # ------------------------------------------------------------ deadlines

    def due_at(self, key: FindingKey) -> float:
        """Return when the first trouble of the key outlives its hold."""
        entry, interval = DEFAULT_CATALOGUE[key.reason], self.truth.current(key)
        moments = []
        for trouble in interval.troubles:
            created_at = self.truth.to_seconds(trouble.object_created_at)
            grace_end = (
                0.0
                if created_at is None or not entry.waits_for_grace
                else created_at + GRACE.total_seconds()
            )
            moments.append(max(interval.began_at + hold_of(entry, trouble), grace_end))
        return min(moments, default=NEVER) + self._discovery_delay(key)

    def _discovery_delay(self, key: FindingKey) -> float:
        changed = [at for crd, at in self.truth.served_changed.items() if crd in crds_of(key)]
        return DISCOVERY_DELAY if any(at >= self.began_at for at in changed) else 0.0

    @property
    def all_due_at(self) -> float:
        return max([self.due_at(key) for key in self.truth.active], default=self.began_at)

    def unsuppressed(self, subject: Subject) -> list[FindingKey]:
        """Return the keys that are not suppressed, the highest rank first."""
        keys = [k for k in self.truth.active if k.subject == subject]
        ranked = [k for k in keys if not DEFAULT_CATALOGUE[k.reason].orthogonal]
        unsuppressed = [
            k for k in ranked if not any(self.suppresses(s, k) for s in self.truth.active)
        ]
        return sorted(unsuppressed, key=lambda k: (DEFAULT_CATALOGUE[k.reason].rank or 0, k))

    def suppresses(self, source: FindingKey, key: FindingKey) -> bool:
        return is_out(self.truth.active[source]) and may_suppress(source, key)

    # ------------------------------------------------------------ the laws

    def check_announced(self) -> None:
        for subject in self.truth.subjects:
            keys = self.unsuppressed(subject)
            for key in keys:
                latest = self.due_at(key) + self.max_delay
                above = keys[: keys.index(key)]
                if not any(k.reason != key.reason and self.due_at(k) <= latest for k in above):
                    self.check_announced_by(key, latest)
        for key in self.truth.active:
            if DEFAULT_CATALOGUE[key.reason].orthogonal:
                self.check_announced_by(key, self.due_at(key) + self.max_delay)

    def check_announced_by(self, key: FindingKey, latest: float) -> None:
        first = min((w.at for w in self.writes_of(key)), default=NEVER)
        assert first <= latest, f"{key} was announced at {first}, and was due until {latest}"

    def check_announced_now(self) -> None:
        for subject in self.truth.subjects:
            for key in self.unsuppressed(subject)[:1]:
                assert self.writes_of(key), f"{key} was not announced"

    def check_outranked(self) -> None:
        """Check that no other key of a subject is written once its highest rank was."""
        for subject in self.truth.subjects:
            keys = self.unsuppressed(subject)
            first = [w.at for w in self.writes if w.record.key in keys[:1]]
            for write in self.writes:
                key = write.record.key
                lower = key in keys and key.reason != keys[0].reason
                assert not lower or write.at <= min(first) + MAX_DELAY, (
                    f"{key} is announced beside {keys[0]}"
                )

    def check_heartbeats(self) -> None:
        """Check the number of writes: heartbeats, and a rewrite for each new content."""
        now = self.simulation.clock.now
        for subject in self.truth.subjects:
            keys = self.unsuppressed(subject)
            for key in keys:
                if key.reason == keys[0].reason:
                    writes = self.writes_of(key)
                    span, rewrites = (
                        now - writes[0].at,
                        len({w.record.content_digest for w in writes}) - 1,
                    )
                    least, most = (
                        span / (1.1 * HEARTBEAT + MAX_DELAY),
                        span / (0.9 * HEARTBEAT - MAX_DELAY),
                    )
                    assert int(least) <= len(writes) - 1 <= int(most) + rewrites, (
                        f"{key}: {writes}"
                    )

    def check_ready_written(self, ended: float) -> None:
        """
        Check that each subject with an announced finding has its Ready when all of it has settled.
        """
        for subject in self.truth.subjects.keys() - self.truth.paused:
            writes = self.ranked_writes_of(subject)
            warned = [w for w in writes if w.record.type is EventType.WARNING]
            taken = [w.at for w in writes if w.record.type is EventType.NORMAL and w.at > ended]
            if warned:
                latest = ended + self.settle_of_subject(subject) + self.max_delay
                assert len(taken) == 1, f"{subject} has {len(taken)} Ready"
                assert taken[0] <= latest, f"Ready at {taken[0]}, and was due until {latest}"

    def settle_of_subject(self, subject: Subject) -> float:
        """Return the longest settle of the subject, suppressed keys included."""
        keys = [k for k in self.truth.history if k.subject == subject]
        return max(
            [self._settle_of_key(key) + self._discovery_delay(key) for key in keys], default=SETTLE
        )

    def _settle_of_key(self, key: FindingKey) -> float:
        troubles = [t for s in self.truth.history[key] for t in s.troubles]
        return settle_of(DEFAULT_CATALOGUE[key.reason], troubles)

    def new_writes(self) -> list[EventWrite]:
        return [w for w in self.writes if w.at >= self.began_at]

    @property
    def writes(self) -> list[EventWrite]:
        return self.simulation.events.writes

    def writes_of(self, key: FindingKey) -> list[EventWrite]:
        return [w for w in self.new_writes() if w.record.key == key]

    def ranked_writes_of(self, subject: Subject) -> list[EventWrite]:
        """Return the writes without orthogonal ones, which owe no Ready."""
        writes = [w for w in self.new_writes() if w.record.key.subject == subject]
        return [w for w in writes if not DEFAULT_CATALOGUE[w.record.key.reason].orthogonal]
