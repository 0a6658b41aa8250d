"""The outcome of a check of one engine."""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct


class EngineTrouble(Struct, frozen=True):
    """
    One engine with trouble.

    *code*: of the cause. *numbers*: those that the message gives. *begins*: as of a trouble.
    """

    code: str
    numbers: Mapping[str, float]
    begins: bool = True


class EngineUnknown(Struct, frozen=True):
    """An engine that cannot be evaluated, with why. *is_brief*: more pages will show its state."""

    why: str
    is_brief: bool = False


EngineOutcome: TypeAlias = EngineTrouble | EngineUnknown | None

NOT_LONG_ENOUGH = EngineUnknown("it was not observed for as long as the window yet", is_brief=True)
NO_REQUESTS = EngineUnknown("its page does not tell its requests")
NO_PROGRESS_COUNTERS = EngineUnknown("its page has no counter of its progress")


def gist_of(outcome: EngineOutcome) -> str:
    """Return what of an outcome changes a verdict; its numbers do not."""
    match outcome:
        case EngineTrouble(code, _, begins):
            return code if begins else f"{code} if it has begun"
        case EngineUnknown(why, _):
            return why
        case None:
            return ""
