"""
The declaration of a flag, as a field of Settings or of one command: its names, default, parser and help.
"""

from collections.abc import Callable
from dataclasses import Field, field
from datetime import timedelta
from enum import Enum, unique
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from reporter.settings import parsers
from reporter.settings.errors import SettingsError


T = TypeVar("T")

VARIABLE_PREFIX = "STATUS_REPORTER_"
FILE_PARSERS = (parsers.parse_optional_file, parsers.parse_optional_path)
FILE_PLACEHOLDERS = frozenset({"PATH", "FILE"})
_METADATA_KEY = "flag"


@unique
class FlagGroup(Enum):
    """The headings of ``--help``, in their order."""

    WATCHED = "What is watched"
    EVENTS = "Events"
    STATUS = "Status"
    STORE = "HealthEvent store"
    HUB = "Hub"
    ELECTION = "Leader election"
    SERVING = "HTTP servers"
    WEIGHTS = "Weight downloads and scraping"
    CLUSTER = "Cluster and catalogue"
    LOGGING = "Logging"


@unique
class TakenBy(Enum):
    """The commands that may take a flag of Settings."""

    RUN = "run"
    HUB = "hub"
    EVALUATION = "commands that evaluate a cluster or a dump themselves, such as status"


RUN_ALONE = frozenset({TakenBy.RUN})
HUB_ALONE = frozenset({TakenBy.HUB})
RUN_AND_HUB = RUN_ALONE | HUB_ALONE
RUN_AND_EVALUATION = RUN_ALONE | {TakenBy.EVALUATION}
ALL_COMMANDS = frozenset(TakenBy)


class Flag(Struct, frozen=True):
    """
    A flag: of Settings if it has a group, else of one command.

    *name*: without dashes. *placeholder*: of its value, if it has no choices. *repeats*: it may be
    given several times. *settings_field*: the field of Settings that it sets. *taken_by*: the commands
    that take one of Settings.
    *means_default*: a text that stands for the default, as for the earlier reporter.
    """

    name: str
    help: str
    placeholder: str = ""
    short: str = ""
    default: str = ""
    parse: Callable[[str], Any] = parsers.parse_any_text
    repeats: bool = False
    group: FlagGroup | None = None
    settings_field: str = ""
    taken_by: frozenset[TakenBy] = frozenset()
    means_default: str | None = None

    @property
    def variable(self) -> str:
        """The environment variable that sets a flag of Settings as well."""
        return VARIABLE_PREFIX + self.name.upper().replace("-", "_")

    @property
    def is_boolean(self) -> bool:
        """True if the flag needs no value on the command line, where its name alone means true."""
        return self.parse is parsers.parse_boolean

    @property
    def is_file(self) -> bool:
        """True if the value is the path of a file, for which a shell completes file names."""
        return self.parse in FILE_PARSERS or self.placeholder in FILE_PLACEHOLDERS

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that are taken, if they are a closed set; else empty."""
        found: tuple[str, ...] = getattr(self.parse, "choices", ())
        return found

    @property
    def value_text(self) -> str:
        """The values that are taken, in words for a reader; empty for a boolean."""
        return self.placeholder or "|".join(self.choices)

    def read(self, text: str, origin: str = "") -> Any:
        """
        Return the value of a text. Raise SettingsError with the flag, or the variable in *origin*.
        """
        try:
            return self.parse(text)
        except ValueError as err:
            raise SettingsError(f"{origin or f'--{self.name}'}={text}", str(err)) from err


def flag(
    group: FlagGroup,
    default: str,
    parse: Callable[[str], T],
    help_: str,
    *,
    taken_by: frozenset[TakenBy],
    means_default: str | None = None,
) -> T:
    """
    Declare a field of Settings that a flag sets.

    As with ``dataclasses.field``, the declared return type is that of the value, so that the type
    checker compares the field with its parser. *taken_by* has no default: which commands take a flag
    does not follow from its heading. *parse* raises ValueError with what the value must be.
    """
    unnamed = Flag(
        "",
        help_,
        default=default,
        parse=parse,
        group=group,
        taken_by=taken_by,
        means_default=means_default,
    )
    declared: Any = field(metadata={_METADATA_KEY: unnamed})
    return declared  # type: ignore[no-any-return]


def flag_of_field(declared: "Field[Any]") -> Flag | None:
    """
    Return the flag of a field, named after it; None for a field that no flag sets.

    Durations are given in seconds, and their names end in ``-seconds``.
    """
    unnamed: Flag | None = declared.metadata.get(_METADATA_KEY)
    if unnamed is None:
        return None
    unit = "-seconds" if declared.type is timedelta else ""
    name = declared.name.replace("_", "-") + unit
    return replace(unnamed, name=name, settings_field=declared.name)
