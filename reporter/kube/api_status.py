"""Decode meta/v1 Status, the body of an API server's error, and the Retry-After of a response."""

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from reporter.kube.decoding import decode_json
from reporter.process.server_time import parse_http_date


MAX_RETRY_AFTER_SECONDS = 10**6
"""A longer Retry-After is read as this."""


MAX_DIGITS = len(str(MAX_RETRY_AFTER_SECONDS))


class StatusCause(msgspec.Struct):
    """One entry of details.causes; *reason* is a CauseType such as FieldValueInvalid."""

    reason: str | None = ""


class StatusDetails(msgspec.Struct, rename="camel"):
    """
    The details of a Status (meta/v1 StatusDetails), as far as they are read.

    *name*: of the object that the error is about. *retry_after_seconds*: 0 without a request to wait.
    """

    name: str = ""
    retry_after_seconds: int = 0
    causes: list[StatusCause] | None = None


class Status(msgspec.Struct, rename="camel"):
    """
    The error that an API server states in the body of its response (meta/v1 Status).

    *kind*: "Status"; any other is a body of something else. *code*: the HTTP status. *reason*: the word
    for machines, such as Conflict or AlreadyExists.
    """

    kind: str = ""
    code: int = 0
    reason: str | None = ""
    message: str | None = ""
    details: StatusDetails | None = None

    @property
    def text(self) -> str:
        """The message for people, or else the reason; empty if the server gave neither."""
        return self.message or self.reason or ""

    @property
    def object_name(self) -> str:
        """The name of the object that the error is about; empty if it names none."""
        return self.details.name if self.details is not None else ""

    @property
    def has_invalid_fields(self) -> bool:
        """Return whether validation of the object names its invalid fields."""
        causes = (self.details.causes if self.details is not None else None) or ()
        return any((cause.reason or "").startswith("FieldValue") for cause in causes)


_STATUS_DECODER = msgspec.json.Decoder(Status)


def decode_status(body: bytes) -> Status | None:
    """Decode a Status; None for any other body."""
    try:
        status = decode_json(_STATUS_DECODER, body)
    except msgspec.DecodeError:
        return None
    return status if status.kind == "Status" else None


def parse_retry_after(headers: Mapping[str, str], status: Status | None) -> timedelta | None:
    """
    Return the Retry-After of a response, from its header or else from its Status.

    A date, which proxies may send, is compared with the Date of the same response. None if there is no
    valid time to wait, or if it is zero or has passed.
    """
    text = headers.get("Retry-After", "").strip()
    seconds = _seconds_until(text, headers.get("Date", ""))
    if text.isascii() and text.isdigit():
        seconds = int(text) if len(text) <= MAX_DIGITS else MAX_RETRY_AFTER_SECONDS
    if seconds is None and status is not None and status.details is not None:
        seconds = status.details.retry_after_seconds
    if seconds is None or seconds <= 0:
        return None
    return timedelta(seconds=min(seconds, MAX_RETRY_AFTER_SECONDS))


def _seconds_until(text: str, date: str) -> float | None:
    """Return the seconds from one HTTP date to another; None if either is invalid."""
    until, now = parse_http_date(text), parse_http_date(date)
    return (until - now).total_seconds() if until is not None and now is not None else None
