"""
Decide how long trouble is held back, and how long it must be absent until it has settled.

A hold has one purpose: the trouble may still be a normal start or change. Its length depends on the
kind of trouble and on the catalogue entry of the reason.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from reporter.catalogue.entries import CatalogueEntry
from reporter.evaluation.clocks import (
    ZERO,
    CauseClock,
    Delays,
    FindingState,
    UnknownState,
)
from reporter.model.times import EARLIEST_TIME
from reporter.model.verdicts import Trouble


LONG_UNKNOWN = timedelta(seconds=30)
"""The Unknown time after which an unfinished hold has at least the settle left."""

CRASH_SETTLE = timedelta(minutes=10)
"""
The least settle of a crash. The kubelet backs off for up to five minutes between restarts, so a
pause of that length must not end the episode of a crash loop. It forgets a crash itself once the
container has run for ten, twice the longest back-off (client-go, util/flowcontrol/backoff.go,
hasExpired).
"""


class HoldRules(Struct, frozen=True):
    """
    The holds and settles of one catalogue entry.

    *is_first_evaluation*: the entry's reason is evaluated for the first time in this process.
    """

    entry: CatalogueEntry
    delays: Delays
    is_first_evaluation: bool = False

    def advance(self, state: FindingState, *, now: datetime) -> FindingState | None:
        """
        Let time pass. Return the same object while time alone changes nothing, None once settled.
        """
        if state.is_steady:
            return state
        if now >= state.as_of and all(deadline > now for deadline in self.deadlines(state)):
            return state
        return self.apply_delays(state.advanced(now=now), now=now)

    def apply_delays(self, state: FindingState, *, now: datetime) -> FindingState | None:
        """
        Mark what outlived its hold and drop what has settled; None when nothing is left.

        Not for an Unknown key, whose state stays as it is.
        """
        clocks = [
            self._found(clock, now=now)
            for clock in state.clocks
            if clock.active or clock.stopped or clock.clear_for < self.settle(clock)
        ]
        return replace(state, clocks=tuple(clocks)) if clocks else None

    def _found(self, clock: CauseClock, *, now: datetime) -> CauseClock:
        """
        Return the clock, past its hold if that is over.

        Once past its hold, trouble stays so until it settles, whatever its kind becomes: a crashing pod
        that starts anew has not recovered.
        """
        if clock.past_hold and clock.found_at is not None:
            return clock
        left = self.hold_left(clock, now=now)
        if not clock.past_hold and not (clock.active and not clock.stopped and left <= ZERO):
            return clock
        return replace(clock, past_hold=True, found_at=clock.found_at or now + min(left, ZERO))

    def hold_left(self, clock: CauseClock, *, now: datetime) -> timedelta:
        """Return the rest of the hold; zero or less once it is over."""
        left, created_at = self.hold(clock) - clock.time_in_kind, clock.trouble.object_created_at
        if clock.trouble.not_before is not None:
            left = max(left, clock.trouble.not_before - now)
        if self._grace > ZERO and created_at is not None:
            # The later of grace and hold, never their sum. An object that claims to be created in
            # the future, by the clock of another machine, counts as created now.
            return max(left, min(created_at - now, ZERO) + self._grace)
        return left

    def hold(self, clock: CauseClock) -> timedelta:
        """
        Return the whole hold. A missing object has no age, so it must be missing for the grace.
        """
        hold = self.entry.holds.for_trouble(clock.trouble, grace=self.delays.grace)
        return max(hold, self._grace) if clock.trouble.object_created_at is None else hold

    @property
    def _grace(self) -> timedelta:
        return self.delays.grace if self.entry.waits_for_grace else ZERO

    def settle(self, clock: CauseClock) -> timedelta:
        """
        Return how long the trouble must be absent.

        That of a crash is longer: between two restarts it seems to be over.
        """
        settle = self.delays.settle if self.entry.settle is None else self.entry.settle
        return max(settle, CRASH_SETTLE) if clock.trouble.is_crash else settle

    def start_clock(
        self, trouble: Trouble, *, now: datetime, previous_unknown: UnknownState | None
    ) -> CauseClock:
        """
        Return the clock of new trouble.

        *previous_unknown*: the state of the key before, if it was Unknown.
        """
        clock, since = CauseClock(trouble, seen_at=now), trouble.since
        hold = self.hold(clock)
        # A process that has just started did not see the trouble begin, so it believes the
        # condition's transition time, if that is sane. Later, the moment of seeing counts.
        if self.is_first_evaluation:
            clock = replace(clock, out_since=self.out_since(trouble, now=now))
            if since is not None and since == clock.out_since:
                return replace(clock, time_in_kind=now - since)
            unchanged = trouble.unchanged_since if self.delays.reads_once else None
            if since is None and unchanged is not None and EARLIEST_TIME < unchanged <= now:
                return replace(clock, time_in_kind=now - unchanged)
        # Components that went down together with the API server need a moment to recover. What a
        # human declared (hold zero) does not recover by itself and is not held. A hold that is shorter
        # than the settle begins below zero, so that the settle is left of it.
        if (
            previous_unknown is not None
            and now - previous_unknown.since > LONG_UNKNOWN
            and hold > ZERO
        ):
            return replace(clock, time_in_kind=min(ZERO, hold - self.delays.settle))
        return clock

    def out_since(self, trouble: Trouble, *, now: datetime) -> datetime:
        """
        Return since when the component may be out, for a process that did not see it go out.

        EARLIEST_TIME if its writer states no time, or an impossible one.
        """
        since = trouble.since
        return since if since is not None and EARLIEST_TIME < since <= now else EARLIEST_TIME

    def confirmed_settled_at(
        self, settled_at: datetime | None, *, now: datetime
    ) -> datetime | None:
        """
        Return when the key last settled, if it was then seen clear for another settle.

        A recurrence within one settle period continues the same episode: a replica whose watch lags
        may see the end of trouble that had already returned.
        """
        if settled_at is not None and now - settled_at >= self.delays.settle:
            return settled_at
        return None

    def with_extended_holds(
        self, state: FindingState, *, include_past_hold: bool = False, stays_found: bool = False
    ) -> FindingState:
        """
        Return the state with at least the settle left of every unfinished hold.

        *include_past_hold*: hold again what already outlived its hold, too. It counts as found when that
        is over, and as first seen when the time began that still counts. *stays_found*: both stay as they
        were; it may have been found before its upstream went out.
        """
        clocks = [
            clock
            if clock.past_hold and not include_past_hold
            else replace(self._extended(clock), found_at=clock.found_at if stays_found else None)
            for clock in state.clocks
        ]
        if include_past_hold and not stays_found:
            clocks = [
                replace(clock, seen_at=state.as_of - max(clock.time_in_kind, ZERO))
                for clock in clocks
            ]
        return replace(state, clocks=tuple(clocks))

    def resumed(self, clock: CauseClock, *, now: datetime) -> CauseClock:
        """Return the clock of an object that can be evaluated again; see LONG_UNKNOWN."""
        since = clock.stopped_since
        if since is None:
            return clock
        known = replace(clock, stopped_since=None)
        is_long = now - since > LONG_UNKNOWN
        return self._extended(known) if is_long and not clock.past_hold else known

    def _extended(self, clock: CauseClock) -> CauseClock:
        # Less than zero for a hold that is shorter than the settle, so that the settle is left of it.
        latest = self.hold(clock) - self.delays.settle
        counted = min(clock.time_in_kind, latest)
        return replace(clock, time_in_kind=counted, past_hold=False)

    def deadlines(self, state: FindingState) -> Iterable[datetime]:
        """Yield the moments at which time alone changes the state."""
        for clock in state.clocks:
            if clock.stopped:
                continue
            if clock.active and not clock.past_hold:
                yield state.as_of + self.hold_left(clock, now=state.as_of)
            if not clock.active:
                yield state.as_of + self.settle(clock) - clock.clear_for
                # A longer settle keeps the episode open, but ranking ends after the general one.
                if clock.clear_for < self.delays.settle:
                    yield state.as_of + self.delays.settle - clock.clear_for
