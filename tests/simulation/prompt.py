"""
Nothing real is hidden for longer than it must be: in fair weather each word has its second.
"""

from dataclasses import dataclass, field

from reporter.model.subjects import Key, Subject
from reporter.model.words import EventType
from tests.shipped import CATALOGUE
from tests.simulation.apiserver import Write
from tests.simulation.rules import (
    GRACE,
    HEARTBEAT,
    SETTLE,
    covers,
    crds_of,
    hold_of,
    is_out,
    settle_of,
)
from tests.simulation.sending import DISCOVERED
from tests.simulation.simulation import Simulation
from tests.simulation.truth import FOREVER


LATE = 3.0
"""
Seconds that changes, passes and requests take in fair weather.
"""


@dataclass
class Prompt:
    """
    Of a trouble that began when all was well, and since when nothing else changed.

    *late*: the most that any word may be late, by a change of the leader for one.
    """

    simulation: Simulation
    late: float = LATE
    begin: float = field(init=False)

    def __post_init__(self) -> None:
        self.truth, self.begin = self.simulation.truth, self.simulation.agenda.now

    # ------------------------------------------------------------ when what is due

    def due(self, key: Key) -> float:
        """
        When the first of its troubles is old enough.
        """
        entry, stretch = CATALOGUE[key.reason], self.truth.now(key)
        moments = []
        for trouble in stretch.troubles:
            born = self.truth.seconds_of(trouble.born)
            of_age = 0.0 if born is None or not entry.grace else born + GRACE.total_seconds()
            moments.append(max(stretch.begin + hold_of(entry, trouble), of_age))
        return min(moments, default=FOREVER) + self._discovery(key)

    def _discovery(self, key: Key) -> float:
        changed = [at for crd, at in self.truth.served_changed.items() if crd in crds_of(key)]
        return DISCOVERED if any(at >= self.begin for at in changed) else 0.0

    @property
    def all_due(self) -> float:
        return max([self.due(key) for key in self.truth.active], default=self.begin)

    def loud(self, subject: Subject) -> list[Key]:
        """
        What is not suppressed, the highest rank first.
        """
        keys = [k for k in self.truth.active if k.subject == subject]
        ranked = [k for k in keys if not CATALOGUE[k.reason].orthogonal]
        heard = [k for k in ranked if not any(self.silences(s, k) for s in self.truth.active)]
        return sorted(heard, key=lambda k: (CATALOGUE[k.reason].rank or 0, k))

    def silences(self, source: Key, key: Key) -> bool:
        return is_out(self.truth.active[source]) and covers(source, key)

    # ------------------------------------------------------------ the laws

    def is_told(self) -> None:
        for subject in self.truth.subjects:
            loud = self.loud(subject)
            for key in loud:
                latest = self.due(key) + self.late
                above = loud[: loud.index(key)]
                if not any(k.reason != key.reason and self.due(k) <= latest for k in above):
                    self.is_told_by(key, latest)
        for key in self.truth.active:
            if CATALOGUE[key.reason].orthogonal:
                self.is_told_by(key, self.due(key) + self.late)

    def is_told_by(self, key: Key, latest: float) -> None:
        first = min((w.at for w in self.said_of(key)), default=FOREVER)
        assert first <= latest, f"{key} was said at {first}, and was due until {latest}"

    def is_told_by_now(self) -> None:
        for subject in self.truth.subjects:
            for key in self.loud(subject)[:1]:
                assert self.said_of(key), f"{key} was not said"

    def is_outranked(self) -> None:
        """
        Once the highest rank has spoken, no other of its subject does.
        """
        for subject in self.truth.subjects:
            loud = self.loud(subject)
            first = [w.at for w in self.writes if w.record.key in loud[:1]]
            for write in self.writes:
                key = write.record.key
                lower = key in loud and key.reason != loud[0].reason
                assert not lower or write.at <= min(first) + LATE, f"{key} speaks, and {loud[0]}"

    def goes_on(self) -> None:
        """
        A heartbeat each, and a rewrite for each new content.
        """
        now = self.simulation.agenda.now
        for subject in self.truth.subjects:
            loud = self.loud(subject)
            for key in loud:
                if key.reason == loud[0].reason:
                    said = self.said_of(key)
                    span, rewrites = now - said[0].at, len({w.record.told for w in said}) - 1
                    least, most = span / (1.1 * HEARTBEAT + LATE), span / (0.9 * HEARTBEAT - LATE)
                    assert int(least) <= len(said) - 1 <= int(most) + rewrites, f"{key}: {said}"

    def is_taken_back(self, ended: float) -> None:
        """
        Each subject of which something was said has its Ready when the last of it has settled.
        """
        for subject in self.truth.subjects.keys() - self.truth.paused:
            said = self.said_to(subject)
            warned = [w for w in said if w.record.type is EventType.WARNING]
            taken = [w.at for w in said if w.record.type is EventType.NORMAL and w.at > ended]
            if warned:
                latest = ended + self.settles(subject) + self.late
                assert len(taken) == 1, f"{subject} has {len(taken)} Ready"
                assert taken[0] <= latest, f"Ready at {taken[0]}, and was due until {latest}"

    def settles(self, subject: Subject) -> float:
        """
        Also what was suppressed must have settled, which a row that lifts does not delay.
        """
        keys = [k for k in self.truth.past if k.subject == subject]
        return max([self._settle(key) + self._discovery(key) for key in keys], default=SETTLE)

    def _settle(self, key: Key) -> float:
        troubles = [t for s in self.truth.past[key] for t in s.troubles]
        return settle_of(CATALOGUE[key.reason], troubles)

    def said(self) -> list[Write]:
        return [w for w in self.writes if w.at >= self.begin]

    @property
    def writes(self) -> list[Write]:
        return self.simulation.events.writes

    def said_of(self, key: Key) -> list[Write]:
        return [w for w in self.said() if w.record.key == key]

    def said_to(self, subject: Subject) -> list[Write]:
        """
        Without what is orthogonal, which owes no Ready.
        """
        of = [w for w in self.said() if w.record.key.subject == subject]
        return [w for w in of if not CATALOGUE[w.record.key.reason].orthogonal]
