"""A suppressed finding, as the roll-up publishes it beside what blocks its subject."""

from typing import Annotated

from msgspec import Meta

from reporter.model.rollup.base import StatusStruct


class Suppressed(StatusStruct, frozen=True, kw_only=True):
    """A finding that is not announced, as it follows from something upstream that is out."""

    reason: Annotated[str, Meta(description="Reason of the catalogue.")]
    code: Annotated[str, Meta(description="Cause code.")]
    object: Annotated[
        str, Meta(description="Object of the cause, `resource.group namespace/name`.")
    ] = ""
    message: Annotated[str, Meta(description="What is wrong and where.")] = ""
    held: Annotated[bool, Meta(description="It may still be a normal start or change.")] = False
    by: Annotated[tuple[str, ...], Meta(description="The reasons that it follows from.")]
