"""The ground truth: the verdicts of the probes over the objects as they are, without any delay."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from reporter.evaluation.clocks import NOTHING_TRACKED
from reporter.evaluation.probe_run import prepare_probe_run
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.observations import NotServed, Watching
from reporter.model.subjects import FindingKey, Subject
from reporter.model.times import EARLIEST_TIME
from reporter.model.verdicts import Active, Clear, Paused, Trouble, Unknown, Verdict
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import find_subjects
from reporter.store.store import Store
from tests.simulation.cluster import ObjectUpdate, SimulatedCluster
from tests.simulation.replica import EVALUATOR
from tests.simulation.troubles import CRDS
from tests.support.catalogue_fixture import SUBJECTS
from tests.support.virtual_clock import VirtualClock


NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class TruthInterval:
    """
    An interval in which a key had the same verdict. *troubles* is empty unless it was Active.
    """

    began_at: float
    ended_at: float
    troubles: tuple[Trouble, ...] = ()
    unknown: bool = False
    paused: bool = False

    @property
    def is_clear(self) -> bool:
        return not self.troubles and not self.unknown


def verdicts_of(snapshot: Snapshot, *, now: datetime) -> Mapping[FindingKey, Verdict]:
    """Return the verdicts of the probes, without any memory of earlier ones."""
    flags = EVALUATOR.flags
    probe_run = prepare_probe_run(
        snapshot, NOTHING_TRACKED, EVALUATOR.catalogue, EVALUATOR.probes, flags=flags, now=now
    )
    return {v.key: v for v in probe_run.run(find_subjects(snapshot))}


@dataclass
class GroundTruth:
    """
    The verdicts over time.

    *history*: the intervals of every key that was ever not clear.
    *subjects*: those that exist, with the time since when.
    """

    cluster: SimulatedCluster
    clock: VirtualClock = field(init=False)
    history: dict[FindingKey, list[TruthInterval]] = field(
        default_factory=lambda: defaultdict(list)
    )
    subjects: dict[Subject, float] = field(default_factory=dict)
    deleted_at: dict[Subject, float] = field(default_factory=dict)
    paused: frozenset[Subject] = frozenset()
    served_changed: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = self.cluster.clock
        self._store, self._was_served = (
            Store(DEFAULT_KINDS, CRDS, subjects=SUBJECTS),
            frozenset(self.cluster.served),
        )
        for kind in DEFAULT_KINDS:
            self._store.replace(kind, self.cluster.objects[kind].values())
        self.cluster.object_watchers.append(self._on_changes)
        self.cluster.discovery_watchers.append(self._on_discovery)
        self._evaluate()

    def _on_discovery(self) -> None:
        before, self._was_served = self._was_served, frozenset(self.cluster.served)
        self.served_changed |= dict.fromkeys(before ^ self._was_served, self.clock.now)

    def _on_changes(self, changes: Iterable[ObjectUpdate]) -> None:
        for change in changes:
            if change.new is None:
                self._store.delete(change.kind, *change.name)
            else:
                self._store.upsert(change.kind, change.new)
        self._evaluate()

    def _evaluate(self) -> None:
        for kind in DEFAULT_KINDS:
            self._store.set_watch_state(
                kind, Watching() if self.cluster.serves(kind) else NotServed()
            )
        wall = self.clock.wall_time
        for moment in (wall, wall + timedelta(seconds=11)):
            self._store.record_discovery(self.cluster.discovery, now=moment)
        snapshot = self._store.snapshot()
        existing = find_subjects(snapshot)
        for subject in self.subjects.keys() - existing:
            del self.subjects[subject]
            self.deleted_at[subject] = self.clock.now
        self.subjects = {s: self.subjects.get(s, self.clock.now) for s in sorted(existing)}
        self._record(verdicts_of(snapshot, now=wall))

    def _record(self, verdicts: Mapping[FindingKey, Verdict]) -> None:
        now = self.clock.now
        self.paused = frozenset(k.subject for k, v in verdicts.items() if isinstance(v, Paused))
        for key in sorted(verdicts.keys() | self.history.keys()):
            verdict = verdicts.get(key, Clear(key))
            last = self.history[key][-1] if key in self.history else TruthInterval(0.0, NEVER)
            new = TruthInterval(
                now,
                NEVER,
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
            if key in self.history:
                self.history[key][-1] = TruthInterval(
                    last.began_at, now, last.troubles, last.unknown, last.paused
                )
            else:
                self.history[key].append(TruthInterval(0.0, now))
            self.history[key].append(new)

    # ------------------------------------------------------------ questions

    def intervals(self, key: FindingKey, begin: float, end: float) -> list[TruthInterval]:
        """Return the intervals, cut to the time between; none for a key that was always clear."""
        return [
            TruthInterval(
                max(s.began_at, begin), min(s.ended_at, end), s.troubles, s.unknown, s.paused
            )
            for s in self.history.get(key, ())
            if s.ended_at >= begin and s.began_at <= end
        ]

    def current(self, key: FindingKey) -> TruthInterval:
        return self.history[key][-1] if key in self.history else TruthInterval(0.0, NEVER)

    @property
    def active(self) -> dict[FindingKey, tuple[Trouble, ...]]:
        return {k: p[-1].troubles for k, p in self.history.items() if p[-1].troubles}

    @property
    def unknown(self) -> set[FindingKey]:
        return {k for k, p in self.history.items() if p[-1].unknown}

    def may_be_mixed_up(self, subject: Subject, lag: float) -> bool:
        """
        Return whether a replica may see a subject beside objects of before it came, or came back at once.

        Each kind has a watch of its own: a namespace may get its label before a repair is seen, and what
        goes with a model that is made anew may be seen to go after that.
        """
        since = self.subjects.get(subject, -NEVER)
        gone_for = since - self.deleted_at.get(subject, -NEVER)
        return self.clock.now - since <= lag or 0 <= gone_for <= lag

    def longest_clear(self, key: FindingKey, begin: float, end: float) -> float:
        """Return the longest clear time between; a subject that does not exist is clear."""
        longest, since = 0.0, None
        for interval in self.intervals(key, begin, end):
            if not interval.is_clear:
                since = None
                continue
            since = interval.began_at if since is None else since
            longest = max(longest, interval.ended_at - since)
        return longest if key in self.history else end - begin

    def last_matching(
        self, key: FindingKey, until: float, matches: Callable[[tuple[Trouble, ...]], bool]
    ) -> tuple[TruthInterval | None, float]:
        """
        Return the last interval before *until* that matches, and how long none has since.

        Unknown does not count.
        """
        clear_for = 0.0
        for interval in reversed(self.history.get(key, ())):
            if interval.began_at > until:
                continue
            if matches(interval.troubles):
                return interval, clear_for
            clear_for += (
                0.0 if interval.unknown else min(interval.ended_at, until) - interval.began_at
            )
        return None, NEVER

    def went_out_at(self, source: FindingKey, last: TruthInterval, settle: float) -> float:
        """
        Return when the outage began that lasted in an interval.

        It goes on over a recovery within the settle, to which Unknown does not count.
        """
        began_at, clear_for = last.began_at, 0.0
        for interval in reversed(self.history[source]):
            if interval.began_at >= last.began_at:
                continue
            if any(t.is_out for t in interval.troubles):
                began_at, clear_for = interval.began_at, 0.0
            elif not interval.unknown:
                clear_for += interval.ended_at - interval.began_at
            if clear_for >= settle:
                break
        return began_at

    def quiet_reached_at(self, key: FindingKey, last: TruthInterval, seconds: float) -> float:
        """Return when the key had been different from that interval for so many seconds."""
        for interval in self.history[key]:
            if interval.began_at >= last.ended_at and not interval.unknown:
                if interval.ended_at - interval.began_at >= seconds:
                    return interval.began_at + seconds
                seconds -= interval.ended_at - interval.began_at
        return NEVER

    def to_seconds(self, moment: datetime | None) -> float | None:
        if moment is None or moment <= EARLIEST_TIME:
            return None
        return self.clock.now - (self.clock.wall_time - moment).total_seconds()
