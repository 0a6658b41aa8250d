"""
Check that nothing wrong is announced: compare each write, when it is sent, with the truth.

Each check allows for what a replica cannot know yet: as many seconds as its watches were late.
"""

from dataclasses import dataclass, field
from datetime import datetime

from reporter.evaluation.holds import LONG_UNKNOWN as LONG
from reporter.kube.event_record import EventRecord
from reporter.kube.lease_rules import LeaseTiming
from reporter.model.enums import EventType, TroubleKind
from reporter.model.observations import WATCH_LOSS_TOLERANCE
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import ObjectRef, Trouble
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
    needs_no_looking,
    reads_pages,
    required_kinds,
    settle_of,
    states_own_cause,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


TOLERANCE = 1.0
"""
The seconds that passes and requests on their way may take, and the fraction of a second in clocks.
"""

RENEW_DEADLINE = LeaseTiming().renew_deadline.total_seconds()

LONG_UNKNOWN = LONG.total_seconds()

FIRST_PASS_DELAY = 4.0
"""The seconds until the first pass, which waits for kinds that cannot be listed."""

DISCOVERY_DELAY = 45.0
"""The seconds until a created or deleted CRD is known: discovery must report it twice."""


@dataclass
class SendChecker:
    """
    Checks each write when it is sent.

    *failovers*: when a replica read Events back.
    *violations*: the failed checks. The simulation raises them, as an error raised here would be one
    of the process.
    *last_sent*: when each Event was sent last, whether it arrived or not. *writers*: by whom.
    *max_lag*: the seconds by which the writer was late at most.
    *led_by_two_at*: each time at which something was sent while two held the lease.
    """

    truth: GroundTruth
    replicas: list[Replica]
    failovers: list[float] = field(default_factory=list)
    violations: list[AssertionError] = field(default_factory=list)
    last_sent: dict[tuple[FindingKey, datetime], float] = field(default_factory=dict)
    writers: dict[tuple[FindingKey, datetime], Replica] = field(default_factory=dict)
    max_lag: dict[tuple[FindingKey, datetime], float] = field(default_factory=dict)
    led_by_two_at: list[float] = field(default_factory=list)

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
            self.check_not_silenced(replica, record)
            self.check_active(record, lag)
            self.check_hold(replica, record)
            self.check_not_suppressed(replica, record, lag)
            self.check_settled_after_suppression(replica, record)
            self.check_same_episode(replica, record, lag)
        which = record.key, record.episode_start
        self.last_sent[which], self.writers[which] = now, replica
        self.max_lag[which] = max(self.max_lag.get(which, 0.0), lag)

    def lag(self, replica: Replica, since: float, key: FindingKey) -> float:
        """Return by how many seconds the replica was late since then with what affects a key."""
        late = replica.watches.lag(since, kinds_of(key)) + abs(replica.skew) + TOLERANCE
        changed = [at for crd, at in self.truth.served_changed.items() if crd in crds_of(key)]
        return late + (DISCOVERY_DELAY if any(at >= since - 120 for at in changed) else 0.0)

    # ------------------------------------------------------------ the laws

    def check_leader(self, replica: Replica) -> None:
        assert replica.alive, "written by a dead process"
        assert replica.elector.holds_lease(), "written without the lease"
        for other in self.replicas:
            if other.alive and other is not replica and other.elector.holds_lease():
                assert self.may_both_hold(replica, other), "two hold the lease"
                self.led_by_two_at.append(self.truth.clock.now)

    def may_both_hold(self, *both: Replica) -> bool:
        """
        Return whether the Lease was deleted by hand before one of them saw it for the first time.

        That one cannot know its holder, and makes it anew at once; the other one goes on until it renews, or
        until its deadline if its network is out of order. client-go's elector does "not
        guarantee that only one client is acting as a leader (a.k.a. fencing)" either, by the documentation
        of its package leaderelection; there every candidate creates a missing Lease at once.
        """
        deleted_at = both[0].environment.leases.deleted_at
        newcomer = max(each.lock.first_seen_at for each in both)
        return newcomer >= deleted_at > self.truth.clock.now - RENEW_DEADLINE

    def check_watched(self, replica: Replica, key: FindingKey) -> None:
        """
        Check that nothing is written about a kind that was not watched for longer than tolerated.
        """
        watches, now = replica.watches, self.truth.clock.now
        longest = WATCH_LOSS_TOLERANCE.total_seconds() + TOLERANCE
        lost = {k for k in watches.cut if now - watches.lost[k] > longest}
        assert not lost & required_kinds(key), f"{key} is written without a watch"

    def check_active(self, record: EventRecord, lag: float) -> None:
        now = self.truth.clock.now
        lately = self.truth.intervals(record.key, now - lag, now)
        known = any(s.troubles for s in lately)
        known = known or self.truth.may_be_mixed_up(record.key.subject, lag)
        assert known, f"{record.key} is written without trouble"

    def check_hold(self, replica: Replica, record: EventRecord) -> None:
        """Check that a trouble lasted for the hold of its kind since the key last settled."""
        within = self._within_hold(replica, record.key, self.truth.clock.now)
        assert not within, f"{record.key} is written within its hold, {within}"

    def _within_hold(self, replica: Replica, key: FindingKey, at: float) -> str:
        """
        Return what a key lacked of its holds at a time; empty if a trouble had outlived its own.
        """
        begin = self._last_settled_at(replica, key)
        lag = self.lag(replica, begin, key)
        spent: dict[tuple[ObjectRef, TroubleKind], float] = {}
        most: dict[tuple[ObjectRef, TroubleKind], float] = {}
        for interval in self.truth.intervals(key, begin, at):
            if interval.unknown and interval.ended_at - interval.began_at > LONG_UNKNOWN + lag:
                spent = {w: min(s, most[w]) for w, s in spent.items()}
            for trouble in interval.troubles:
                which = trouble.cause.object, trouble.kind
                most[which] = _before_settle(key, trouble)
                spent[which] = spent.get(which, 0.0) + interval.ended_at - interval.began_at + lag
                known = not self._is_first_observation(replica, key, interval, lag)
                if self._is_old_enough(
                    trouble, interval, spent[which], key=key, lag=lag, known=known
                ):
                    return ""
        found = {f"{ref} {kind}": round(each, 1) for (ref, kind), each in spent.items()}
        return f"seconds with {lag:.1f} each: {found}"

    def _is_old_enough(
        self,
        trouble: Trouble,
        interval: TruthInterval,
        spent: float,
        *,
        key: FindingKey,
        lag: float,
        known: bool,
    ) -> bool:
        entry, since = DEFAULT_CATALOGUE[key.reason], self.truth.to_seconds(trouble.since)
        earlier = 0.0 if since is None or known else max(interval.began_at - since, 0.0)
        created_at = self.truth.to_seconds(trouble.object_created_at)
        grace_end = (
            0.0
            if created_at is None or not entry.waits_for_grace
            else created_at + GRACE.total_seconds()
        )
        return spent + earlier >= hold_of(entry, trouble) and interval.ended_at + lag >= grace_end

    def _is_first_observation(
        self, replica: Replica, key: FindingKey, interval: TruthInterval, lag: float
    ) -> bool:
        """
        Return whether the process may see the key for the first time, and believe transition times.
        """
        listed = [replica.watches.first.get(kind, NEVER) for kind in required_kinds(key)]
        begin = max([replica.started_at, *listed]) + lag + FIRST_PASS_DELAY
        return interval.began_at <= begin or all(
            s.unknown for s in self.truth.intervals(key, begin, interval.began_at - lag)
        )

    def _last_settled_at(self, replica: Replica, key: FindingKey) -> float:
        """Return the end of the last interval in which the key had certainly settled."""
        began = 0.0
        troubles: list[Trouble] = []
        for interval in self.truth.history.get(key, ()):
            troubles += interval.troubles
            lag = self.lag(replica, interval.began_at, key)
            enough = settle_of(DEFAULT_CATALOGUE[key.reason], troubles) + lag
            end = min(interval.ended_at, self.truth.clock.now)
            if interval.is_clear and end - interval.began_at > enough:
                began, troubles = end, []
        return began

    def check_not_suppressed(self, replica: Replica, record: EventRecord, lag: float) -> None:
        """Check that no source that explains the key has been out all the time."""
        key, now = record.key, self.truth.clock.now
        for source in self.sources(key):
            lag = self.lag(replica, now - SETTLE, source)
            last, recovered_for = self.truth.last_matching(source, now, is_out)
            if last is not None and (last.ended_at > now or recovered_for + 2 * lag < SETTLE):
                out = self.was_seen_out(replica, last, lag)
                out = out and not self.may_go_on(replica, key, source, last)
                assert not out, f"{key} is written, and {source} is out, or was within the settle"

    def check_not_silenced(self, replica: Replica, record: EventRecord) -> None:
        silence, now = replica.silence, replica.clock.now()
        if silence is not None and self.truth.clock.now - replica.silenced_at > TOLERANCE:
            assert not silence.covers(record.key, now=now), f"{record.key} is silenced"

    def check_settled_after_suppression(self, replica: Replica, record: EventRecord) -> None:
        """
        Check that a key without an Event waits for another settle after its source recovered.
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
            near_lift = self.truth.intervals(key, lifts - lag, lifts + lag)
            hidden = self.was_seen_out(replica, last, lag) and all(s.troubles for s in near_lift)
            hidden = hidden and not self.may_go_on(replica, key, source, last)
            early = now - SETTLE + lag <= lifts <= now + lag
            assert not (hidden and early), f"{key} is written just after {source} was out"

    def check_same_episode(self, replica: Replica, record: EventRecord, lag: float) -> None:
        """
        Check that trouble that settled, and was clear for another settle, begins a new episode.
        """
        key, now = record.key, self.truth.clock.now
        before = self.last_sent.get((key, record.episode_start), now)
        lag = self.lag(replica, before, key)
        troubles: list[Trouble] = []
        for interval in self.truth.history[key]:
            troubles += interval.troubles
            long = settle_of(DEFAULT_CATALOGUE[key.reason], troubles) + SETTLE + 2 * lag
            over = interval.is_clear and min(interval.ended_at, now) - interval.began_at > long
            if over and interval.began_at > before:
                saw = replica.has_watched(
                    required_kinds(key), interval.began_at - lag - FIRST_PASS_DELAY
                )
                assert not saw, (
                    f"{key} continues, and it was clear from {interval.began_at:.0f} on"
                )

    def may_go_on(
        self, replica: Replica, key: FindingKey, source: FindingKey, last: TruthInterval
    ) -> bool:
        """
        Return whether a key may be announced while a source is out: by its own cause, or as it came first.
        """
        if needs_no_looking(source):
            return False
        now = self.truth.clock.now
        lately = self.truth.intervals(key, now - self.lag(replica, now - 60, key), now)
        if any(states_own_cause(key, each) for interval in lately for each in interval.troubles):
            return True
        lag = self.lag(replica, now - 60, source)
        began_at = self.truth.went_out_at(source, last, SETTLE + lag)
        return not self._within_hold(replica, key, began_at + lag)

    def sources(self, key: FindingKey) -> list[FindingKey]:
        return [source for source in self.truth.history if may_suppress(source, key)]

    def was_seen_out(self, replica: Replica, interval: TruthInterval, lag: float) -> bool:
        """
        Return whether a source was out for long enough to be seen so.

        What was deleted before a process began was never seen by it, and does not count as out.
        """
        end = min(interval.ended_at, self.truth.clock.now)
        seen = end - max(interval.began_at, replica.started_at) > lag
        deleted_before = interval.began_at < replica.started_at + lag
        return seen and any(
            t.is_out and (t.object_created_at is not None or not deleted_before)
            for t in interval.troubles
        )

    def check_ready(self, record: EventRecord, lag: float) -> None:
        """Check that no ranked key of the subject is active, or was within the settle."""
        truth, subject, now = self.truth, record.key.subject, self.truth.clock.now
        exists = subject in truth.subjects or now - truth.deleted_at.get(subject, 0.0) <= lag
        assert exists, f"{record.key} of a deleted subject"
        for key in [k for k in truth.history if k.subject == subject]:
            if DEFAULT_CATALOGUE[key.reason].orthogonal:
                continue
            _, clear_for = truth.last_matching(key, now - lag, bool)
            assert clear_for + 2 * lag >= SETTLE, (
                f"{record.key} is written, and {key} was just active"
            )
            intervals = truth.intervals(key, now - lag, now)
            # Without a metrics page a reason is Unknown, which keeps no subject from being ready.
            active = all(
                s.troubles if reads_pages(key.reason) else not s.is_clear for s in intervals
            )
            assert not active, f"{record.key} is written, and {key} is active"


def _before_settle(key: FindingKey, trouble: Trouble) -> float:
    """Return how much of a hold may be over so that the settle is left."""
    hold = hold_of(DEFAULT_CATALOGUE[key.reason], trouble)
    return hold - SETTLE if hold > 0 else 0.0
