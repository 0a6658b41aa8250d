"""The status that a running reporter answers with, wherever it is reached."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reporter.kube.api_status import parse_retry_after
from reporter.kube.error_mapping import is_html
from reporter.kube.plain_text import clean
from reporter.model.states import State
from reporter.model.status_document import SCHEMA_VERSION, StatusDocument, StatusError
from reporter.server.status_v1 import MAX_WAIT_SECONDS
from reporter.status.source import StatusAnswer, StatusQueryFailed, Target


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


class ReporterSource:
    """
    Asks a reporter; a question with *after* waits there for a change, as long as it lets us.

    *answer_timeout*: of an answer that does not wait; ANSWER_TIMEOUT if None.
    """

    may_lag = True

    def __init__(self, fetcher: StatusFetcher, *, answer_timeout: timedelta | None = None) -> None:
        self._fetcher, self._timeout = fetcher, answer_timeout or ANSWER_TIMEOUT
        self.description = fetcher.description

    async def ask(self, target: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        """
        Return the reporter's answer about *target*. Raises StatusQueryFailed.

        With *after* the reporter answers once the content differs, or after MAX_WAIT_SECONDS. *after*
        itself comes back if nothing has changed.
        """
        waits = after is not None and bool(after.tag)
        fetched = await self._fetcher.fetch(
            path_of(target),
            query_of(target, waits=waits),
            {"If-None-Match": after.tag} if after is not None and after.tag else {},
            time_limit(self._timeout, waits=waits),
        )
        if after is not None and fetched.status == HTTPStatus.NOT_MODIFIED:
            return after
        return read_answer(fetched, target)

    async def close(self) -> None:
        """Close the connections of the fetcher."""
        await self._fetcher.close()


def time_limit(answer_timeout: timedelta, *, waits: bool) -> timedelta:
    """Return how long a request may take that waits for a change, or that does not."""
    return answer_timeout + timedelta(seconds=MAX_WAIT_SECONDS if waits else 0)


def path_of(target: Target) -> str:
    """
    Return the path for a target, whose names are valid ones; PATH for everything and the control plane.
    """
    parts = [part for part in (target.namespace, target.name) if part]
    return "/".join((PATH, "namespaces", *parts)) if parts else PATH


def query_of(target: Target, *, waits: bool) -> Sequence[tuple[str, str]]:
    """
    Return the query of a request. *waits*: the reporter is to wait for a change.

    For the control plane alone it asks for namespaces in a state that almost none is in, and so for a
    short answer.
    """
    few = (("state", State.TERMINATING.value),) if target.is_cluster else ()
    return (*few, ("wait", str(MAX_WAIT_SECONDS))) if waits else few


def read_answer(fetched: Fetched, target: Target) -> StatusAnswer:
    """
    Return the answer in a response; without a document if the target is not there.

    Raises StatusQueryFailed for any other error, for the answer of a hub, and for that of another version.
    """
    if fetched.status == HTTPStatus.NOT_FOUND and not is_html(fetched.headers):
        return _read_missing(fetched)
    raw = read_raw(fetched)
    if "scope" in raw:
        raise StatusQueryFailed("this is the address of a hub; ask it with --from=hub:URL")
    return _read_document(raw, fetched, target)


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


def _read_document(raw: dict[str, Any], fetched: Fetched, target: Target) -> StatusAnswer:
    try:
        document = msgspec.convert(raw, StatusDocument)
    except msgspec.ValidationError as err:
        raise StatusQueryFailed(
            f"the status has a value that this program does not know ({err}); the reporter may be"
            " newer: use the program of its release"
        ) from err
    if target.is_cluster:
        document = replace(document, namespaces=())
        raw = {key: value for key, value in raw.items() if key != "namespaces"}
    return StatusAnswer(document, raw, tag=fetched.headers.get("ETag", ""))


def _read_missing(fetched: Fetched) -> StatusAnswer:
    """Distinguish a target that is not there from a reporter that has no such page."""
    error = read_error(fetched)
    if error is None or error.state is None:
        raise StatusQueryFailed(
            f"this reporter has no {PATH}: it is of an older version, or its address is not the"
            " status address; upgrade it, or use --from=cluster"
        )
    return StatusAnswer(None, missing=error.error)


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
