"""
Parse the text of a flag to its value.

Each parser raises ValueError with what the value must be.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from reporter.model import times


E = TypeVar("E", bound=StrEnum)

TRUE_TEXTS = frozenset({"1", "t", "T", "true", "TRUE", "True"})
FALSE_TEXTS = frozenset({"0", "f", "F", "false", "FALSE", "False"})
"""The texts that Go's strconv.ParseBool accepts."""

MAX_NUMBER = 10_000_000
MAX_PORT = 65535
MAX_SPEED = 10**12
METRIC_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
DNS_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
MAX_SUBDOMAIN_LENGTH = 253
LABEL_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"


class BindAddress(NamedTuple):
    """An address to listen on. An empty host means every interface, port 0 any free port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """True if only processes of this pod or machine can connect."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_boolean(text: str) -> bool:
    """Return the boolean of a text, in any of the spellings that Go's flag package takes."""
    if text in TRUE_TEXTS:
        return True
    if text in FALSE_TEXTS:
        return False
    raise ValueError("must be true or false")


def seconds_parser(*, least: int) -> Callable[[str], timedelta]:
    """
    Return a parser for a number of seconds, such as 90, or a duration with units, such as 90s or 5m.
    """
    parse_whole = integer_parser(least=least, most=MAX_NUMBER, unit=" of seconds")

    def parse(text: str) -> timedelta:
        return _duration(text, parse_whole)

    return parse


def parse_fractional_seconds(text: str) -> timedelta:
    """Return the duration of a text such as 2.5, in seconds, or 90s, with units; 0 is refused."""
    return _duration(text, _parse_fraction)


def _duration(text: str, parse: Callable[[str], float]) -> timedelta:
    """Return the duration of a number of seconds, as *parse* reads it, or of a text with units."""
    try:
        return timedelta(seconds=parse(_seconds_of_units(text) or text))
    except ValueError as err:
        raise ValueError(f"{err}, or with units, such as 90s, 10m or 1h30m") from None


def _seconds_of_units(text: str) -> str:
    """Return the number of seconds of a duration with units; empty for any other text."""
    try:
        return times.format_seconds(times.parse_units(text))
    except ValueError:
        return ""


def parse_any_duration(text: str) -> timedelta:
    """Return the duration of a text such as 90s or 1h30m, or of a number of seconds; 0 is one."""
    try:
        return times.parse_seconds_or_units(text)
    except ValueError:
        raise ValueError("must be a duration such as 90s, 10m or 1h30m, or seconds") from None


def parse_optional_moment(text: str) -> datetime | None:
    """Return a time with its zone, in UTC; None for the empty text."""
    found = times.parse_zoned_time(text)
    if text and found is None:
        raise ValueError("must be a time such as 2026-01-31T12:00:00Z")
    return found


def integer_parser(*, least: int, most: int, unit: str = "") -> Callable[[str], int]:
    """Return a parser for a whole number in a range. *unit*: for the error, such as of seconds."""

    def parse(text: str) -> int:
        value = int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else least - 1
        if not least <= value <= most:
            raise ValueError(f"must be a whole number{unit}, {least} to {most}")
        return value

    return parse


def _parse_fraction(text: str) -> float:
    """Return a number of seconds above 0, in plain digits without sign or exponent."""
    value = float(text) if re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,9})?", text) else 0.0
    if not 0 < value <= MAX_NUMBER:
        raise ValueError(f"must be a number of seconds greater than 0, at most {MAX_NUMBER}")
    return value


def parse_speed(text: str) -> float:
    """
    Return a limit in MB/s as Go's flag package reads it, such as 20, 0.5 or 1e+07; 0 means none.
    """
    number = re.fullmatch(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text)
    value = float(text) if number else -1.0
    if not 0 <= value <= MAX_SPEED:
        raise ValueError(f"must be a number, 0 to {MAX_SPEED}")
    return value


def parse_address(text: str) -> BindAddress | None:
    """Return the address, or None for 0, which switches the server off."""
    if text == "0":
        return None
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    bare = host[1:-1] if bracketed else host
    if (
        not colon
        or not port.isdecimal()
        or int(port) > MAX_PORT
        or (":" in bare and not bracketed)
    ):
        raise ValueError("must be an address such as :8080, 127.0.0.1:8080 or [::1]:8080, or 0")
    return BindAddress(bare, int(port))


def parse_optional_address(text: str) -> BindAddress | None:
    """Return the address, or None for 0 and for the empty text."""
    return parse_address(text) if text else None


def parse_namespace(text: str) -> str:
    """Return the name of a namespace, checked as the API server does: a DNS label."""
    if not re.fullmatch(DNS_LABEL, text):
        raise ValueError(
            "must be the name of a namespace: lower case letters, digits and -, at most 63"
        )
    return text


def parse_optional_namespace(text: str) -> str:
    """Return the name of a namespace; the empty text, which means none, stays empty."""
    return parse_namespace(text) if text else ""


def _is_subdomain(text: str) -> bool:
    found = re.fullmatch(rf"{DNS_LABEL}(\.{DNS_LABEL})*", text)
    return found is not None and len(text) <= MAX_SUBDOMAIN_LENGTH


def parse_object_name(text: str) -> str:
    """Return the name of an object, checked as the API server does: a DNS subdomain."""
    if not _is_subdomain(text):
        raise ValueError("must be the name of an object: lower case letters, digits, - and .")
    return text


def parse_optional_object_name(text: str) -> str:
    """Return the name of an object; the empty text, which means none, stays empty."""
    return parse_object_name(text) if text else ""


def parse_optional_label(text: str) -> str:
    """
    Return the key of a label of objects, with or without a prefix such as example.com/; empty for none.
    """
    prefix, slash, name = text.rpartition("/")
    if text and (not re.fullmatch(LABEL_NAME, name) or (slash and not _is_subdomain(prefix))):
        raise ValueError("must be the name of a label, such as example.com/package")
    return text


def parse_any_text(text: str) -> str:
    """Return the text as it is; for flags that are checked elsewhere, or take anything."""
    return text


def parse_optional_file(text: str) -> Path | None:
    """
    Return the path of a file that must exist now, with ~ as the home folder; None for the empty text.
    """
    if not text:
        return None
    try:
        path = Path(text).expanduser()
        found, exists = path.is_file(), path.exists()
    except (RuntimeError, OSError) as err:
        raise ValueError(str(err)) from err
    if not found:
        raise ValueError("it is not a regular file" if exists else "no such file")
    return path


def parse_optional_path(text: str) -> Path | None:
    """Return the path of a file that may appear later, with ~ as the home folder; None for the empty text."""
    try:
        return Path(text).expanduser() if text else None
    except RuntimeError as err:
        raise ValueError(str(err)) from err


def parse_packs(text: str) -> tuple[str, ...]:
    """Return names of packs, and folders of packs, which have a slash."""
    packs = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not packs:
        raise ValueError("must be a list, separated by commas, of at least one pack")
    for each in packs:
        if "/" in each and not Path(each).is_dir():
            raise ValueError(f"{each}: no such folder")
    return packs


class ChoiceParser(Struct, Generic[E], frozen=True):
    """The parser of the text of one member of an enumeration."""

    kind: type[E]

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts of all members, for help pages and the completion of shells."""
        return tuple(self.kind)

    def __call__(self, text: str) -> E:
        """Return the member with this text. Raise ValueError, naming all, for another text."""
        try:
            return self.kind(text)
        except ValueError:
            raise ValueError(f"must be one of {', '.join(self.kind)}") from None


def choice_parser(kind: type[E]) -> ChoiceParser[E]:
    """Return a parser for the members of an enumeration; its *choices* tell readers which."""
    return ChoiceParser(kind)


def choice_set_parser(kind: type[E]) -> Callable[[str], frozenset[E]]:
    """Return a parser for a list of members, separated by commas; the empty text means none."""

    def parse(text: str) -> frozenset[E]:
        words = [word.strip() for word in text.split(",") if word.strip()]
        if not set(words) <= set(kind):
            raise ValueError(f"must be a list, separated by commas, of {', '.join(kind)}")
        return frozenset(kind(word) for word in words)

    return parse
