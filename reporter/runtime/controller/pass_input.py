"""The input of one pass, and the end of the last one."""

import asyncio
from datetime import datetime

from msgspec import Struct, field

from reporter.model.subjects import Subject
from reporter.stages.snapshot.snapshot import Snapshot


class PassTimes(Struct):
    """The end of the last pass: *finished* in seconds of the event loop; None before the first."""

    finished: float | None = None
    finished_at: datetime | None = None
    first_finished: asyncio.Event = field(default_factory=asyncio.Event)


class PassInput(Struct, frozen=True):
    """
    The store at one moment, and the subjects to evaluate on it.

    Dirty subjects are always taken together with the snapshot: whatever changes after that is
    dirty again.
    """

    snapshot: Snapshot
    dirty: frozenset[Subject]
    now: datetime
    started: float
