"""The status that a running reporter answers with, wherever it is reached."""

from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec.structs import replace

from reporter.kube.error_mapping import is_html
from reporter.model.states import State
from reporter.model.status_document import StatusDocument
from reporter.server.status_v1 import MAX_WAIT_SECONDS
from reporter.status.http_source import (
    ANSWER_TIMEOUT,
    PATH,
    Fetched,
    StatusFetcher,
    read_error,
    read_raw,
    time_limit,
)
from reporter.status.source import StatusAnswer, StatusQueryFailed, Target


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
