"""
Hold trouble until it has lasted, and its end until that has lasted.

Rule 1: everything that decides whether trouble is old enough, or gone long enough, lives here.
Rule 2: this file does not know what outranks, suppresses or announces a finding.

A clock per (key, cause object, kind) adds up the time seen in that kind. Only a settled clear
resets it, so that flapping is announced. While a key is Unknown its clocks stand still.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from reporter.model.entries import Entry
from reporter.model.subjects import Key
from reporter.model.verdicts import (
    Active,
    Clear,
    Paused,
    Trouble,
    Unknown,
    Verdict,
)
from reporter.model.words import Reason
from reporter.stages.records import READ_BACK, ZERO, Gate, Patience, Record, Unseen, Watch


LONG_UNKNOWN = timedelta(seconds=30)
"""
After more than this of Unknown, an unfinished hold has at least the settle left.
"""

CRASH_SETTLE = timedelta(minutes=10)
"""
A crash loop backs off for up to five minutes (kubelet), so its pauses must not end an episode.
"""

EPOCH_ENDS = datetime(1971, 1, 1, tzinfo=UTC)
"""
Gateway API's CRDs default a condition's transition time to 1970.
"""


Rules = Callable[[Reason], Entry]


def observe(
    gate: Gate, verdicts: Sequence[Verdict], *, now: datetime, rules: Rules, patience: Patience
) -> Gate:
    """
    Take verdicts; keys without one keep their state.
    """
    judged = gate.judged.union(v.key.reason for v in verdicts if not isinstance(v, Unknown))
    news = [v for v in verdicts if not isinstance(v, Clear) or _is_known(v.key, gate)]
    if not news:
        return gate if judged == gate.judged else replace(gate, judged=judged)
    records, unseen, ended = dict(gate.records), dict(gate.unseen), dict(gate.ended)
    for verdict in news:
        key = verdict.key
        hidden = unseen.pop(key, None)
        step = _Step(rules(key.reason), patience, first=key.reason not in gate.judged)
        before = records.get(key)
        after = _take(before, verdict, now=now, hidden=hidden, step=step)
        if after is not None and before is not None:
            records[key] = after
        elif after is not None:
            last = step.well_before(ended.pop(key, None), now=now)
            records[key] = replace(after, ended=last)
        elif isinstance(verdict, Unknown):
            hidden = hidden or Unseen(verdict.why, now)
            same = hidden.why == verdict.why
            unseen[key] = hidden if same else Unseen(verdict.why, hidden.since)
            ended.pop(key, None)
        elif before is not None:
            del records[key]
            ended[key] = now
    return Gate(records, unseen, judged, ended)


def _is_known(key: Key, gate: Gate) -> bool:
    return key in gate.records or key in gate.unseen


def tick(gate: Gate, *, now: datetime, rules: Rules, patience: Patience) -> Gate:
    """
    Let time pass for keys whose state was not looked at, as it has not changed.
    """

    def tick_one(key: Key, record: Record) -> Record | None:
        return _Step(rules(key.reason), patience).tick(record, now=now)

    moved = {
        key: after
        for key, record in gate.records.items()
        if (after := record if record.steady else tick_one(key, record)) is not None
    }
    ended = {key: at for key, at in gate.ended.items() if now - at < READ_BACK}
    ended |= dict.fromkeys(gate.records.keys() - moved.keys(), now)
    return replace(gate, records=moved, ended=ended)


def rewind(
    gate: Gate, keys: Collection[Key], *, now: datetime, rules: Rules, patience: Patience
) -> Gate:
    """
    Give what is held, or was never announced, at least the settle to wait: its writers catch up.
    """
    if not keys:
        return gate
    records = dict(gate.records)
    for key in keys:
        if key in records:
            step, record = _Step(rules(key.reason), patience), records[key].elapsed(now=now)
            records[key] = step.rewound(record, all_of_it=True)
    return replace(gate, records=records)


def forget(gate: Gate, gone: Callable[[Key], bool]) -> Gate:
    """
    Drop what is about subjects that are no more.
    """
    return replace(
        gate,
        records={key: r for key, r in gate.records.items() if not gone(key)},
        unseen={key: why for key, why in gate.unseen.items() if not gone(key)},
        ended={key: at for key, at in gate.ended.items() if not gone(key)},
    )


def wakes(gate: Gate, *, rules: Rules, patience: Patience) -> datetime | None:
    """
    The next moment at which time alone changes something.
    """
    moments = (
        moment
        for key, record in gate.records.items()
        if not record.steady
        for moment in _Step(rules(key.reason), patience).moments(record)
    )
    return min(moments, default=None)


@dataclass(frozen=True, slots=True)
class _Step:
    """
    The rules of one entry. *first*: whether its reason is judged for the first time.
    """

    entry: Entry
    patience: Patience
    first: bool = False

    def tick(self, record: Record, *, now: datetime) -> Record | None:
        """
        The same record as long as time alone changes nothing.
        """
        if record.steady or all(moment > now for moment in self.moments(record)):
            return record
        return self.judge(record.elapsed(now=now), now=now)

    def judge(self, record: Record, *, now: datetime) -> Record | None:
        """
        What is through now, and what has settled; None when nothing is left.
        """
        if record.unknown:
            return record
        watches = {
            ref: replace(w, through=w.through or (w.active and self.left(w, now=now) <= ZERO))
            for ref, w in record.watches.items()
            if w.active or w.quiet < self.settle(w)
        }
        return replace(record, watches=watches) if watches else None

    def left(self, watch: Watch, *, now: datetime) -> timedelta:
        """
        How long the hold still lasts.
        """
        left, born = self.hold(watch) - watch.in_kind(), watch.trouble.born
        if self._grace > ZERO and born is not None:
            return max(left, min(born - now, ZERO) + self._grace)
        return left

    def hold(self, watch: Watch) -> timedelta:
        """
        An object that is missing must be so for the grace.
        """
        hold = self.entry.holds.of(watch.trouble.kind, grace=self.patience.grace)
        return max(hold, self._grace) if watch.trouble.born is None else hold

    @property
    def _grace(self) -> timedelta:
        return self.patience.grace if self.entry.grace else ZERO

    def settle(self, watch: Watch) -> timedelta:
        settle = self.patience.settle if self.entry.settle is None else self.entry.settle
        return max(settle, CRASH_SETTLE) if watch.trouble.crash else settle

    def started(self, trouble: Trouble, *, now: datetime, hidden: Unseen | None) -> Watch:
        """
        The clock of new trouble. In a process's first look it started when its writer says.
        """
        watch, since, hold = Watch(trouble), trouble.since, self.hold(Watch(trouble))
        if self.first and since is not None and EPOCH_ENDS < since <= now:
            return watch.with_spent(trouble.kind, now - since)
        if hidden is not None and now - hidden.since > LONG_UNKNOWN and hold > ZERO:
            return watch.with_spent(trouble.kind, min(ZERO, hold - self.patience.settle))
        return watch

    def well_before(self, ended: datetime | None, *, now: datetime) -> datetime | None:
        """
        When it last settled, if it was seen to be clear for another settle.

        Who learns late that it came back, by less than that, has not seen it end.
        """
        return ended if ended is not None and now - ended >= self.patience.settle else None

    def rewound(self, record: Record, *, all_of_it: bool = False) -> Record:
        def back(watch: Watch) -> Watch:
            if watch.through and not all_of_it:
                return watch
            most = self.hold(watch) - self.patience.settle
            spent = min(watch.in_kind(), most)
            return replace(watch.with_spent(watch.trouble.kind, spent), through=False)

        return replace(record, watches={ref: back(w) for ref, w in record.watches.items()})

    def moments(self, record: Record) -> Iterable[datetime]:
        for watch in record.watches.values():
            if watch.active and not watch.through:
                yield record.at + self.left(watch, now=record.at)
            if not watch.active:
                yield record.at + self.settle(watch) - watch.quiet
                if watch.quiet < self.patience.settle:
                    yield record.at + self.patience.settle - watch.quiet


def _take(
    record: Record | None, verdict: Verdict, *, now: datetime, hidden: Unseen | None, step: _Step
) -> Record | None:
    if record is not None:
        if _says_nothing_new(record, verdict):
            return step.tick(record, now=now)
        record = record.elapsed(now=now)
    match verdict:
        case Unknown(_, why):
            since = now if record is None else record.blind_since or now
            return record and replace(record, unknown=why, blind_since=since)
        case Clear():
            return record and step.judge(_cleared(_seen(record, now=now, step=step)), now=now)
        case Paused():
            return None
        case Active(_, troubles, involved):
            before = _seen(record, now=now, step=step) if record else Record({}, involved, now)
            watches = dict(_cleared(before).watches)
            for trouble in troubles:
                ref = trouble.cause.object
                old = watches.get(ref) or step.started(trouble, now=now, hidden=hidden)
                watches[ref] = replace(old, trouble=trouble, active=True, quiet=ZERO)
            return step.judge(replace(before, watches=watches, involved=involved), now=now)


def _says_nothing_new(record: Record, verdict: Verdict) -> bool:
    """
    Whether all is as it was when it was last looked at.
    """
    if isinstance(verdict, Unknown):
        return record.unknown == verdict.why
    if record.blind_since is not None or isinstance(verdict, Paused):
        return False
    if isinstance(verdict, Clear):
        return not record.troubles
    found = {trouble.cause.object: trouble for trouble in verdict.troubles}
    seen = {ref: watch.trouble for ref, watch in record.watches.items() if watch.active}
    return (
        found == seen and len(seen) == len(record.watches) and record.involved == verdict.involved
    )


def _seen(record: Record, *, now: datetime, step: _Step) -> Record:
    """
    It can be judged again.
    """
    since = record.blind_since
    known = replace(record, unknown="", blind_since=None)
    return step.rewound(known) if since is not None and now - since > LONG_UNKNOWN else known


def _cleared(record: Record) -> Record:
    watches = {
        ref: replace(w, active=False) if w.active else w for ref, w in record.watches.items()
    }
    return replace(record, watches=watches)
