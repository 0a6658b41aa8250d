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

from reporter.model.entries import CatalogueEntry
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import (
    Active,
    Clear,
    Paused,
    Trouble,
    Unknown,
    Verdict,
)
from reporter.stages.evaluation.clocks import (
    READ_BACK_WINDOW,
    ZERO,
    CauseClock,
    Delays,
    FindingState,
    Gate,
    UnknownState,
)


LONG_UNKNOWN = timedelta(seconds=30)
"""
After more than this of Unknown, an unfinished hold has at least the settle left.
"""

CRASH_SETTLE = timedelta(minutes=10)
"""
A crash loop backs off for up to five minutes (kubelet), so its pauses must not end an episode.
"""

MIN_TRANSITION_TIME = datetime(1971, 1, 1, tzinfo=UTC)
"""
Gateway API's CRDs default a condition's transition time to 1970.
"""


EntryLookup = Callable[[Reason], CatalogueEntry]


def apply_verdicts(
    gate: Gate,
    verdicts: Sequence[Verdict],
    *,
    now: datetime,
    entry_of: EntryLookup,
    delays: Delays,
) -> Gate:
    """
    Take verdicts; keys without one keep their state.
    """
    judged = gate.evaluated_reasons.union(
        v.key.reason for v in verdicts if not isinstance(v, Unknown)
    )
    news = [v for v in verdicts if not isinstance(v, Clear) or _is_tracked(v.key, gate)]
    if not news:
        return (
            gate if judged == gate.evaluated_reasons else replace(gate, evaluated_reasons=judged)
        )
    records, unseen, ended = (
        dict(gate.finding_states),
        dict(gate.unknown_states),
        dict(gate.settled_at),
    )
    for verdict in news:
        key = verdict.key
        hidden = unseen.pop(key, None)
        step = _EntryRules(
            entry_of(key.reason),
            delays,
            is_first_evaluation=key.reason not in gate.evaluated_reasons,
        )
        before = records.get(key)
        after = _apply_verdict(before, verdict, now=now, hidden=hidden, step=step)
        if after is not None and before is not None:
            records[key] = after
        elif after is not None:
            last = step.confirmed_settled_at(ended.pop(key, None), now=now)
            records[key] = replace(after, last_settled_at=last)
        elif isinstance(verdict, Unknown):
            hidden = hidden or UnknownState(verdict.why, now)
            same = hidden.why == verdict.why
            unseen[key] = hidden if same else UnknownState(verdict.why, hidden.since)
            ended.pop(key, None)
        elif before is not None:
            del records[key]
            ended[key] = now
    return Gate(records, unseen, judged, ended)


def _is_tracked(key: FindingKey, gate: Gate) -> bool:
    return key in gate.finding_states or key in gate.unknown_states


def advance_clocks(gate: Gate, *, now: datetime, entry_of: EntryLookup, delays: Delays) -> Gate:
    """
    Let time pass for keys whose state was not looked at, as it has not changed.
    """

    def tick_one(key: FindingKey, record: FindingState) -> FindingState | None:
        return _EntryRules(entry_of(key.reason), delays).advance(record, now=now)

    moved = {
        key: after
        for key, record in gate.finding_states.items()
        if (after := record if record.is_steady else tick_one(key, record)) is not None
    }
    ended = {key: at for key, at in gate.settled_at.items() if now - at < READ_BACK_WINDOW}
    ended |= dict.fromkeys(gate.finding_states.keys() - moved.keys(), now)
    return replace(gate, finding_states=moved, settled_at=ended)


def extend_holds(
    gate: Gate,
    keys: Collection[FindingKey],
    *,
    now: datetime,
    entry_of: EntryLookup,
    delays: Delays,
) -> Gate:
    """
    Give what is held, or was never announced, at least the settle to wait: its writers catch up.
    """
    if not keys:
        return gate
    records = dict(gate.finding_states)
    for key in keys:
        if key in records:
            step, record = (
                _EntryRules(entry_of(key.reason), delays),
                records[key].advanced(now=now),
            )
            records[key] = step.with_extended_holds(record, all_of_it=True)
    return replace(gate, finding_states=records)


def forget_keys(gate: Gate, gone: Callable[[FindingKey], bool]) -> Gate:
    """
    Drop what is about subjects that are no more.
    """
    return replace(
        gate,
        finding_states={key: r for key, r in gate.finding_states.items() if not gone(key)},
        unknown_states={key: why for key, why in gate.unknown_states.items() if not gone(key)},
        settled_at={key: at for key, at in gate.settled_at.items() if not gone(key)},
    )


def next_gate_deadline(gate: Gate, *, entry_of: EntryLookup, delays: Delays) -> datetime | None:
    """
    The next moment at which time alone changes something.
    """
    moments = (
        moment
        for key, record in gate.finding_states.items()
        if not record.is_steady
        for moment in _EntryRules(entry_of(key.reason), delays).deadlines(record)
    )
    return min(moments, default=None)


@dataclass(frozen=True, slots=True)
class _EntryRules:
    """
    The rules of one entry. *first*: whether its reason is judged for the first time.
    """

    entry: CatalogueEntry
    delays: Delays
    is_first_evaluation: bool = False

    def advance(self, record: FindingState, *, now: datetime) -> FindingState | None:
        """
        The same record as long as time alone changes nothing.
        """
        if record.is_steady or all(moment > now for moment in self.deadlines(record)):
            return record
        return self.apply_delays(record.advanced(now=now), now=now)

    def apply_delays(self, record: FindingState, *, now: datetime) -> FindingState | None:
        """
        What is through now, and what has settled; None when nothing is left.
        """
        if record.why_unknown:
            return record
        watches = {
            ref: replace(
                w, past_hold=w.past_hold or (w.active and self.hold_left(w, now=now) <= ZERO)
            )
            for ref, w in record.clocks.items()
            if w.active or w.clear_for < self.settle(w)
        }
        return replace(record, clocks=watches) if watches else None

    def hold_left(self, watch: CauseClock, *, now: datetime) -> timedelta:
        """
        How long the hold still lasts.
        """
        left, born = self.hold(watch) - watch.time_in_kind(), watch.trouble.object_created_at
        if self._grace > ZERO and born is not None:
            return max(left, min(born - now, ZERO) + self._grace)
        return left

    def hold(self, watch: CauseClock) -> timedelta:
        """
        An object that is missing must be so for the grace.
        """
        hold = self.entry.holds.for_kind(watch.trouble.kind, grace=self.delays.grace)
        return max(hold, self._grace) if watch.trouble.object_created_at is None else hold

    @property
    def _grace(self) -> timedelta:
        return self.delays.grace if self.entry.waits_for_grace else ZERO

    def settle(self, watch: CauseClock) -> timedelta:
        settle = self.delays.settle if self.entry.settle is None else self.entry.settle
        return max(settle, CRASH_SETTLE) if watch.trouble.is_crash else settle

    def start_clock(
        self, trouble: Trouble, *, now: datetime, hidden: UnknownState | None
    ) -> CauseClock:
        """
        The clock of new trouble. In a process's first look it started when its writer says.
        """
        watch, since, hold = CauseClock(trouble), trouble.since, self.hold(CauseClock(trouble))
        if self.is_first_evaluation and since is not None and MIN_TRANSITION_TIME < since <= now:
            return watch.with_time_in_kind(trouble.kind, now - since)
        if hidden is not None and now - hidden.since > LONG_UNKNOWN and hold > ZERO:
            return watch.with_time_in_kind(trouble.kind, min(ZERO, hold - self.delays.settle))
        return watch

    def confirmed_settled_at(self, ended: datetime | None, *, now: datetime) -> datetime | None:
        """
        When it last settled, if it was seen to be clear for another settle.

        Who learns late that it came back, by less than that, has not seen it end.
        """
        return ended if ended is not None and now - ended >= self.delays.settle else None

    def with_extended_holds(
        self, record: FindingState, *, all_of_it: bool = False
    ) -> FindingState:
        def back(watch: CauseClock) -> CauseClock:
            if watch.past_hold and not all_of_it:
                return watch
            most = self.hold(watch) - self.delays.settle
            spent = min(watch.time_in_kind(), most)
            return replace(watch.with_time_in_kind(watch.trouble.kind, spent), past_hold=False)

        return replace(record, clocks={ref: back(w) for ref, w in record.clocks.items()})

    def deadlines(self, record: FindingState) -> Iterable[datetime]:
        for watch in record.clocks.values():
            if watch.active and not watch.past_hold:
                yield record.as_of + self.hold_left(watch, now=record.as_of)
            if not watch.active:
                yield record.as_of + self.settle(watch) - watch.clear_for
                if watch.clear_for < self.delays.settle:
                    yield record.as_of + self.delays.settle - watch.clear_for


def _apply_verdict(
    record: FindingState | None,
    verdict: Verdict,
    *,
    now: datetime,
    hidden: UnknownState | None,
    step: _EntryRules,
) -> FindingState | None:
    if record is not None:
        if _is_unchanged(record, verdict):
            return step.advance(record, now=now)
        record = record.advanced(now=now)
    match verdict:
        case Unknown(_, why):
            since = now if record is None else record.unknown_since or now
            return record and replace(record, why_unknown=why, unknown_since=since)
        case Clear():
            return record and step.apply_delays(
                _deactivate_clocks(_end_unknown(record, now=now, step=step)), now=now
            )
        case Paused():
            return None
        case Active(_, troubles, involved):
            before = (
                _end_unknown(record, now=now, step=step)
                if record
                else FindingState({}, involved, now)
            )
            watches = dict(_deactivate_clocks(before).clocks)
            for trouble in troubles:
                ref = trouble.cause.object
                old = watches.get(ref) or step.start_clock(trouble, now=now, hidden=hidden)
                watches[ref] = replace(old, trouble=trouble, active=True, clear_for=ZERO)
            return step.apply_delays(
                replace(before, clocks=watches, involved_object=involved), now=now
            )


def _is_unchanged(record: FindingState, verdict: Verdict) -> bool:
    """
    Whether all is as it was when it was last looked at.
    """
    if isinstance(verdict, Unknown):
        return record.why_unknown == verdict.why
    if record.unknown_since is not None or isinstance(verdict, Paused):
        return False
    if isinstance(verdict, Clear):
        return not record.troubles
    found = {trouble.cause.object: trouble for trouble in verdict.troubles}
    seen = {ref: watch.trouble for ref, watch in record.clocks.items() if watch.active}
    return (
        found == seen
        and len(seen) == len(record.clocks)
        and record.involved_object == verdict.involved_object
    )


def _end_unknown(record: FindingState, *, now: datetime, step: _EntryRules) -> FindingState:
    """
    It can be judged again.
    """
    since = record.unknown_since
    known = replace(record, why_unknown="", unknown_since=None)
    return (
        step.with_extended_holds(known)
        if since is not None and now - since > LONG_UNKNOWN
        else known
    )


def _deactivate_clocks(record: FindingState) -> FindingState:
    watches = {
        ref: replace(w, active=False) if w.active else w for ref, w in record.clocks.items()
    }
    return replace(record, clocks=watches)
