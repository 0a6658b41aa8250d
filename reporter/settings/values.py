"""
The text of a flag to its value.

Each reader raises ValueError with what the value must be.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar


E = TypeVar("E", bound=StrEnum)

TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
"""
What Go's strconv.ParseBool takes.
"""

LONGEST = 10_000_000
PORTS = 65535
LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
SUBDOMAIN_LENGTH = 253


class Address(NamedTuple):
    """
    An empty host is every interface; port 0 is any that is free.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def boolean(text: str) -> bool:
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise ValueError("must be true or false")


def seconds(*, least: int) -> Callable[[str], timedelta]:
    def read(text: str) -> timedelta:
        return timedelta(seconds=whole(least=least, most=LONGEST, unit=" of seconds")(text))

    return read


def fraction_of_seconds(text: str) -> timedelta:
    return timedelta(seconds=number(text, most=LONGEST, unit=" of seconds"))


def whole(*, least: int, most: int, unit: str = "") -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else least - 1
        if not least <= value <= most:
            raise ValueError(f"must be a whole number{unit}, {least} to {most}")
        return value

    return read


def number(text: str, *, most: int = LONGEST, unit: str = "") -> float:
    value = float(text) if re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,9})?", text) else 0.0
    if not 0 < value <= most:
        raise ValueError(f"must be a number{unit} greater than 0, at most {most}")
    return value


def address(text: str) -> Address | None:
    """
    None for 0, which switches the server off.
    """
    if text == "0":
        return None
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    bare = host[1:-1] if bracketed else host
    if not colon or not port.isdecimal() or int(port) > PORTS or (":" in bare and not bracketed):
        raise ValueError("must be an address such as :8080, 127.0.0.1:8080 or [::1]:8080, or 0")
    return Address(bare, int(port))


def optional_address(text: str) -> Address | None:
    """
    Also None for the empty text; whoever allows that says what it stands for.
    """
    return address(text) if text else None


def namespace(text: str) -> str:
    if not re.fullmatch(LABEL, text):
        raise ValueError(
            "must be the name of a namespace: lower case letters, digits and -, at most 63"
        )
    return text


def optional_namespace(text: str) -> str:
    return namespace(text) if text else ""


def object_name(text: str) -> str:
    if not re.fullmatch(rf"{LABEL}(\.{LABEL})*", text) or len(text) > SUBDOMAIN_LENGTH:
        raise ValueError("must be the name of an object: lower case letters, digits, - and .")
    return text


def optional_object_name(text: str) -> str:
    return object_name(text) if text else ""


def metric(text: str) -> str:
    if not re.fullmatch(r"[a-zA-Z_:][a-zA-Z0-9_:]*", text):
        raise ValueError("must be the name of a metric: letters, digits, _ and :")
    return text


def optional_file(text: str) -> Path | None:
    if not text:
        return None
    path = Path(text).expanduser()
    if not path.is_file():
        raise ValueError("no such file")
    return path


def choice(kind: type[E]) -> Callable[[str], E]:
    def read(text: str) -> E:
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"must be one of {', '.join(kind)}") from None

    return read


def choices(kind: type[E]) -> Callable[[str], frozenset[E]]:
    """
    Any of them, separated by commas; empty for none.
    """

    def read(text: str) -> frozenset[E]:
        words = [word.strip() for word in text.split(",") if word.strip()]
        if not set(words) <= set(kind):
            raise ValueError(f"must be a list, separated by commas, of {', '.join(kind)}")
        return frozenset(kind(word) for word in words)

    return read
