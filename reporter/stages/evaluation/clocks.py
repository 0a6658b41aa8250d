"""
The state of the gate as values: the clocks of each cause, and what is known of each key.

In an outage there are as many as there are models, so these are structs, which are quick to replace.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.model.enums import Reason, TroubleKind
from reporter.model.subjects import FindingKey
from reporter.model.verdicts import InvolvedObject, ObjectRef, Trouble


ZERO = timedelta(0)

READ_BACK_WINDOW = timedelta(hours=1)
"""
An Event that was last written longer ago is no running episode any more.
"""


@dataclass(frozen=True, slots=True)
class Delays:
    """
    The two settings that holds and settles fall back to.
    """

    grace: timedelta = timedelta(seconds=60)
    settle: timedelta = timedelta(seconds=30)


class CauseClock(Struct, frozen=True, gc=False):
    """
    The clocks of one cause object.

    *trouble*: as last seen. *active*: whether it is there now. *spent*: time seen, by kind.
    *quiet*: how long it has been clear. *through*: it outlived its hold, and stays so till settled.
    """

    trouble: Trouble
    active: bool = True
    time_by_kind: tuple[tuple[TroubleKind, timedelta], ...] = ()
    clear_for: timedelta = ZERO
    past_hold: bool = False

    def time_in_kind(self) -> timedelta:
        return dict(self.time_by_kind).get(self.trouble.kind, ZERO)

    def with_time_in_kind(self, kind: TroubleKind, spent: timedelta) -> "CauseClock":
        return replace(self, time_by_kind=tuple({**dict(self.time_by_kind), kind: spent}.items()))

    def advanced(self, passed: timedelta) -> "CauseClock":
        if self.active:
            return self.with_time_in_kind(self.trouble.kind, self.time_in_kind() + passed)
        return replace(self, clear_for=self.clear_for + passed)


class FindingState(Struct, frozen=True, gc=False):
    """
    The state of a key that is not simply clear.

    *at*: until when its clocks are accounted; they are left as they are while time alone changes
    nothing, and *elapsed* tells them.
    *unknown*: why it cannot be judged now, empty if it can; *blind_since*: from when.
    *ended*: when trouble of before had settled, if that is certain.
    """

    clocks: Mapping[ObjectRef, CauseClock]
    involved_object: InvolvedObject
    as_of: datetime
    why_unknown: str = ""
    unknown_since: datetime | None = None
    last_settled_at: datetime | None = None

    def advanced(self, *, now: datetime) -> "FindingState":
        """
        With the time since *at* passed in the state that was seen then.
        """
        passed = now - self.as_of
        if passed <= ZERO:
            return self
        if self.why_unknown:
            return replace(self, as_of=now)
        watches = {ref: watch.advanced(passed) for ref, watch in self.clocks.items()}
        return replace(self, clocks=watches, as_of=now)

    @property
    def is_steady(self) -> bool:
        """
        Whether nothing happens to it by time alone.
        """
        return bool(self.why_unknown) or all(
            w.active and w.past_hold for w in self.clocks.values()
        )

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """
        What is there now, whether it is through or not.
        """
        return tuple(w.trouble for w in self.clocks.values() if w.active)

    @property
    def announceable(self) -> tuple[CauseClock, ...]:
        """
        What outlived its hold and is there now.
        """
        return tuple(w for w in self.clocks.values() if w.active and w.past_hold)

    @property
    def past_hold(self) -> bool:
        return any(w.past_hold for w in self.clocks.values())

    @property
    def clear_for(self) -> timedelta:
        """
        For how long nothing of what is through has been there.
        """
        return min((w.clear_for for w in self.clocks.values() if w.past_hold), default=ZERO)


class UnknownState(Struct, frozen=True, gc=False):
    """
    Why a key of which nothing was wrong cannot be judged, and since when.
    """

    why: str
    since: datetime


class Gate(Struct, frozen=True):
    """
    All keys that are not clear. *judged*: the reasons that were ever judged in this process.

    *ended*: when keys settled that have been clear since, while Events of before may be taken up.
    """

    finding_states: Mapping[FindingKey, FindingState]
    unknown_states: Mapping[FindingKey, UnknownState]
    evaluated_reasons: frozenset[Reason] = frozenset()
    settled_at: Mapping[FindingKey, datetime] = field(default_factory=dict)


EMPTY_GATE = Gate({}, {})
