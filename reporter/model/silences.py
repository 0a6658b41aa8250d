"""Silences as values: findings that are not announced until a moment, by whom and why."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum, unique

from msgspec import Struct, field

from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey


ALL_REASONS = "all"
"""The word for every reason of the subjects."""


@unique
class SilenceState(StrEnum):
    """The state of a silence. All but the first silence nothing, and are warned about."""

    ACTIVE = "active"
    EXPIRED = "expired"
    MALFORMED = "malformed"
    INAPPLICABLE = (
        "inapplicable"  # nothing to apply to: no such subject, or no reason is evaluated
    )


class SilenceText(Struct, frozen=True):
    """
    A silence as it is written, with nothing checked.

    *origin*: where it is written, such as ``Namespace team-m`` or ``silences.yaml:3``.
    *namespace*, *inferenceset*: of its subjects; both empty for the cluster.
    *problem*: why it cannot be read; empty if it can.
    """

    origin: str
    namespace: str = ""
    inferenceset: str = ""
    reasons: tuple[str, ...] = ()
    until: str = ""
    why: str = ""
    by: str = ""
    problem: str = ""


class Silence(Struct, frozen=True):
    """
    A silence as it is in effect, or why it is not.

    *reasons*: empty for every reason of the subjects, and for a malformed silence.
    *until*: None for a malformed silence. *problem*: why it silences nothing; empty if it is active.
    """

    origin: str
    namespace: str
    inferenceset: str
    state: SilenceState
    reasons: frozenset[Reason] = frozenset()
    until: datetime | None = None
    why: str = ""
    by: str = ""
    problem: str = ""

    @property
    def scope(self) -> str:
        """The subjects in words, as the commands take them."""
        return "/".join(filter(None, (self.namespace, self.inferenceset))) or "cluster"

    @property
    def reason_text(self) -> str:
        """
        The reasons, separated by commas; ALL_REASONS if none is named, empty for a malformed silence.
        """
        if self.state is SilenceState.MALFORMED:
            return ""
        return ",".join(sorted(self.reasons)) or ALL_REASONS


class SilenceFile(Struct, frozen=True):
    """
    The file of silences as it was read last.

    *path*: empty if no file is configured. *problem*: why it cannot be read as a whole, so that it
    silences nothing; empty if it can. *exists*: a file that does not silences nothing either.
    """

    path: str = ""
    silences: tuple[SilenceText, ...] = ()
    problem: str = ""
    exists: bool = True


NO_SILENCE_FILE = SilenceFile()


class Silences(Struct, frozen=True):
    """
    The silences of one moment, and the findings that they silence.

    *all*: in effect or not, ordered by where they are written.
    *silenced*: each silenced key with the silence that lasts longest.
    *next_end*: when the next silence ends; None if none is in effect.
    *checked*: each text with what was found in it, so that the next pass need not look again.
    """

    all: tuple[Silence, ...] = ()
    silenced: Mapping[FindingKey, Silence] = field(default_factory=dict)
    next_end: datetime | None = None
    checked: Mapping[SilenceText, Silence] = field(default_factory=dict)


NO_SILENCES = Silences()
