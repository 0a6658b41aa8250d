"""
What was truly wrong when: the verdicts of the probes over objects that nobody learned of late.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from reporter.model.kinds import KINDS
from reporter.model.observations import Unserved, Watched
from reporter.model.subjects import Key, Subject
from reporter.model.verdicts import Active, Clear, Paused, Trouble, Unknown, Verdict
from reporter.stages.gate import EPOCH_ENDS
from reporter.stages.inquiry import inquiry
from reporter.stages.records import OPEN
from reporter.stages.snapshot import Snapshot
from reporter.stages.store import Store
from reporter.stages.subjects import subjects_of
from tests.simulation.agenda import Agenda
from tests.simulation.cluster import Change, Cluster
from tests.simulation.replica import COURT
from tests.simulation.troubles import CRDS


FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class Stretch:
    """
    A key was so from *begin* to *end*. *troubles* is empty unless it was Active.
    """

    begin: float
    end: float
    troubles: tuple[Trouble, ...] = ()
    unknown: bool = False
    paused: bool = False

    @property
    def clear(self) -> bool:
        return not self.troubles and not self.unknown


def verdicts_of(snapshot: Snapshot, *, now: datetime) -> Mapping[Key, Verdict]:
    """
    What the probes say, without any memory of what they said before.
    """
    flags = COURT.flags
    asked = inquiry(snapshot, OPEN, COURT.catalogue, COURT.probes, flags=flags, now=now)
    return {v.key: v for v in asked.verdicts(subjects_of(snapshot))}


@dataclass
class Truth:
    """
    *past*: of every key that was ever not clear. *subjects*: those that exist, since when.
    """

    cluster: Cluster
    agenda: Agenda = field(init=False)
    past: dict[Key, list[Stretch]] = field(default_factory=lambda: defaultdict(list))
    subjects: dict[Subject, float] = field(default_factory=dict)
    gone: dict[Subject, float] = field(default_factory=dict)
    paused: frozenset[Subject] = frozenset()
    served_changed: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.agenda = self.cluster.agenda
        self._store, self._was_served = Store(KINDS, CRDS), frozenset(self.cluster.served)
        for kind in KINDS:
            self._store.replace(kind, self.cluster.objects[kind].values())
        self.cluster.tell.append(self._take)
        self.cluster.tell_served.append(self._served)
        self._look()

    def _served(self) -> None:
        before, self._was_served = self._was_served, frozenset(self.cluster.served)
        self.served_changed |= dict.fromkeys(before ^ self._was_served, self.agenda.now)

    def _take(self, changes: Iterable[Change]) -> None:
        for change in changes:
            if change.made is None:
                self._store.drop(change.kind, *change.name)
            else:
                self._store.put(change.kind, change.made)
        self._look()

    def _look(self) -> None:
        for kind in KINDS:
            self._store.sight(kind, Watched() if self.cluster.serves(kind) else Unserved())
        wall = self.agenda.wall
        for moment in (wall, wall + timedelta(seconds=11)):
            self._store.discovered(self.cluster.discovery, now=moment)
        snapshot = self._store.view()
        there = subjects_of(snapshot)
        for subject in self.subjects.keys() - there:
            del self.subjects[subject]
            self.gone[subject] = self.agenda.now
        self.subjects = {s: self.subjects.get(s, self.agenda.now) for s in sorted(there)}
        self._note(verdicts_of(snapshot, now=wall))

    def _note(self, verdicts: Mapping[Key, Verdict]) -> None:
        now = self.agenda.now
        self.paused = frozenset(k.subject for k, v in verdicts.items() if isinstance(v, Paused))
        for key in verdicts.keys() | self.past.keys():
            verdict = verdicts.get(key, Clear(key))
            last = self.past[key][-1] if key in self.past else Stretch(0.0, FOREVER)
            new = Stretch(
                now,
                FOREVER,
                verdict.troubles if isinstance(verdict, Active) else (),
                unknown=isinstance(verdict, Unknown),
                paused=isinstance(verdict, Paused),
            )
            if (new.troubles, new.unknown, new.paused) == (
                last.troubles,
                last.unknown,
                last.paused,
            ):
                continue
            if key in self.past:
                self.past[key][-1] = Stretch(
                    last.begin, now, last.troubles, last.unknown, last.paused
                )
            else:
                self.past[key].append(Stretch(0.0, now))
            self.past[key].append(new)

    # ------------------------------------------------------------ what it knows

    def stretches(self, key: Key, begin: float, end: float) -> list[Stretch]:
        """
        Cut to the time between; of a key that was always clear there are none.
        """
        return [
            Stretch(max(s.begin, begin), min(s.end, end), s.troubles, s.unknown, s.paused)
            for s in self.past.get(key, ())
            if s.end >= begin and s.begin <= end
        ]

    def now(self, key: Key) -> Stretch:
        return self.past[key][-1] if key in self.past else Stretch(0.0, FOREVER)

    @property
    def active(self) -> dict[Key, tuple[Trouble, ...]]:
        return {k: p[-1].troubles for k, p in self.past.items() if p[-1].troubles}

    @property
    def unknown(self) -> set[Key]:
        return {k for k, p in self.past.items() if p[-1].unknown}

    def clear_for(self, key: Key, begin: float, end: float) -> float:
        """
        The longest time on end that it was clear between; a subject that is not there is clear.
        """
        longest, since = 0.0, None
        for stretch in self.stretches(key, begin, end):
            if not stretch.clear:
                since = None
                continue
            since = stretch.begin if since is None else since
            longest = max(longest, stretch.end - since)
        return longest if key in self.past else end - begin

    def since(
        self, key: Key, until: float, wrong: Callable[[tuple[Trouble, ...]], bool]
    ) -> tuple[Stretch | None, float]:
        """
        When it was *wrong* last, and for how long it has not been: what nobody knew does not count.
        """
        quiet = 0.0
        for stretch in reversed(self.past.get(key, ())):
            if wrong(stretch.troubles):
                return stretch, quiet
            quiet += 0.0 if stretch.unknown else min(stretch.end, until) - stretch.begin
        return None, FOREVER

    def quiet_at(self, key: Key, last: Stretch, seconds: float) -> float:
        """
        The moment at which it had been other than in that stretch for so long.
        """
        for stretch in self.past[key]:
            if stretch.begin >= last.end and not stretch.unknown:
                if stretch.end - stretch.begin >= seconds:
                    return stretch.begin + seconds
                seconds -= stretch.end - stretch.begin
        return FOREVER

    def seconds_of(self, moment: datetime | None) -> float | None:
        if moment is None or moment <= EPOCH_ENDS:
            return None
        return self.agenda.now - (self.agenda.wall - moment).total_seconds()
