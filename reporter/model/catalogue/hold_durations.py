"""The holds of a reason, by kind of trouble."""

from datetime import timedelta

from msgspec import Struct

from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Trouble


class HoldDurations(Struct, frozen=True):
    """
    The time that trouble of each kind must last before it counts; None is the startup grace.

    *with_grace*: what is only starting has at least the startup grace, and no hold while that is zero.
    """

    declared: timedelta | None = timedelta(0)
    failed: timedelta | None = timedelta(seconds=15)
    lost: timedelta | None = timedelta(seconds=30)
    starting: timedelta | None = None
    with_grace: bool = True

    def for_kind(self, kind: TroubleKind, *, grace: timedelta) -> timedelta:
        duration = {
            TroubleKind.DECLARED: self.declared,
            TroubleKind.FAILED: self.failed,
            TroubleKind.LOST: self.lost,
            TroubleKind.STARTING: self.starting,
        }[kind]
        if duration is None:
            return grace
        if kind is TroubleKind.STARTING and self.with_grace:
            return max(duration, grace) if grace else grace
        return duration

    def for_trouble(self, trouble: Trouble, *, grace: timedelta) -> timedelta:
        """Return the hold that the probe gives a trouble, else that of its kind."""
        if trouble.hold is not None:
            return trouble.hold
        return self.for_kind(trouble.kind, grace=grace)


DEFAULT_HOLDS = HoldDurations()
