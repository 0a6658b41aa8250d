"""
What was asked of the API server: its audit log tells by whom, its metrics tell of everybody.
"""

import json
from collections import Counter
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from e2e.controlplane import ControlPlane, Json, reporter_rights
from e2e.support.reporter_process import NAMESPACE


REPORTER = f"system:serviceaccount:{NAMESPACE}:{reporter_rights.NAME}"
READS = ("get", "list", "watch")


class ApiRequest(NamedTuple):
    """
    A verb and what it was about: a resource, or a path that is none.
    """

    verb: str
    resource: str


Requests = Counter[ApiRequest]


class RequestAudit:
    """
    What the reporter asks for from now on. The control plane writes an audit log.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self._log = plane.folder / "audit.log"
        self._at = self._log.stat().st_size

    def take_requests(self) -> Requests:
        """
        The requests since the last call. A watch is counted when it begins.
        """
        with self._log.open("rb") as log:
            log.seek(self._at)
            new = log.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._at += len(whole)
        entries = (json.loads(line) for line in whole.splitlines() if REPORTER.encode() in line)
        return Counter(_request(entry) for entry in entries if _is_one(entry))


def reads(requests: Requests) -> int:
    return sum(count for request, count in requests.items() if request.verb in READS)


def _is_one(entry: Json) -> bool:
    """
    A watch has two entries: one when it began and one when it ended.
    """
    ended_watch = entry["verb"] == "watch" and entry["stage"] == "ResponseComplete"
    return entry["user"]["username"] == REPORTER and not ended_watch


def _request(entry: Json) -> ApiRequest:
    reference = entry.get("objectRef", {})
    path = entry["requestURI"].partition("?")[0]
    resource = "/".join(filter(None, (reference.get("resource"), reference.get("subresource"))))
    return ApiRequest(entry["verb"], resource or path)


def all_requests(plane: ControlPlane) -> Requests:
    """
    All requests since the API server started, its own and those under way left out
    (apiserver_request_total). It does not tell the version, the scope or the outcome.
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
