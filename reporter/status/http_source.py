"""One client of ``/status/v1``, of a reporter and of a hub, wherever it is reached."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Struct

from reporter.kube.api_status import parse_retry_after
from reporter.kube.error_mapping import is_html
from reporter.kube.plain_text import clean
from reporter.model.status_document import SCHEMA_VERSION, StatusError
from reporter.server.status_v1 import MAX_WAIT_SECONDS
from reporter.status.source import AnyAnswer, Document, StatusQueryFailed


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
    """A way to a reporter or a hub. *description*: of what it reaches."""

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


Asked = TypeVar("Asked")


class RequestTarget(NamedTuple):
    """A question as path and query, without what is added to wait for a change."""

    path: str
    query: Sequence[tuple[str, str]] = ()


class HttpSource(Generic[Asked, AnyAnswer]):
    """
    Asks a reporter or a hub; a question with *after* waits there for a change, as long as it lets us.

    *request_of*: returns the request about a target. *read*: returns the answer in a response about it, or
    raises StatusQueryFailed. *answer_timeout*: of an answer that does not wait; ANSWER_TIMEOUT if None.
    """

    may_lag = True

    def __init__(
        self,
        fetcher: StatusFetcher,
        request_of: Callable[[Asked], RequestTarget],
        read: Callable[[Fetched, Asked], AnyAnswer],
        *,
        answer_timeout: timedelta | None = None,
    ) -> None:
        self._fetcher, self._request_of, self._read = fetcher, request_of, read
        self._timeout = answer_timeout or ANSWER_TIMEOUT
        self.description = fetcher.description

    async def ask(self, target: Asked, /, *, after: AnyAnswer | None = None) -> AnyAnswer:
        """
        Return the answer about *target*. Raises StatusQueryFailed.

        With *after* it comes once the content differs, or after MAX_WAIT_SECONDS. *after* itself comes back
        if nothing has changed.
        """
        path, query = self._request_of(target)
        headers: dict[str, str] = {}
        timeout = self._timeout
        if after is not None and after.tag:
            headers["If-None-Match"] = after.tag
            query = (*query, ("wait", str(MAX_WAIT_SECONDS)))
            timeout += timedelta(seconds=MAX_WAIT_SECONDS)
        fetched = await self._fetcher.fetch(path, query, headers, timeout)
        if after is not None and fetched.status == HTTPStatus.NOT_MODIFIED:
            return after
        return self._read(fetched, target)

    async def close(self) -> None:
        """Close the connections of the fetcher."""
        await self._fetcher.close()


async def find_answering(
    sources: Iterable[HttpSource[Asked, AnyAnswer]], target: Asked, why: str
) -> tuple[HttpSource[Asked, AnyAnswer] | None, str]:
    """Return the first source that answers; without one, why the last does not, or *why* without any."""
    for source in sources:
        try:
            await source.ask(target)
        except StatusQueryFailed as err:
            why = str(err)
        else:
            return source, ""
    return None, why


def read_raw(fetched: Fetched) -> dict[str, Any]:
    """
    Return the JSON object of a response that has the status 200 and this schema.

    Raises StatusQueryFailed for any other one, with its Retry-After; it may pass if it is a 429 or 5xx,
    which a proxy before the reporter answers with a page.
    """
    is_failure = fetched.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if is_html(fetched.headers) and not is_failure:
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
        may_pass=is_busy or is_failure,
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


def read_missing(fetched: Fetched) -> str | None:
    """Return the words in which a response says that the target is not there; None if it does not."""
    error = _read_error(fetched) if fetched.status == HTTPStatus.NOT_FOUND else None
    return error.error if error is not None and error.state is not None else None


def read_document(raw: dict[str, Any], schema: type[Document], program: str) -> Document:
    """
    Return the document in the JSON object of *program*. Raises StatusQueryFailed for one that is newer.
    """
    try:
        return msgspec.convert(raw, schema)
    except msgspec.ValidationError as err:
        raise StatusQueryFailed(
            f"the status has a value that this program does not know ({clean(str(err))});"
            f" the {program} may be newer: use the program of its release"
        ) from err


def _error_text(fetched: Fetched) -> str:
    error = _read_error(fetched)
    return f"{error.error}. {error.remedy}" if error is not None else clean(fetched.body)


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def _read_error(fetched: Fetched) -> StatusError | None:
    """Return the StatusError in a body; None for any other, such as the page of a proxy on the way."""
    try:
        return msgspec.json.decode(fetched.body, type=StatusError)
    except (msgspec.DecodeError, RecursionError):
        return None
