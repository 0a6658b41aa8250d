"""
meta/v1 Status: how an API server says what is wrong.
"""

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from reporter.kube.wire.decoding import decode_json


MAX_RETRY_AFTER_DIGITS = 6
"""
Digits of a Retry-After that is believed.
"""

MAX_RETRY_AFTER_SECONDS = 10**MAX_RETRY_AFTER_DIGITS - 1


class StatusDetails(msgspec.Struct, rename="camel"):
    name: str = ""
    kind: str = ""
    retry_after_seconds: int = 0


class Status(msgspec.Struct, rename="camel"):
    kind: str = ""
    code: int = 0
    reason: str | None = ""
    message: str | None = ""
    details: StatusDetails | None = None

    @property
    def text(self) -> str:
        return self.message or self.reason or ""

    @property
    def object_name(self) -> str:
        """
        The name of the object that it is about, if it names one.
        """
        return self.details.name if self.details is not None else ""


_STATUS_DECODER = msgspec.json.Decoder(Status)


def decode_status(body: bytes) -> Status | None:
    """
    None for anything else.
    """
    try:
        said = decode_json(_STATUS_DECODER, body)
    except msgspec.DecodeError:
        return None
    return said if said.kind == "Status" else None


def parse_retry_after(headers: Mapping[str, str], said: Status | None) -> timedelta | None:
    """
    Seconds only, which is what API servers send; a date would need a clock.
    """
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit() and len(text) <= MAX_RETRY_AFTER_DIGITS:
        return timedelta(seconds=int(text))
    if said is not None and said.details is not None and said.details.retry_after_seconds > 0:
        return timedelta(seconds=min(said.details.retry_after_seconds, MAX_RETRY_AFTER_SECONDS))
    return None
