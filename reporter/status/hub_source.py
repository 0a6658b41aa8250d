"""The status of a fleet that a running hub answers with."""

from datetime import timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from reporter.kube.plain_text import clean
from reporter.model.fleet_status import FLEET_SCOPE, ClusterEntry, FleetDocument
from reporter.model.states import State
from reporter.server.status_v1 import MAX_WAIT_SECONDS
from reporter.status import http_source
from reporter.status.source import StatusQueryFailed


class FleetAnswer(Struct, frozen=True):
    """
    The answer of a hub about its clusters, or about one.

    *document*: None if the cluster is not answered for; *missing* says so then. *raw*: the document as JSON
    values. *tag*: changes with the content; empty if the hub gives none.
    """

    document: FleetDocument | None
    raw: Any = None
    missing: str = ""
    tag: str = ""

    @property
    def cluster(self) -> ClusterEntry | None:
        """
        The cluster of an answer about one; None if the answer is about none. Of a fleet it is the first.
        """
        document = self.document
        return document.clusters[0] if document is not None and document.clusters else None

    def worst(self, cluster: str) -> State:
        """
        Return the state for the exit code: of the named cluster, or of the fleet for the empty name.

        NotFound if the hub does not answer for the cluster.
        """
        if self.document is None:
            return State.NOT_FOUND
        if not cluster:
            return self.document.fleet.state
        return self.cluster.state if self.cluster is not None else State.UNKNOWN


class HubSource:
    """Asks a hub about all clusters, or about one."""

    def __init__(
        self, fetcher: http_source.StatusFetcher, *, answer_timeout: timedelta | None = None
    ) -> None:
        self._fetcher, self._timeout = fetcher, answer_timeout or http_source.ANSWER_TIMEOUT
        self.description = fetcher.description

    async def ask(self, cluster: str = "", *, after: FleetAnswer | None = None) -> FleetAnswer:
        """
        Return the status of a cluster, or of all for the empty name. Raises StatusQueryFailed.

        With *after* the hub answers once something has changed since, or after MAX_WAIT_SECONDS; if nothing
        has, *after* is returned.
        """
        tag = after.tag if after is not None else ""
        fetched = await self._fetcher.fetch(
            f"{http_source.PATH}/clusters/{quote(cluster, safe='')}"
            if cluster
            else http_source.PATH,
            (("wait", str(MAX_WAIT_SECONDS)),) if tag else (),
            {"If-None-Match": tag} if tag else {},
            http_source.time_limit(self._timeout, waits=bool(tag)),
        )
        if after is not None and fetched.status == HTTPStatus.NOT_MODIFIED:
            return after
        return _read(fetched)

    async def close(self) -> None:
        """Close the connection to the hub; no question can be asked afterwards."""
        await self._fetcher.close()


def _read(fetched: http_source.Fetched) -> FleetAnswer:
    if fetched.status == HTTPStatus.NOT_FOUND:
        error = http_source.read_error(fetched)
        if error is not None and error.state is not None:
            return FleetAnswer(None, missing=error.error)
    raw = http_source.read_raw(fetched)
    if raw.get("scope") != FLEET_SCOPE:
        raise StatusQueryFailed(
            "this is the address of a reporter, and not of a hub; leave out hub:"
        )
    try:
        document = msgspec.convert(raw, FleetDocument)
    except msgspec.ValidationError as err:
        raise StatusQueryFailed(
            f"the status has a value that this program does not know ({clean(str(err))}); the hub"
            " may be newer: use the program of its release"
        ) from err
    return FleetAnswer(document, raw, tag=fetched.headers.get("ETag", ""))
