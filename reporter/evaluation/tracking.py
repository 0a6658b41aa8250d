"""
Apply verdicts: hold a finding until its trouble has lasted, keep it until its end has lasted.

Rule 1: everything that decides whether trouble counts already, or still, is here and in holds.py.
Rule 2: nothing here knows what outranks, suppresses or announces a finding.

A clock per (key, cause object, kind) adds up the time for which the trouble was seen. Only a settled
clear resets it, so flapping trouble is announced and not hidden. The clocks of a key stand still
while it is Unknown.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from reporter.catalogue.entries import CatalogueEntry
from reporter.evaluation.clocks import (
    READ_BACK_WINDOW,
    CauseClock,
    Delays,
    FindingState,
    TrackedFindings,
    UnknownState,
)
from reporter.evaluation.holds import LONG_UNKNOWN, HoldRules
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import (
    Active,
    Clear,
    ObjectRef,
    Paused,
    Trouble,
    Unknown,
    Verdict,
)


EntryLookup = Callable[[Reason], CatalogueEntry]


def apply_verdicts(
    tracked: TrackedFindings,
    verdicts: Sequence[Verdict],
    *,
    now: datetime,
    entry_of: EntryLookup,
    delays: Delays,
) -> TrackedFindings:
    """Return the tracked findings after these verdicts; keys without a verdict keep their state."""
    evaluated = tracked.evaluated_reasons | {
        verdict.key.reason for verdict in verdicts if not isinstance(verdict, Unknown)
    }
    # Most verdicts of a healthy cluster are Clear for a key that is clear already.
    findings, unknowns = tracked.finding_states, tracked.unknown_states
    relevant = [
        verdict
        for verdict in verdicts
        if not isinstance(verdict, Clear) or verdict.key in findings or verdict.key in unknowns
    ]
    if not relevant:
        if evaluated == tracked.evaluated_reasons:
            return tracked
        return replace(tracked, evaluated_reasons=evaluated)
    update = _TrackingUpdate(
        dict(tracked.finding_states), dict(tracked.unknown_states), dict(tracked.settled_at)
    )
    for verdict in relevant:
        reason = verdict.key.reason
        is_first = reason not in tracked.evaluated_reasons
        update.apply(verdict, HoldRules(entry_of(reason), delays, is_first), now=now)
    return TrackedFindings(
        update.finding_states, update.unknown_states, evaluated, update.settled_at
    )


class _TrackingUpdate(Struct):
    """The parts of the new TrackedFindings, while verdicts are applied to them."""

    finding_states: dict[FindingKey, FindingState]
    unknown_states: dict[FindingKey, UnknownState]
    settled_at: dict[FindingKey, datetime]

    def apply(self, verdict: Verdict, rules: HoldRules, *, now: datetime) -> None:
        key = verdict.key
        unknown, before = self.unknown_states.pop(key, None), self.finding_states.get(key)
        after = _apply_verdict(before, verdict, now=now, previous_unknown=unknown, rules=rules)
        if after is not None and before is not None:
            self.finding_states[key] = after
        elif after is not None:
            last = rules.confirmed_settled_at(self.settled_at.pop(key, None), now=now)
            self.finding_states[key] = replace(after, last_settled_at=last)
        elif isinstance(verdict, Unknown):
            self.unknown_states[key] = _continue_unknown(unknown, verdict, now=now)
            # Trouble may come and go unseen, so it is no longer certain that the key is clear.
            self.settled_at.pop(key, None)
        elif before is not None:
            del self.finding_states[key]
            self.settled_at[key] = now


def _continue_unknown(
    before: UnknownState | None, verdict: Unknown, *, now: datetime
) -> UnknownState:
    """Return the same object while the cause of Unknown stays the same."""
    since = now if before is None else before.since
    after = UnknownState(verdict.why, since, verdict.is_brief)
    return before if before is not None and before == after else after


def advance_clocks(
    tracked: TrackedFindings, *, now: datetime, entry_of: EntryLookup, delays: Delays
) -> TrackedFindings:
    """
    Let time pass for all keys, including those that were not evaluated because nothing changed.
    """

    def advance(key: FindingKey, state: FindingState) -> FindingState | None:
        return HoldRules(entry_of(key.reason), delays).advance(state, now=now)

    advanced = {
        key: after
        for key, state in tracked.finding_states.items()
        if (after := state if state.is_steady else advance(key, state)) is not None
    }
    settled_at = {key: at for key, at in tracked.settled_at.items() if now - at < READ_BACK_WINDOW}
    settled_at |= dict.fromkeys(tracked.finding_states.keys() - advanced.keys(), now)
    return replace(tracked, finding_states=advanced, settled_at=settled_at)


def extend_holds(
    tracked: TrackedFindings,
    keys: Collection[FindingKey],
    *,
    now: datetime,
    entry_of: EntryLookup,
    delays: Delays,
    stays_found: bool = False,
) -> TrackedFindings:
    """
    Hold these keys for at least the settle from now on, also those that outlived their hold.

    They are keys that were suppressed, or may have been before this process began: what writes their
    status has yet to catch up with the recovery upstream. *stays_found*: see
    HoldRules.with_extended_holds.
    """
    if not keys:
        return tracked
    states = dict(tracked.finding_states)
    for key in keys:
        if key in states:
            rules = HoldRules(entry_of(key.reason), delays)
            states[key] = rules.with_extended_holds(
                states[key].advanced(now=now), include_past_hold=True, stays_found=stays_found
            )
    return replace(tracked, finding_states=states)


def without_keys(
    tracked: TrackedFindings, is_left_out: Callable[[FindingKey], bool]
) -> TrackedFindings:
    """Return the tracked findings without everything about the keys that are left out."""
    return replace(
        tracked,
        finding_states={
            k: each for k, each in tracked.finding_states.items() if not is_left_out(k)
        },
        unknown_states={
            k: each for k, each in tracked.unknown_states.items() if not is_left_out(k)
        },
        settled_at={k: at for k, at in tracked.settled_at.items() if not is_left_out(k)},
    )


def next_tracking_deadline(
    tracked: TrackedFindings, *, entry_of: EntryLookup, delays: Delays
) -> datetime | None:
    """Return the next moment at which time alone changes a state; None if it changes none."""
    deadlines = (
        deadline
        for key, state in tracked.finding_states.items()
        if not state.is_steady
        for deadline in HoldRules(entry_of(key.reason), delays).deadlines(state)
    )
    return min(deadlines, default=None)


def _apply_verdict(
    state: FindingState | None,
    verdict: Verdict,
    *,
    now: datetime,
    previous_unknown: UnknownState | None,
    rules: HoldRules,
) -> FindingState | None:
    if state is not None:
        if _is_unchanged(state, verdict):
            return rules.advance(state, now=now)
        state = state.advanced(now=now)
    match verdict:
        case Unknown(_, why):
            # Unknown neither raises nor clears anything: the clocks stay as they are.
            since = now if state is None else state.unknown_since or now
            return state and replace(state, why_unknown=why, unknown_since=since)
        case Clear():
            return state and rules.apply_delays(
                _activate_none(_end_unknown(state, now=now, rules=rules), now=now, rules=rules),
                now=now,
            )
        case Paused():
            return None
        case Active():
            return _activate(
                state, verdict, now=now, previous_unknown=previous_unknown, rules=rules
            )


def _activate(
    state: FindingState | None,
    verdict: Active,
    *,
    now: datetime,
    previous_unknown: UnknownState | None,
    rules: HoldRules,
) -> FindingState | None:
    before = (
        _end_unknown(state, now=now, rules=rules)
        if state
        else FindingState((), verdict.involved_object, now)
    )
    clocks = {
        clock.object: _stop(clock, now=now)
        if verdict.leaves_open(clock.object)
        else _deactivate(rules.resumed(clock, now=now))
        for clock in before.clocks
    }
    known_clocks = {clock.object: clock for clock in before.clocks}
    for trouble in verdict.troubles:
        ref = trouble.cause.object
        known = known_clocks.get(ref)
        if known is None and not trouble.begins:
            continue
        clock = (
            rules.resumed(known, now=now)
            if known is not None
            else rules.start_clock(trouble, now=now, previous_unknown=previous_unknown)
        )
        clocks[ref] = clock.with_active_trouble(trouble, now=now)
    after = replace(before, clocks=tuple(clocks.values()), involved_object=verdict.involved_object)
    return rules.apply_delays(after, now=now)


def _is_unchanged(state: FindingState, verdict: Verdict) -> bool:
    """Return whether the verdict says the same as the last one, so that only time has passed."""
    if isinstance(verdict, Unknown):
        return state.why_unknown == verdict.why
    if state.unknown_since is not None or isinstance(verdict, Paused):
        return False
    if isinstance(verdict, Clear):
        return not state.troubles
    known = tuple([c.trouble for c in state.clocks if c.active and not c.stopped])
    open_ = [c for c in state.clocks if c.stopped and verdict.leaves_open(c.object)]
    return (
        (verdict.troubles == known or _by_object(verdict.troubles) == _by_object(known))
        and len(known) + len(open_) == len(state.clocks)
        and state.involved_object == verdict.involved_object
    )


def _by_object(troubles: Iterable[Trouble]) -> Mapping[ObjectRef, Trouble]:
    return {trouble.cause.object: trouble for trouble in troubles}


def _end_unknown(state: FindingState, *, now: datetime, rules: HoldRules) -> FindingState:
    """Return the state of a key that can be evaluated again; see LONG_UNKNOWN."""
    since = state.unknown_since
    known = replace(state, why_unknown="", unknown_since=None)
    if since is not None and now - since > LONG_UNKNOWN:
        return rules.with_extended_holds(known)
    return known


def _activate_none(state: FindingState, *, now: datetime, rules: HoldRules) -> FindingState:
    clocks = [_deactivate(rules.resumed(clock, now=now)) for clock in state.clocks]
    return replace(state, clocks=tuple(clocks))


def _deactivate(clock: CauseClock) -> CauseClock:
    return replace(clock, active=False, out_since=None) if clock.active else clock


def _stop(clock: CauseClock, *, now: datetime) -> CauseClock:
    """
    Stop the clock of an object that a partial verdict does not report and could not evaluate.
    """
    return clock if clock.stopped else replace(clock, stopped_since=now)
