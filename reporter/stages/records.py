"""
The state of the gate as values: the clocks of each cause, and what is known of each key.

In an outage there are as many as there are models, so these are structs, which are quick to replace.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from reporter.model.subjects import Key
from reporter.model.verdicts import Involved, ObjectRef, Trouble
from reporter.model.words import Kind, Reason


ZERO = timedelta(0)

READ_BACK = timedelta(hours=1)
"""
An Event that was last written longer ago is no running episode any more.
"""


@dataclass(frozen=True, slots=True)
class Patience:
    """
    The two settings that holds and settles fall back to.
    """

    grace: timedelta = timedelta(seconds=60)
    settle: timedelta = timedelta(seconds=30)


class Watch(Struct, frozen=True, gc=False):
    """
    The clocks of one cause object.

    *trouble*: as last seen. *active*: whether it is there now. *spent*: time seen, by kind.
    *quiet*: how long it has been clear. *through*: it outlived its hold, and stays so till settled.
    """

    trouble: Trouble
    active: bool = True
    spent: tuple[tuple[Kind, timedelta], ...] = ()
    quiet: timedelta = ZERO
    through: bool = False

    def in_kind(self) -> timedelta:
        return dict(self.spent).get(self.trouble.kind, ZERO)

    def with_spent(self, kind: Kind, spent: timedelta) -> "Watch":
        return replace(self, spent=tuple({**dict(self.spent), kind: spent}.items()))

    def elapsed(self, passed: timedelta) -> "Watch":
        if self.active:
            return self.with_spent(self.trouble.kind, self.in_kind() + passed)
        return replace(self, quiet=self.quiet + passed)


class Record(Struct, frozen=True, gc=False):
    """
    The state of a key that is not simply clear.

    *at*: until when its clocks are accounted; they are left as they are while time alone changes
    nothing, and *elapsed* tells them.
    *unknown*: why it cannot be judged now, empty if it can; *blind_since*: from when.
    *ended*: when trouble of before had settled, if that is certain.
    """

    watches: Mapping[ObjectRef, Watch]
    involved: Involved
    at: datetime
    unknown: str = ""
    blind_since: datetime | None = None
    ended: datetime | None = None

    def elapsed(self, *, now: datetime) -> "Record":
        """
        With the time since *at* passed in the state that was seen then.
        """
        passed = now - self.at
        if passed <= ZERO:
            return self
        if self.unknown:
            return replace(self, at=now)
        watches = {ref: watch.elapsed(passed) for ref, watch in self.watches.items()}
        return replace(self, watches=watches, at=now)

    @property
    def steady(self) -> bool:
        """
        Whether nothing happens to it by time alone.
        """
        return bool(self.unknown) or all(w.active and w.through for w in self.watches.values())

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """
        What is there now, whether it is through or not.
        """
        return tuple(w.trouble for w in self.watches.values() if w.active)

    @property
    def spoken(self) -> tuple[Watch, ...]:
        """
        What outlived its hold and is there now.
        """
        return tuple(w for w in self.watches.values() if w.active and w.through)

    @property
    def through(self) -> bool:
        return any(w.through for w in self.watches.values())

    @property
    def quiet(self) -> timedelta:
        """
        For how long nothing of what is through has been there.
        """
        return min((w.quiet for w in self.watches.values() if w.through), default=ZERO)


class Unseen(Struct, frozen=True, gc=False):
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

    records: Mapping[Key, Record]
    unseen: Mapping[Key, Unseen]
    judged: frozenset[Reason] = frozenset()
    ended: Mapping[Key, datetime] = field(default_factory=dict)


OPEN = Gate({}, {})
