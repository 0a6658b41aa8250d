"""
Nothing real is hidden for longer than it must be: in fair weather each word has its second.
"""

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
"""
Seconds that changes, passes and requests take in fair weather.
"""


@dataclass
class LatencyChecker:
    """
    Of a trouble that began when all was well, and since when nothing else changed.

    *late*: the most that any word may be late, by a change of the leader for one.
    """

    simulation: Simulation
    max_delay: float = MAX_DELAY
    began_at: float = field(init=False)

    def __post_init__(self) -> None:
        self.truth, self.began_at = self.simulation.truth, self.simulation.agenda.now

    # ------------------------------------------------------------ when what is due

    def due_at(self, key: FindingKey) -> float:
        """
        When the first of its troubles is old enough.
        """
        entry, stretch = DEFAULT_CATALOGUE[key.reason], self.truth.current(key)
        moments = []
        for trouble in stretch.troubles:
            born = self.truth.to_seconds(trouble.object_created_at)
            of_age = (
                0.0 if born is None or not entry.waits_for_grace else born + GRACE.total_seconds()
            )
            moments.append(max(stretch.began_at + hold_of(entry, trouble), of_age))
        return min(moments, default=NEVER) + self._discovery_delay(key)

    def _discovery_delay(self, key: FindingKey) -> float:
        changed = [at for crd, at in self.truth.served_changed.items() if crd in crds_of(key)]
        return DISCOVERY_DELAY if any(at >= self.began_at for at in changed) else 0.0

    @property
    def all_due_at(self) -> float:
        return max([self.due_at(key) for key in self.truth.active], default=self.began_at)

    def unsuppressed(self, subject: Subject) -> list[FindingKey]:
        """
        What is not suppressed, the highest rank first.
        """
        keys = [k for k in self.truth.active if k.subject == subject]
        ranked = [k for k in keys if not DEFAULT_CATALOGUE[k.reason].orthogonal]
        heard = [k for k in ranked if not any(self.suppresses(s, k) for s in self.truth.active)]
        return sorted(heard, key=lambda k: (DEFAULT_CATALOGUE[k.reason].rank or 0, k))

    def suppresses(self, source: FindingKey, key: FindingKey) -> bool:
        return is_out(self.truth.active[source]) and may_suppress(source, key)

    # ------------------------------------------------------------ the laws

    def check_announced(self) -> None:
        for subject in self.truth.subjects:
            loud = self.unsuppressed(subject)
            for key in loud:
                latest = self.due_at(key) + self.max_delay
                above = loud[: loud.index(key)]
                if not any(k.reason != key.reason and self.due_at(k) <= latest for k in above):
                    self.check_announced_by(key, latest)
        for key in self.truth.active:
            if DEFAULT_CATALOGUE[key.reason].orthogonal:
                self.check_announced_by(key, self.due_at(key) + self.max_delay)

    def check_announced_by(self, key: FindingKey, latest: float) -> None:
        first = min((w.at for w in self.writes_of(key)), default=NEVER)
        assert first <= latest, f"{key} was said at {first}, and was due until {latest}"

    def check_announced_now(self) -> None:
        for subject in self.truth.subjects:
            for key in self.unsuppressed(subject)[:1]:
                assert self.writes_of(key), f"{key} was not said"

    def check_outranked(self) -> None:
        """
        Once the highest rank has spoken, no other of its subject does.
        """
        for subject in self.truth.subjects:
            loud = self.unsuppressed(subject)
            first = [w.at for w in self.writes if w.record.key in loud[:1]]
            for write in self.writes:
                key = write.record.key
                lower = key in loud and key.reason != loud[0].reason
                assert not lower or write.at <= min(first) + MAX_DELAY, (
                    f"{key} speaks, and {loud[0]}"
                )

    def check_heartbeats(self) -> None:
        """
        A heartbeat each, and a rewrite for each new content.
        """
        now = self.simulation.agenda.now
        for subject in self.truth.subjects:
            loud = self.unsuppressed(subject)
            for key in loud:
                if key.reason == loud[0].reason:
                    said = self.writes_of(key)
                    span, rewrites = (
                        now - said[0].at,
                        len({w.record.content_digest for w in said}) - 1,
                    )
                    least, most = (
                        span / (1.1 * HEARTBEAT + MAX_DELAY),
                        span / (0.9 * HEARTBEAT - MAX_DELAY),
                    )
                    assert int(least) <= len(said) - 1 <= int(most) + rewrites, f"{key}: {said}"

    def check_ready_written(self, ended: float) -> None:
        """
        Each subject of which something was said has its Ready when the last of it has settled.
        """
        for subject in self.truth.subjects.keys() - self.truth.paused:
            said = self.ranked_writes_of(subject)
            warned = [w for w in said if w.record.type is EventType.WARNING]
            taken = [w.at for w in said if w.record.type is EventType.NORMAL and w.at > ended]
            if warned:
                latest = ended + self.settle_of_subject(subject) + self.max_delay
                assert len(taken) == 1, f"{subject} has {len(taken)} Ready"
                assert taken[0] <= latest, f"Ready at {taken[0]}, and was due until {latest}"

    def settle_of_subject(self, subject: Subject) -> float:
        """
        Also what was suppressed must have settled, which a row that lifts does not delay.
        """
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
        """
        Without what is orthogonal, which owes no Ready.
        """
        of = [w for w in self.new_writes() if w.record.key.subject == subject]
        return [w for w in of if not DEFAULT_CATALOGUE[w.record.key.reason].orthogonal]
