"""One client of ``/status/v1``, of a reporter and of a hub, wherever it is reached."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from reporter.kube.api_status import parse_retry_after
from reporter.kube.error_mapping import is_html
from reporter.kube.plain_text import clean
from reporter.model.status_document import SCHEMA_VERSION, StatusError
from reporter.server.status_v1 import MAX_WAIT_SECONDS
from reporter.status.source import StatusQueryFailed


PATH = "/status/v1"
ANSWER_TIMEOUT = timedelta(seconds=15)

ANSWERS = frozenset(
    {
        HTTPStatus.OK,
        HTTPStatus.NOT_MODIFIED,
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
"""The statuses with which ``/status/v1`` answers."""

MAX_BYTES = 256 * 2**20
"""Some ten times the status of 10,000 InferenceSets."""


class Fetched(Struct, frozen=True):
    """
    The HTTP response of a reporter or a hub, of any status in ANSWERS.

    *body*: not decoded; at most MAX_BYTES.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class StatusFetcher(Protocol):
    """A way to the reporter. *description*: of the reporter that it reaches."""

    description: str

    async def fetch(
        self,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: Mapping[str, str],
        time_limit: timedelta,
    ) -> Fetched:
        """
        Send one GET to *path* of the status address, and return its response, also one that is an error.

        Raises StatusQueryFailed if no response comes within *time_limit*.
        """
        ...

    async def close(self) -> None:
        """Close the connections; no request can be sent afterwards."""
        ...


def time_limit(answer_timeout: timedelta, *, waits: bool) -> timedelta:
    """Return how long a request may take that waits for a change, or that does not."""
    return answer_timeout + timedelta(seconds=MAX_WAIT_SECONDS if waits else 0)


def read_raw(fetched: Fetched) -> dict[str, Any]:
    """
    Return the JSON object of a response that has the status 200 and this schema.

    Raises StatusQueryFailed for any other one, with its Retry-After; it may pass if it is a 429 or 5xx.
    """
    if is_html(fetched.headers):
        raise StatusQueryFailed(
            f"the answer is an HTML page and not that of a reporter: {clean(fetched.body)};"
            " name the status address of a reporter, such as http://127.0.0.1:8082"
        )
    if fetched.status == HTTPStatus.OK:
        return _read_object(fetched)
    is_busy = fetched.status == HTTPStatus.TOO_MANY_REQUESTS
    what = "is busy" if is_busy else f"answers with HTTP {fetched.status}"
    raise StatusQueryFailed(
        f"the reporter {what}: {_error_text(fetched)}",
        may_pass=is_busy or fetched.status >= HTTPStatus.INTERNAL_SERVER_ERROR,
        retry_after=parse_retry_after(fetched.headers, None),
    )


def _read_object(fetched: Fetched) -> dict[str, Any]:
    raw = _decode(fetched.body)
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA_VERSION:
        raise StatusQueryFailed(
            f"the answer is not the status of a reporter in the schema {SCHEMA_VERSION}:"
            f" {clean(fetched.body, max_length=100)}"
        )
    return raw


def _error_text(fetched: Fetched) -> str:
    error = read_error(fetched)
    return f"{error.error}. {error.remedy}" if error is not None else clean(fetched.body)


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def read_error(fetched: Fetched) -> StatusError | None:
    """
    Return the StatusError in the body of an answer.

    None for a body that is none, such as the page of a proxy on the way.
    """
    try:
        return msgspec.json.decode(fetched.body, type=StatusError)
    except (msgspec.DecodeError, RecursionError):
        return None
