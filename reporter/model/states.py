"""The states of a roll-up, and the closed sets beside them."""

from collections.abc import Collection, Mapping
from enum import StrEnum, unique

from reporter.model.enums import Owner


@unique
class State(StrEnum):
    """
    The state of a subject, the worst last but for the two that are no answer about its health.
    """

    CURRENT = "Current"
    IN_PROGRESS = "InProgress"
    UNKNOWN = "Unknown"
    FAILED = "Failed"
    TERMINATING = "Terminating"
    NOT_FOUND = "NotFound"

    @property
    def severity(self) -> int:
        """
        The rank of the state; a namespace has the highest of its parts, TERMINATING ones aside.
        """
        return _SEVERITY[self]

    @property
    def word(self) -> str:
        """
        The word for people, in tables, help and page: Argo CD and users say Ready where kstatus has Current.

        Documents, conditions and metrics have the value.
        """
        return _WORDS.get(self, self.value)

    @property
    def key(self) -> str:
        """The name in lower case, as keys of counts and values of labels have it."""
        return self.name.lower()


_WORDS = {State.CURRENT: "Ready", State.IN_PROGRESS: "Progressing"}

_SEVERITY = {state: number for number, state in enumerate(State)}

COUNTED_STATES = (
    State.CURRENT,
    State.IN_PROGRESS,
    State.UNKNOWN,
    State.FAILED,
    State.TERMINATING,
)
"""The states that a subject which exists may have."""

ANY_STATE: Collection[State] = frozenset(COUNTED_STATES)


def is_complete(counts: Mapping[State, int]) -> bool:
    """
    Return whether the number of subjects of each state is known, so that the sum is the total.
    """
    return all(state in counts for state in COUNTED_STATES)


@unique
class Actionability(StrEnum):
    """The party that must act; TRANSIENT: nobody yet, it may still end by itself."""

    TRANSIENT = "transient"
    USER = "user"
    PLATFORM = "platform"

    @classmethod
    def of_owner(cls, owner: Owner) -> "Actionability":
        """Return the party for a reason's owner; every owner but the user is the platform."""
        return cls.USER if owner is Owner.USER else cls.PLATFORM


@unique
class SinceFrom(StrEnum):
    """
    The source of a time: the writer of a condition, the Event of the episode, or this process.
    """

    WRITER = "writer"
    EPISODE = "episode"
    PROCESS = "process"


@unique
class Pattern(StrEnum):
    """A known shape of trouble without a culprit."""

    NO_TERMINAL_STATE_REPORTED = "NoTerminalStateReported"


@unique
class Mode(StrEnum):
    """The origin of a status: a process that watches, or one reading."""

    WATCHING = "watching"
    ONE_SHOT = "oneShot"
