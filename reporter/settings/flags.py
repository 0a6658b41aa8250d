"""
Declare a flag as a field of Settings: its default, its parser and what ``--help`` says about it.
"""

from collections.abc import Callable
from dataclasses import Field, dataclass, field
from datetime import timedelta
from enum import Enum, unique
from typing import Any, TypeVar

from reporter.settings.parsers import parse_optional_file


T = TypeVar("T")

VARIABLE_PREFIX = "STATUS_REPORTER_"
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


@dataclass(frozen=True, slots=True)
class FlagMetadata:
    """The declaration of a flag, kept with its field of Settings."""

    group: FlagGroup
    default: str
    parse: Callable[[str], object]
    help: str


def flag(group: FlagGroup, default: str, parse: Callable[[str], T], help_: str) -> T:
    """
    Declare a field of Settings that a flag sets.

    As with ``dataclasses.field``, the declared return type is that of the value, so that the type
    checker compares the field with its parser. *parse* raises ValueError with what the value must be.
    """
    metadata = {_METADATA_KEY: FlagMetadata(group, default, parse, help_)}
    declared: Any = field(metadata=metadata)
    return declared  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of the process. Its names follow from the name of its field in Settings."""

    settings_field: str
    is_boolean: bool
    is_duration: bool
    metadata: FlagMetadata

    @classmethod
    def of_field(cls, declared: "Field[Any]") -> "Flag | None":
        """Return the flag of a field; None for a field that no flag sets."""
        metadata = declared.metadata.get(_METADATA_KEY)
        if metadata is None:
            return None
        return cls(declared.name, declared.type is bool, declared.type is timedelta, metadata)

    @property
    def name(self) -> str:
        """
        The name without dashes in front. Durations are given in seconds and end in ``-seconds``.
        """
        return self.settings_field.replace("_", "-") + ("-seconds" if self.is_duration else "")

    @property
    def variable(self) -> str:
        """The environment variable that sets the flag as well."""
        return VARIABLE_PREFIX + self.name.upper().replace("-", "_")

    @property
    def group(self) -> FlagGroup:
        return self.metadata.group

    @property
    def default(self) -> str:
        return self.metadata.default

    @property
    def help(self) -> str:
        return self.metadata.help

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that are taken, if they are a closed set."""
        found: tuple[str, ...] = getattr(self.metadata.parse, "choices", ())
        return found

    @property
    def is_file(self) -> bool:
        return self.metadata.parse is parse_optional_file

    def parse(self, text: str) -> object:
        return self.metadata.parse(text)
