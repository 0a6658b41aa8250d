"""
Decode meta/v1 Status, the body of an API server's error, and the Retry-After of a response.
"""

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from reporter.kube.wire.decoding import decode_json


MAX_RETRY_AFTER_DIGITS = 6
"""
A Retry-After with more digits is ignored.
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
        The name of the object that the error is about; empty if it names none.
        """
        return self.details.name if self.details is not None else ""


_STATUS_DECODER = msgspec.json.Decoder(Status)


def decode_status(body: bytes) -> Status | None:
    """
    Decode a Status; None for any other body.
    """
    try:
        status = decode_json(_STATUS_DECODER, body)
    except msgspec.DecodeError:
        return None
    return status if status.kind == "Status" else None


def parse_retry_after(headers: Mapping[str, str], status: Status | None) -> timedelta | None:
    """
    Return the Retry-After of a response, from its header or else from its Status.

    Only seconds are supported, which is what API servers send; a date would need a clock.
    """
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit() and len(text) <= MAX_RETRY_AFTER_DIGITS:
        return timedelta(seconds=int(text))
    if (
        status is not None
        and status.details is not None
        and status.details.retry_after_seconds > 0
    ):
        return timedelta(seconds=min(status.details.retry_after_seconds, MAX_RETRY_AFTER_SECONDS))
    return None
