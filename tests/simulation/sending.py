"""
Nothing wrong is said: every write, at the moment at which it is sent, held against the truth.

A law allows for what a replica cannot have known yet: by as many seconds as it was told late.
"""

from dataclasses import dataclass, field
from datetime import datetime

from reporter.model.events import EventRecord
from reporter.model.subjects import Key
from reporter.model.verdicts import ObjectRef, Trouble
from reporter.model.words import EventType, Kind
from reporter.stages.gate import LONG_UNKNOWN as LONG
from reporter.stages.snapshot import BLIND_AFTER
from tests.shipped import CATALOGUE
from tests.simulation.replica import Replica
from tests.simulation.rules import (
    GRACE,
    SETTLE,
    covers,
    crds_of,
    hold_of,
    is_out,
    kinds_of,
    required,
    settle_of,
)
from tests.simulation.truth import FOREVER, Stretch, Truth


MOMENT = 1.0
"""
Seconds that passes, clocks inside a second and requests on their way may take.
"""

LONG_UNKNOWN = LONG.total_seconds()

LATE = 4.0
"""
Seconds until the first pass, which waits for kinds that cannot be listed.
"""

DISCOVERED = 45.0
"""
Seconds until a CRD that comes or goes is known: a round of discovery and a second answer.
"""


@dataclass
class Sending:
    """
    *replicas*: all that are there. *failovers*: when one of them read back what was said before.
    *broken*: laws, kept for whoever plays the story, as an error here would be one of the process.
    *said*: when each Event was sent last, whether it arrived or not; *writers*: by whom; *late*: by
    how many seconds who sent it was late at most.
    """

    truth: Truth
    replicas: list[Replica]
    failovers: list[float] = field(default_factory=list)
    broken: list[AssertionError] = field(default_factory=list)
    said: dict[tuple[Key, datetime], float] = field(default_factory=dict)
    writers: dict[tuple[Key, datetime], Replica] = field(default_factory=dict)
    late: dict[tuple[Key, datetime], float] = field(default_factory=dict)

    def __call__(self, replica: Replica, record: EventRecord | None) -> None:
        if record is None:
            self.failovers.append(self.truth.agenda.now)
            return
        try:
            self.is_lawful(replica, record)
        except AssertionError as err:
            self.broken.append(err)

    def is_lawful(self, replica: Replica, record: EventRecord) -> None:
        now = self.truth.agenda.now
        self.leads(replica)
        self.sees(replica, record.key)
        lag = self.lag(replica, now - 60, record.key)
        if record.type is EventType.NORMAL:
            self.is_well(record, lag)
        else:
            self.is_there(record, lag)
            self.lasted(replica, record)
            self.is_no_consequence(replica, record, lag)
            self.is_no_aftermath(replica, record)
            self.is_still_the_same(replica, record, lag)
        which = record.key, record.episode
        self.said[which], self.writers[which] = now, replica
        self.late[which] = max(self.late.get(which, 0.0), lag)

    def lag(self, replica: Replica, since: float, key: Key) -> float:
        """
        By how many seconds this replica was late with what it knew since then and judges a key by.
        """
        late = replica.watching.lag(since, kinds_of(key)) + abs(replica.skew) + MOMENT
        changed = [at for crd, at in self.truth.served_changed.items() if crd in crds_of(key)]
        return late + (DISCOVERED if any(at >= since - 120 for at in changed) else 0.0)

    # ------------------------------------------------------------ the laws

    def leads(self, replica: Replica) -> None:
        assert replica.alive, "written by a dead process"
        assert replica.elector.holds(), "written without the lease"
        others = [r for r in self.replicas if r.alive and r is not replica and r.elector.holds()]
        assert not others, "two hold the lease"

    def sees(self, replica: Replica, key: Key) -> None:
        """
        Nothing is said of what could not be seen for longer than a moment.
        """
        watching, now = replica.watching, self.truth.agenda.now
        longest = BLIND_AFTER.total_seconds() + MOMENT
        lost = {k for k in watching.cut if now - watching.lost[k] > longest}
        assert not lost & required(key), f"{key} is said of what is out of sight"

    def is_there(self, record: EventRecord, lag: float) -> None:
        now = self.truth.agenda.now
        lately = self.truth.stretches(record.key, now - lag, now)
        assert any(s.troubles for s in lately), f"{record.key} is said, and it is not there"

    def lasted(self, replica: Replica, record: EventRecord) -> None:
        """
        Something of it was wrong for as long as its kind must be, since it last was settled.
        """
        key, now = record.key, self.truth.agenda.now
        begin = self._began(replica, key)
        lag = self.lag(replica, begin, key)
        spent: dict[tuple[ObjectRef, Kind], float] = {}
        for stretch in self.truth.stretches(key, begin, now):
            if stretch.unknown and stretch.end - stretch.begin > LONG_UNKNOWN + lag:
                spent = {w: min(s, _before_settle(key, w[1])) for w, s in spent.items()}
            for trouble in stretch.troubles:
                which = trouble.cause.object, trouble.kind
                spent[which] = spent.get(which, 0.0) + stretch.end - stretch.begin + lag
                known = not self._is_first_look(replica, key, stretch, lag)
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
        stretch: Stretch,
        spent: float,
        *,
        key: Key,
        lag: float,
        known: bool,
    ) -> bool:
        entry, since = CATALOGUE[key.reason], self.truth.seconds_of(trouble.since)
        earlier = 0.0 if since is None or known else max(stretch.begin - since, 0.0)
        born = self.truth.seconds_of(trouble.born)
        of_age = 0.0 if born is None or not entry.grace else born + GRACE.total_seconds()
        return spent + earlier >= hold_of(entry, trouble) and stretch.end + lag >= of_age

    def _is_first_look(self, replica: Replica, key: Key, stretch: Stretch, lag: float) -> bool:
        """
        Whether a process may not have known of the key before, so that it believes the writer.
        """
        listed = [replica.watching.first.get(kind, FOREVER) for kind in required(key)]
        begin = max([replica.born, *listed]) + lag + LATE
        return stretch.begin <= begin or all(
            s.unknown for s in self.truth.stretches(key, begin, stretch.begin - lag)
        )

    def _began(self, replica: Replica, key: Key) -> float:
        """
        The end of the last time that it was certainly settled.
        """
        began = 0.0
        troubles: list[Trouble] = []
        for stretch in self.truth.past.get(key, ()):
            troubles += stretch.troubles
            lag = self.lag(replica, stretch.begin, key)
            enough = settle_of(CATALOGUE[key.reason], troubles) + lag
            end = min(stretch.end, self.truth.agenda.now)
            if stretch.clear and end - stretch.begin > enough:
                began, troubles = end, []
        return began

    def is_no_consequence(self, replica: Replica, record: EventRecord, lag: float) -> None:
        """
        It is not suppressed by something that has been out all the time.

        What was deleted before a process began was never there for it, and so is not out.
        """
        key, now = record.key, self.truth.agenda.now
        for source in self.sources(key):
            lag = self.lag(replica, now - SETTLE, source)
            last, faded = self.truth.since(source, now, is_out)
            if last is not None and (last.end > now or faded + 2 * lag < SETTLE):
                out = self.was_out(replica, last, lag)
                assert not out, f"{key} is said, and {source} is out, or was within the settle"

    def is_no_aftermath(self, replica: Replica, record: EventRecord) -> None:
        """
        What was never said waits for another settle after what it followed from is over.
        """
        key, now = record.key, self.truth.agenda.now
        if (key, record.episode) in self.said:
            return
        for source in self.sources(key):
            lag = self.lag(replica, now - 3 * SETTLE, source) + self.lag(replica, now - 60, key)
            last, _ = self.truth.since(source, now, is_out)
            if last is None:
                continue
            lifts = self.truth.quiet_at(source, last, SETTLE)
            silent = self.truth.stretches(key, lifts - lag, lifts + lag)
            hidden = self.was_out(replica, last, lag) and all(s.troubles for s in silent)
            early = now - SETTLE + lag <= lifts <= now + lag
            assert not (hidden and early), f"{key} is said just after {source} was out"

    def is_still_the_same(self, replica: Replica, record: EventRecord, lag: float) -> None:
        """
        What settled, and was well for another settle, is not what comes back.
        """
        key, now = record.key, self.truth.agenda.now
        before = self.said.get((key, record.episode), now)
        lag = self.lag(replica, before, key)
        troubles: list[Trouble] = []
        for stretch in self.truth.past[key]:
            troubles += stretch.troubles
            long = settle_of(CATALOGUE[key.reason], troubles) + SETTLE + 2 * lag
            over = stretch.clear and min(stretch.end, now) - stretch.begin > long
            if over and stretch.begin > before:
                saw = replica.has_seen(required(key), stretch.begin - lag - LATE)
                assert not saw, f"{key} goes on, and it was over from {stretch.begin:.0f} on"

    def sources(self, key: Key) -> list[Key]:
        return [source for source in self.truth.past if covers(source, key)]

    def was_out(self, replica: Replica, stretch: Stretch, lag: float) -> bool:
        """
        Whether a source was out for long enough to be seen so.

        What was deleted before a process began was never there for it, and so is not out.
        """
        end = min(stretch.end, self.truth.agenda.now)
        seen = end - max(stretch.begin, replica.born) > lag
        gone = stretch.begin < replica.born + lag
        return seen and any(t.out and (t.born is not None or not gone) for t in stretch.troubles)

    def is_well(self, record: EventRecord, lag: float) -> None:
        """
        Nothing ranked of the subject is there, or was within the settle.
        """
        truth, subject, now = self.truth, record.key.subject, self.truth.agenda.now
        there = subject in truth.subjects or now - truth.gone.get(subject, 0.0) <= lag
        assert there, f"{record.key} of what is not there"
        for key in [k for k in truth.past if k.subject == subject]:
            if CATALOGUE[key.reason].orthogonal:
                continue
            _, quiet = truth.since(key, now, bool)
            assert quiet + 2 * lag >= SETTLE, f"{record.key} is said, and {key} was just there"
            wrong = all(not s.clear for s in truth.stretches(key, now - lag, now))
            assert not wrong, f"{record.key} is said, and {key} is there"


def _before_settle(key: Key, kind: Kind) -> float:
    """
    What may have been spent of a hold so that the settle is left.
    """
    hold = CATALOGUE[key.reason].holds.of(kind, grace=GRACE).total_seconds()
    return hold - SETTLE if hold > 0 else 0.0
