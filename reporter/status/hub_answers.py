"""The requests to a running hub, and its answers."""

from urllib.parse import quote

from reporter.model.fleet_status import FLEET_SCOPE, ClusterEntry, FleetDocument
from reporter.model.states import State
from reporter.status.http_source import (
    PATH,
    Fetched,
    RequestTarget,
    read_document,
    read_missing,
    read_raw,
)
from reporter.status.source import Answer, StatusQueryFailed


class FleetAnswer(Answer[FleetDocument], frozen=True):
    """The answer of a hub about its clusters, or about one."""

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


def request_of(cluster: str) -> RequestTarget:
    """Return the request about a cluster; about all for the empty name."""
    return RequestTarget(f"{PATH}/clusters/{quote(cluster, safe='')}" if cluster else PATH)


def read_answer(fetched: Fetched, _: str) -> FleetAnswer:
    """
    Return the answer in a response; without a document if the hub does not answer for the cluster.

    Raises StatusQueryFailed for any other error, for the answer of a reporter, and for that of another version.
    """
    missing = read_missing(fetched)
    if missing is not None:
        return FleetAnswer(None, missing=missing)
    raw = read_raw(fetched)
    if raw.get("scope") != FLEET_SCOPE:
        raise StatusQueryFailed(
            "this is the address of a reporter, and not of a hub; leave out hub:"
        )
    document = read_document(raw, FleetDocument, "hub")
    return FleetAnswer(document, raw, tag=fetched.headers.get("ETag", ""))
