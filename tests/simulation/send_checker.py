"""
Nothing wrong is said: every write, at the moment at which it is sent, held against the truth.

A law allows for what a replica cannot have known yet: by as many seconds as it was told late.
"""

from dataclasses import dataclass, field
from datetime import datetime

from reporter.model.enums import EventType, TroubleKind
from reporter.model.event_record import EventRecord
from reporter.model.observations import WATCH_LOSS_TOLERANCE
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import ObjectRef, Trouble
from reporter.stages.evaluation.gate import LONG_UNKNOWN as LONG
from tests.simulation.ground_truth import NEVER, GroundTruth, TruthInterval
from tests.simulation.replica import Replica
from tests.simulation.rules import (
    GRACE,
    SETTLE,
    crds_of,
    hold_of,
    is_out,
    kinds_of,
    may_suppress,
    required_kinds,
    settle_of,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


TOLERANCE = 1.0
"""
Seconds that passes, clocks inside a second and requests on their way may take.
"""

LONG_UNKNOWN = LONG.total_seconds()

FIRST_PASS_DELAY = 4.0
"""
Seconds until the first pass, which waits for kinds that cannot be listed.
"""

DISCOVERY_DELAY = 45.0
"""
Seconds until a CRD that comes or goes is known: a round of discovery and a second answer.
"""


@dataclass
class SendChecker:
    """
    *replicas*: all that are there. *failovers*: when one of them read back what was said before.
    *broken*: laws, kept for whoever plays the story, as an error here would be one of the process.
    *said*: when each Event was sent last, whether it arrived or not; *writers*: by whom; *late*: by
    how many seconds who sent it was late at most.
    """

    truth: GroundTruth
    replicas: list[Replica]
    failovers: list[float] = field(default_factory=list)
    violations: list[AssertionError] = field(default_factory=list)
    last_sent: dict[tuple[FindingKey, datetime], float] = field(default_factory=dict)
    writers: dict[tuple[FindingKey, datetime], Replica] = field(default_factory=dict)
    max_lag: dict[tuple[FindingKey, datetime], float] = field(default_factory=dict)

    def __call__(self, replica: Replica, record: EventRecord | None) -> None:
        if record is None:
            self.failovers.append(self.truth.clock.now)
            return
        try:
            self.check(replica, record)
        except AssertionError as err:
            self.violations.append(err)

    def check(self, replica: Replica, record: EventRecord) -> None:
        now = self.truth.clock.now
        self.check_leader(replica)
        self.check_watched(replica, record.key)
        lag = self.lag(replica, now - 60, record.key)
        if record.type is EventType.NORMAL:
            self.check_ready(record, lag)
        else:
            self.check_active(record, lag)
            self.check_hold(replica, record)
            self.check_not_suppressed(replica, record, lag)
            self.check_settled_after_suppression(replica, record)
            self.check_same_episode(replica, record, lag)
        which = record.key, record.episode_start
        self.last_sent[which], self.writers[which] = now, replica
        self.max_lag[which] = max(self.max_lag.get(which, 0.0), lag)

    def lag(self, replica: Replica, since: float, key: FindingKey) -> float:
        """
        By how many seconds this replica was late with what it knew since then and judges a key by.
        """
        late = replica.watching.lag(since, kinds_of(key)) + abs(replica.skew) + TOLERANCE
        changed = [at for crd, at in self.truth.served_changed.items() if crd in crds_of(key)]
        return late + (DISCOVERY_DELAY if any(at >= since - 120 for at in changed) else 0.0)

    # ------------------------------------------------------------ the laws

    def check_leader(self, replica: Replica) -> None:
        assert replica.alive, "written by a dead process"
        assert replica.elector.holds_lease(), "written without the lease"
        others = [
            r for r in self.replicas if r.alive and r is not replica and r.elector.holds_lease()
        ]
        assert not others, "two hold the lease"

    def check_watched(self, replica: Replica, key: FindingKey) -> None:
        """
        Nothing is said of what could not be seen for longer than a moment.
        """
        watching, now = replica.watching, self.truth.clock.now
        longest = WATCH_LOSS_TOLERANCE.total_seconds() + TOLERANCE
        lost = {k for k in watching.cut if now - watching.lost[k] > longest}
        assert not lost & required_kinds(key), f"{key} is said of what is out of sight"

    def check_active(self, record: EventRecord, lag: float) -> None:
        now = self.truth.clock.now
        lately = self.truth.intervals(record.key, now - lag, now)
        assert any(s.troubles for s in lately), f"{record.key} is said, and it is not there"

    def check_hold(self, replica: Replica, record: EventRecord) -> None:
        """
        Something of it was wrong for as long as its kind must be, since it last was settled.
        """
        key, now = record.key, self.truth.clock.now
        begin = self._last_settled_at(replica, key)
        lag = self.lag(replica, begin, key)
        spent: dict[tuple[ObjectRef, TroubleKind], float] = {}
        for stretch in self.truth.intervals(key, begin, now):
            if stretch.unknown and stretch.ended_at - stretch.began_at > LONG_UNKNOWN + lag:
                spent = {w: min(s, _before_settle(key, w[1])) for w, s in spent.items()}
            for trouble in stretch.troubles:
                which = trouble.cause.object, trouble.kind
                spent[which] = spent.get(which, 0.0) + stretch.ended_at - stretch.began_at + lag
                known = not self._is_first_observation(replica, key, stretch, lag)
                if self._is_old_enough(
                    trouble, stretch, spent[which], key=key, lag=lag, known=known
                ):
                    return
        found = {f"{ref} {kind}": round(each, 1) for (ref, kind), each in spent.items()}
        raise AssertionError(
            f"{key} is said before its time, seconds with {lag:.1f} each: {found}"
        )

    def _is_old_enough(
        self,
        trouble: Trouble,
        stretch: TruthInterval,
        spent: float,
        *,
        key: FindingKey,
        lag: float,
        known: bool,
    ) -> bool:
        entry, since = DEFAULT_CATALOGUE[key.reason], self.truth.to_seconds(trouble.since)
        earlier = 0.0 if since is None or known else max(stretch.began_at - since, 0.0)
        born = self.truth.to_seconds(trouble.object_created_at)
        of_age = 0.0 if born is None or not entry.waits_for_grace else born + GRACE.total_seconds()
        return spent + earlier >= hold_of(entry, trouble) and stretch.ended_at + lag >= of_age

    def _is_first_observation(
        self, replica: Replica, key: FindingKey, stretch: TruthInterval, lag: float
    ) -> bool:
        """
        Whether a process may not have known of the key before, so that it believes the writer.
        """
        listed = [replica.watching.first.get(kind, NEVER) for kind in required_kinds(key)]
        begin = max([replica.started_at, *listed]) + lag + FIRST_PASS_DELAY
        return stretch.began_at <= begin or all(
            s.unknown for s in self.truth.intervals(key, begin, stretch.began_at - lag)
        )

    def _last_settled_at(self, replica: Replica, key: FindingKey) -> float:
        """
        The end of the last time that it was certainly settled.
        """
        began = 0.0
        troubles: list[Trouble] = []
        for stretch in self.truth.history.get(key, ()):
            troubles += stretch.troubles
            lag = self.lag(replica, stretch.began_at, key)
            enough = settle_of(DEFAULT_CATALOGUE[key.reason], troubles) + lag
            end = min(stretch.ended_at, self.truth.clock.now)
            if stretch.is_clear and end - stretch.began_at > enough:
                began, troubles = end, []
        return began

    def check_not_suppressed(self, replica: Replica, record: EventRecord, lag: float) -> None:
        """
        It is not suppressed by something that has been out all the time.

        What was deleted before a process began was never there for it, and so is not out.
        """
        key, now = record.key, self.truth.clock.now
        for source in self.sources(key):
            lag = self.lag(replica, now - SETTLE, source)
            last, faded = self.truth.last_matching(source, now, is_out)
            if last is not None and (last.ended_at > now or faded + 2 * lag < SETTLE):
                out = self.was_seen_out(replica, last, lag)
                assert not out, f"{key} is said, and {source} is out, or was within the settle"

    def check_settled_after_suppression(self, replica: Replica, record: EventRecord) -> None:
        """
        What was never said waits for another settle after what it followed from is over.
        """
        key, now = record.key, self.truth.clock.now
        if (key, record.episode_start) in self.last_sent:
            return
        for source in self.sources(key):
            lag = self.lag(replica, now - 3 * SETTLE, source) + self.lag(replica, now - 60, key)
            last, _ = self.truth.last_matching(source, now, is_out)
            if last is None:
                continue
            lifts = self.truth.quiet_reached_at(source, last, SETTLE)
            silent = self.truth.intervals(key, lifts - lag, lifts + lag)
            hidden = self.was_seen_out(replica, last, lag) and all(s.troubles for s in silent)
            early = now - SETTLE + lag <= lifts <= now + lag
            assert not (hidden and early), f"{key} is said just after {source} was out"

    def check_same_episode(self, replica: Replica, record: EventRecord, lag: float) -> None:
        """
        What settled, and was well for another settle, is not what comes back.
        """
        key, now = record.key, self.truth.clock.now
        before = self.last_sent.get((key, record.episode_start), now)
        lag = self.lag(replica, before, key)
        troubles: list[Trouble] = []
        for stretch in self.truth.history[key]:
            troubles += stretch.troubles
            long = settle_of(DEFAULT_CATALOGUE[key.reason], troubles) + SETTLE + 2 * lag
            over = stretch.is_clear and min(stretch.ended_at, now) - stretch.began_at > long
            if over and stretch.began_at > before:
                saw = replica.has_watched(
                    required_kinds(key), stretch.began_at - lag - FIRST_PASS_DELAY
                )
                assert not saw, f"{key} goes on, and it was over from {stretch.began_at:.0f} on"

    def sources(self, key: FindingKey) -> list[FindingKey]:
        return [source for source in self.truth.history if may_suppress(source, key)]

    def was_seen_out(self, replica: Replica, stretch: TruthInterval, lag: float) -> bool:
        """
        Whether a source was out for long enough to be seen so.

        What was deleted before a process began was never there for it, and so is not out.
        """
        end = min(stretch.ended_at, self.truth.clock.now)
        seen = end - max(stretch.began_at, replica.started_at) > lag
        gone = stretch.began_at < replica.started_at + lag
        return seen and any(
            t.is_out and (t.object_created_at is not None or not gone) for t in stretch.troubles
        )

    def check_ready(self, record: EventRecord, lag: float) -> None:
        """
        Nothing ranked of the subject is there, or was within the settle.
        """
        truth, subject, now = self.truth, record.key.subject, self.truth.clock.now
        there = subject in truth.subjects or now - truth.deleted_at.get(subject, 0.0) <= lag
        assert there, f"{record.key} of what is not there"
        for key in [k for k in truth.history if k.subject == subject]:
            if DEFAULT_CATALOGUE[key.reason].orthogonal:
                continue
            _, quiet = truth.last_matching(key, now, bool)
            assert quiet + 2 * lag >= SETTLE, f"{record.key} is said, and {key} was just there"
            wrong = all(not s.is_clear for s in truth.intervals(key, now - lag, now))
            assert not wrong, f"{record.key} is said, and {key} is there"


def _before_settle(key: FindingKey, kind: TroubleKind) -> float:
    """
    What may have been spent of a hold so that the settle is left.
    """
    hold = DEFAULT_CATALOGUE[key.reason].holds.for_kind(kind, grace=GRACE).total_seconds()
    return hold - SETTLE if hold > 0 else 0.0
