"""
Render the pages of the hub: the fleet at ``/status/v1``, in parts, and ``/status`` for diagnosis.
"""

import json
from collections.abc import Collection, Generator, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from reporter import PROGRAM_VERSION
from reporter.hub.document import FleetView
from reporter.model.states import ANY_STATE, State
from reporter.model.status_document import SCHEMA_VERSION, StatusError
from reporter.server.served_document import ServedDocument
from reporter.server.status_v1 import parse_states, parse_wait, with_list


CLUSTER_PATH = "/status/v1/clusters/{cluster}"

CLUSTERS_PER_PART = 100
"""The clusters that are rendered at once: a few milliseconds of the event loop."""


class FleetRequest(Struct, frozen=True):
    """
    A request for all, or for one *cluster*.

    *states*: of the clusters to show. *wait*: seconds to wait for a change.
    """

    cluster: str = ""
    states: Collection[State] = ANY_STATE
    wait: int = 0


def parse_request(path: Mapping[str, str], query: Mapping[str, str]) -> FleetRequest | StatusError:
    """
    Return the request for the fleet, or for one cluster, from the path, ``?state=`` and ``?wait=``.

    A StatusError, for an answer 400, if a state is unknown or the wait is no number of seconds.
    """
    states, wait = parse_states(query.get("state", "")), parse_wait(query.get("wait", "0"))
    if isinstance(states, StatusError):
        return states
    if isinstance(wait, StatusError):
        return wait
    return FleetRequest(path.get("cluster", ""), states, wait)


def find_unavailable(view: FleetView) -> StatusError | None:
    """Return the error for an answer 503 that names the leader; None in the leader itself."""
    if not view.not_leading:
        return None
    return StatusError(schema=SCHEMA_VERSION, error=view.not_leading, remedy="Ask that replica.")


def find_missing(view: FleetView, request: FleetRequest) -> StatusError | None:
    """
    Return the error for an answer 404, of a cluster that the hub does not answer for.

    None for a request for the fleet, and while the clusters are not known.
    """
    if not request.cluster or view.why or request.cluster in view.fleet.clusters:
        return None
    return StatusError(
        schema=SCHEMA_VERSION,
        state=State.NOT_FOUND,
        error=f"the hub does not answer for a cluster {request.cluster}",
        remedy="See GET /status/v1 for those it answers for, and for labels that it left out.",
    )


def revision_of(view: FleetView, request: FleetRequest) -> int:
    """
    Return the revision of the cluster that is asked for, or else of the fleet; ages do not change it.
    """
    record = view.fleet.clusters.get(request.cluster)
    return record.revision if record is not None else view.revision


def render(view: FleetView, request: FleetRequest) -> Generator[bytes, None, None]:
    """
    Yield the fleet document as JSON in parts, of at most CLUSTERS_PER_PART clusters each.

    With the cluster of the request alone, or those in its states.
    """
    names = [request.cluster] if request.cluster else view.names(request.states)
    yield from with_list(view.document(), "clusters", _clusters(view, iter(names)))
    yield b"\n"


def _clusters(view: FleetView, names: Iterator[str]) -> Iterator[Iterator[bytes]]:
    while part := list(islice(names, CLUSTERS_PER_PART)):
        found = [each for each in map(view.cluster, part) if each is not None]
        if found:
            yield iter([b",".join(map(msgspec.json.encode, found))])


FLEET_DOCUMENT = ServedDocument(
    ("/status/v1", CLUSTER_PATH),
    parse_request,
    find_missing,
    revision_of,
    render,
    find_unavailable,
)


def render_diagnosis(
    view: FleetView, identity: str, permissions: Mapping[str, Any]
) -> Iterator[str]:
    """
    Yield ``/status`` as JSON: this process, its queries and what they leave out, without the clusters.
    """
    page = {
        "process": {
            "version": PROGRAM_VERSION,
            "identity": identity,
            "leading": not view.not_leading,
            "permissions": permissions,
        },
        "fleet": msgspec.to_builtins(view.summary()),
    }
    yield json.dumps(page, indent=2) + "\n"
