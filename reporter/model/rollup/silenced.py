"""The silence of a cause, as published."""

from typing import Annotated

from msgspec import Meta

from reporter.model.rollup.base import StatusStruct, Time
from reporter.model.silences import Silence


class SilencedBy(StatusStruct, frozen=True, kw_only=True):
    """The silence for whose sake a cause is not announced."""

    until: Annotated[Time, Meta(description="When it ends.")]
    by: Annotated[str, Meta(description="Who silenced it, as written.")] = ""
    why: Annotated[str, Meta(description="Why, as written.")] = ""
    origin: Annotated[
        str, Meta(description="Where it is written: an object, or a line of the file.")
    ]


def silenced_by(silence: Silence | None) -> SilencedBy | None:
    if silence is None or silence.until is None:
        return None
    return SilencedBy(until=silence.until, by=silence.by, why=silence.why, origin=silence.origin)
