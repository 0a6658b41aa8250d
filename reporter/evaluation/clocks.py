"""
The state of the tracked findings as values: the clocks of each cause, and the state of each finding.

An outage can make one of these per model, so they are msgspec structs without garbage-collector
tracking, which are cheap to replace.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.model.enums import Reason, TroubleKind
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import InvolvedObject, ObjectRef, Trouble


ZERO = timedelta(0)

READ_BACK_WINDOW = timedelta(hours=1)
"""
The age up to which an Event that is read back continues its episode. It equals the default lifetime
of Events (kube-apiserver, ``--event-ttl``).
"""


class Delays(Struct, frozen=True):
    """
    The two settings that every hold and settle falls back to.

    *reads_once*: the cluster is read once, so the time for which an object has not changed stands
    for the time that its trouble has lasted.
    """

    grace: timedelta = timedelta(seconds=60)
    settle: timedelta = timedelta(seconds=30)
    reads_once: bool = False


class CauseClock(Struct, frozen=True, gc=False):
    """
    The clocks of one cause object.

    *trouble*: the trouble as last seen.
    *active*: the trouble exists now.
    *time_in_kind*: how long the trouble was seen with its present kind; less than zero where a hold that
    is shorter than the settle was extended to the settle.
    *time_in_others*: the same for the other kinds it had.
    *clear_for*: how long the trouble has been absent.
    *past_hold*: the trouble outlived its hold. This remains true until the trouble settles.
    *found_at*: when it did. *out_since*: since when the component has been out; None while it is not.
    *seen_at*: when this process first saw it, or the one before that announced it. It moves only when a
    suppression is lifted, to the beginning of the time that still counts.
    *cause_since*: since when its present cause is seen without a pause, if that is not all the time.
    *stopped_since*: since when the object cannot be evaluated, although others of its key can;
    nothing changes meanwhile. None if it can.
    """

    trouble: Trouble
    active: bool = True
    time_in_kind: timedelta = ZERO
    time_in_others: tuple[tuple[TroubleKind, timedelta], ...] = ()
    clear_for: timedelta = ZERO
    past_hold: bool = False
    found_at: datetime | None = None
    out_since: datetime | None = None
    seen_at: datetime | None = None
    cause_since: datetime | None = None
    stopped_since: datetime | None = None

    @property
    def stopped(self) -> bool:
        """True while the object cannot be evaluated, so that its clocks stand still."""
        return self.stopped_since is not None

    @property
    def object(self) -> ObjectRef:
        """The object that causes the trouble, by which the clocks of a finding are told apart."""
        return self.trouble.cause.object

    @property
    def cause_seen_at(self) -> datetime | None:
        """
        The time since which the present cause is seen without a pause; None if that is not known.
        """
        return self.cause_since or self.seen_at

    def with_active_trouble(self, trouble: Trouble, *, now: datetime) -> "CauseClock":
        """Return the clock of the trouble as seen now, perhaps with another kind than before."""
        is_same = self.active and trouble.cause == self.trouble.cause
        active = replace(
            self,
            trouble=trouble,
            active=True,
            clear_for=ZERO,
            stopped_since=None,
            out_since=(self.out_since or now) if trouble.is_out else None,
            cause_since=self.cause_since if is_same else now,
        )
        if trouble.kind is self.trouble.kind:
            return active
        times = {**dict(self.time_in_others), self.trouble.kind: self.time_in_kind}
        time_in_kind = times.pop(trouble.kind, ZERO)
        return replace(active, time_in_kind=time_in_kind, time_in_others=tuple(times.items()))

    def advanced(self, elapsed: timedelta) -> "CauseClock":
        """
        Return the clock after *elapsed*, which counts as trouble or as absence of it; not while stopped.
        """
        if self.stopped:
            return self
        if self.active:
            return replace(self, time_in_kind=self.time_in_kind + elapsed)
        return replace(self, clear_for=self.clear_for + elapsed)


class FindingState(Struct, frozen=True, gc=False):
    """
    The state of a finding key that is not simply clear.

    *clocks*: one clock per cause object; a tuple, as most findings have one.
    *as_of*: the moment up to which the clocks are accounted. They stay untouched while time alone
    changes nothing, so that the state remains the same object; ``advanced`` brings them up to date.
    *why_unknown*: why the key cannot be evaluated now; empty if it can.
    *unknown_since*: when the key became Unknown.
    *last_settled_at*: when earlier trouble of this key settled, if this process saw it settle.
    *announced_at*: when its episode began, if an Event of an earlier process says so.
    """

    clocks: tuple[CauseClock, ...]
    involved_object: InvolvedObject
    as_of: datetime
    why_unknown: str = ""
    unknown_since: datetime | None = None
    last_settled_at: datetime | None = None
    announced_at: datetime | None = None

    def advanced(self, *, now: datetime) -> "FindingState":
        """
        Return this state with its clocks accounted up to *now*.

        They stand still while the key is Unknown, and if *now* is before *as_of*.
        """
        elapsed = now - self.as_of
        if elapsed == ZERO:
            return self
        # The wall clock may be set back; time that was counted is never taken away again. The clocks
        # stand still while the key is Unknown: nobody saw the trouble last or end.
        if self.why_unknown or elapsed < ZERO:
            return replace(self, as_of=now)
        clocks = tuple([clock.advanced(elapsed) for clock in self.clocks])
        return replace(self, clocks=clocks, as_of=now)

    @property
    def is_steady(self) -> bool:
        """True if time alone cannot change this state."""
        if self.why_unknown:
            return True
        for clock in self.clocks:  # a plain loop: each pass asks this twice of all findings
            if clock.stopped_since is None and not (clock.active and clock.past_hold):
                return False
        return True

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """The troubles that exist now, held ones included."""
        return tuple(clock.trouble for clock in self.clocks if clock.active)

    @property
    def announceable(self) -> tuple[CauseClock, ...]:
        """The clocks of troubles that exist now and outlived their hold."""
        return tuple(clock for clock in self.clocks if clock.active and clock.past_hold)

    @property
    def shown_clocks(self) -> tuple[CauseClock, ...]:
        """
        The clocks that stand for the finding: of what is announceable, else of what exists, else all.
        """
        if len(self.clocks) == 1:
            return self.clocks  # an outage makes ten thousand of these
        active = tuple([clock for clock in self.clocks if clock.active])
        return self.announceable or active or self.clocks

    @property
    def past_hold(self) -> bool:
        """
        True if the trouble of any cause outlived its hold and has not settled; then it may be announced.
        """
        return any(clock.past_hold for clock in self.clocks)

    @property
    def clear_for(self) -> timedelta:
        """The time for which every trouble past its hold has been absent."""
        return min((clock.clear_for for clock in self.clocks if clock.past_hold), default=ZERO)


class UnknownState(Struct, frozen=True, gc=False):
    """
    The reason why a key without known trouble cannot be evaluated, and since when.

    *is_brief*: a few more observations will show the state, as the verdict says.
    """

    why: str
    since: datetime
    is_brief: bool = False


class TrackedFindings(Struct, frozen=True):
    """
    The state of all keys that are not clear: held, found, settling or Unknown.

    *evaluated_reasons*: the reasons that this process has evaluated at least once, or could have if there
    were anything that they are about.
    *settled_at*: when a key settled that has been clear since. Kept for READ_BACK_WINDOW, as long as
    an Event from before the settling may still be read back.
    """

    finding_states: Mapping[FindingKey, FindingState]
    unknown_states: Mapping[FindingKey, UnknownState]
    evaluated_reasons: frozenset[Reason] = frozenset()
    settled_at: Mapping[FindingKey, datetime] = field(default_factory=dict)


NOTHING_TRACKED = TrackedFindings({}, {})
