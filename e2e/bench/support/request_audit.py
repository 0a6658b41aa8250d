"""Counts of API requests: the reporter's by the audit log, those of all clients by metrics."""

import datetime as dt
import json
from collections import Counter
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from e2e.controlplane import ControlPlane, Json, reporter_rights
from e2e.support.reporter_process import NAMESPACE


REPORTER = f"system:serviceaccount:{NAMESPACE}:{reporter_rights.NAME}"
READS = ("get", "list", "watch")


class ApiRequest(NamedTuple):
    """A verb with its resource, or with its path if it has no resource."""

    verb: str
    resource: str


Requests = Counter[ApiRequest]


class RequestAudit:
    """Counts the reporter's requests from now on. The control plane must write an audit log."""

    def __init__(self, plane: ControlPlane) -> None:
        self._log = plane.folder / "audit.log"
        self._offset = self._log.stat().st_size

    def take_requests(self) -> Requests:
        """Return the requests since the last call. A watch counts when it begins."""
        return Counter(_request(entry) for entry in self.take_entries())

    def take_entries(self) -> list[Json]:
        """Return the entries of the requests since the last call."""
        with self._log.open("rb") as log:
            log.seek(self._offset)
            new = log.read()
        complete = new[: new.rfind(b"\n") + 1]
        self._offset += len(complete)
        entries = (json.loads(line) for line in complete.splitlines() if REPORTER.encode() in line)
        return [entry for entry in entries if _counts(entry)]


def received_at(entry: Json) -> float:
    """Return the Unix time at which the API server received a request."""
    return dt.datetime.fromisoformat(entry["requestReceivedTimestamp"]).timestamp()


def reads(requests: Requests) -> int:
    return sum(count for request, count in requests.items() if request.verb in READS)


def _counts(entry: Json) -> bool:
    """Return whether an entry counts as a request; the end of a watch is a second entry of it."""
    ended_watch = entry["verb"] == "watch" and entry["stage"] == "ResponseComplete"
    return entry["user"]["username"] == REPORTER and not ended_watch


def _request(entry: Json) -> ApiRequest:
    reference = entry.get("objectRef", {})
    path = entry["requestURI"].partition("?")[0]
    resource = "/".join(filter(None, (reference.get("resource"), reference.get("subresource"))))
    return ApiRequest(entry["verb"], resource or path)


def all_requests(plane: ControlPlane) -> Requests:
    """
    Return all finished requests since the API server started, by apiserver_request_total.

    Versions, scopes and response codes are summed up.
    """
    found: Requests = Counter()
    for family in text_string_to_metric_families(plane.client.raw("GET", "/metrics")):
        if family.name == "apiserver_request":
            for sample in family.samples:
                if sample.name == "apiserver_request_total":
                    labels = sample.labels
                    found[ApiRequest(labels["verb"].lower(), labels["resource"])] += int(
                        sample.value
                    )
    return found
