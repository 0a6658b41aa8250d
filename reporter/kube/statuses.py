"""
meta/v1 Status: how an API server says what is wrong.
"""

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from reporter.kube.decoding import decoded


LONGEST_NUMBER = 6
"""
Digits of a Retry-After that is believed.
"""

LONGEST_PAUSE = 10**LONGEST_NUMBER - 1


class Details(msgspec.Struct, rename="camel"):
    name: str = ""
    kind: str = ""
    retry_after_seconds: int = 0


class Status(msgspec.Struct, rename="camel"):
    kind: str = ""
    code: int = 0
    reason: str | None = ""
    message: str | None = ""
    details: Details | None = None

    @property
    def text(self) -> str:
        return self.message or self.reason or ""

    @property
    def object(self) -> str:
        """
        The name of the object that it is about, if it names one.
        """
        return self.details.name if self.details is not None else ""


_STATUSES = msgspec.json.Decoder(Status)


def read_status(body: bytes) -> Status | None:
    """
    None for anything else.
    """
    try:
        said = decoded(_STATUSES, body)
    except msgspec.DecodeError:
        return None
    return said if said.kind == "Status" else None


def retry_after(headers: Mapping[str, str], said: Status | None) -> timedelta | None:
    """
    Seconds only, which is what API servers send; a date would need a clock.
    """
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER:
        return timedelta(seconds=int(text))
    if said is not None and said.details is not None and said.details.retry_after_seconds > 0:
        return timedelta(seconds=min(said.details.retry_after_seconds, LONGEST_PAUSE))
    return None
