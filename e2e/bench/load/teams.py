"""
Stacks of any size within a minute: one team is written to the API server and copied in etcd.

The API server needs more than 2 ms of CPU for a write, and 10,000 InferenceSets need 200,000 writes.
So only one team of ten models is written to it, with statuses. Its stored objects are copied in etcd
with other names of the same length and other uids. These are the same bytes that the API server would
have stored, with managed fields and in its own encoding.
"""

import base64
import copy
import http.client
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from e2e.bench.load.vllm_pods import as_vllm
from e2e.controlplane import ApiError, ControlPlane, until
from e2e.support import etcd_objects
from e2e.support.production_stack import workload


MODELS = workload.SETS_OF_A_TEAM
"""Models of a team."""

PODS = 3
"""Pods of a model's Workspace; its endpoint picker has one more."""

_UID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KINDS = (
    *("namespaces", "pods", "services/specs", "deployments"),
    "gateway.networking.k8s.io/gateways",
    *("gateway.networking.k8s.io/httproutes", "networking.istio.io/envoyfilters"),
    *("inference.networking.k8s.io/inferencepools", "kaito.sh/inferencesets"),
    *("kaito.sh/workspaces", "kaito.sh/apikeys"),
)
"""Key prefixes of a team's objects."""


PODS_PATH = "/api/v1/namespaces/{team}/pods"
PATHS = (
    PODS_PATH,
    "/api/v1/namespaces/{team}/services",
    *(
        f"/apis/{root}"
        for root in (
            "apps/v1/namespaces/{team}/deployments",
            "gateway.networking.k8s.io/v1/namespaces/{team}/httproutes",
            "inference.networking.k8s.io/v1/namespaces/{team}/inferencepools",
            "kaito.sh/v1beta1/namespaces/{team}/inferencesets",
            "kaito.sh/v1beta1/namespaces/{team}/workspaces",
        )
    ),
)
CATCH_UP_TEAMS = 20
"""Teams to write before waiting for the API server, which needs minutes if it falls far behind."""

VISIBLE_TIMEOUT = 300
"""Seconds for the API server to catch up."""


@dataclass(frozen=True)
class StoredValue:
    key: bytes
    value: bytes


def team(number: int) -> str:
    return f"team-{number:05}"


def model(of_team: int, number: int) -> str:
    return f"model-{of_team:05}-{number}"


class BenchTeams:
    """The teams of an empty control plane without controllers."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane, self.count, self._revision = plane, 0, 0
        self._first: list[StoredValue] = []

    @property
    def inference_sets(self) -> int:
        return self.count * MODELS

    @property
    def pods(self) -> int:
        """Number of pods of models and endpoint pickers."""
        return self.inference_sets * (PODS + 1)

    def grow(self, inference_sets: int) -> None:
        """Grow to at least *inference_sets*, and wait until the API server serves all objects."""
        team_count = -(-inference_sets // MODELS)
        if not self.count:
            workload.write_all(self._plane, _first_team())
            self._first, self.count = list(self._stored()), 1
        for number in range(self.count, team_count):
            self._copy(number)
            if not number % CATCH_UP_TEAMS:
                self._wait_until_visible(PODS_PATH)
        self.count = max(self.count, team_count)
        self._wait_until_visible(*PATHS)

    def shrink(self, inference_sets: int) -> None:
        """Delete all but *inference_sets*, and at least one team, as one mass deletion."""
        remaining = max(-(-inference_sets // MODELS), 1)
        for number in range(remaining, self.count):
            for deletions in self._deletions_of(number):
                self._write(deletions)
        self.count = min(self.count, remaining)
        self._wait_until_visible(*PATHS)

    def _deletions_of(self, number: int) -> Iterator[list[workload.Json]]:
        """
        Yield the transactions that delete a team, each with at most one object of a kind.

        A watch goes on after a resourceVersion, which no two objects of a kind share: what is left of a
        transaction with more of them would be missed.
        """
        ranges = [{"requestRange": {**each, "keys_only": True}} for each in _ranges(number)]
        answer = etcd_objects.call(self._plane, "txn", {"success": ranges})
        found = [each["response_range"].get("kvs", ()) for each in answer["responses"]]
        for pairs in zip_longest(*found):
            yield [{"requestDeleteRange": {"key": each["key"]}} for each in pairs if each]

    def objects(self) -> int:
        """Return the number of watched objects, without those of the control plane."""
        return self.count * len(self._first)

    def _stored(self) -> Iterator[StoredValue]:
        for each in _ranges(0):
            for found in etcd_objects.call(self._plane, "range", each).get("kvs", ()):
                yield StoredValue(base64.b64decode(found["key"]), base64.b64decode(found["value"]))

    def _copy(self, number: int) -> None:
        puts = [
            {
                "requestPut": {
                    "key": etcd_objects.coded(_renamed(each.key, number)),
                    "value": etcd_objects.coded(_copied(each.value, number)),
                }
            }
            for each in self._first
        ]
        for start in range(0, len(puts), etcd_objects.OPERATIONS):
            self._write(puts[start : start + etcd_objects.OPERATIONS])

    def _write(self, operations: list[workload.Json]) -> None:
        answer = etcd_objects.call(self._plane, "txn", {"success": operations})
        self._revision = int(answer["header"]["revision"])

    def _wait_until_visible(self, *paths: str) -> None:
        """
        Wait until the watch caches have caught up with etcd; until then the response is a 504.
        """
        query = {"resourceVersion": str(self._revision), "resourceVersionMatch": "NotOlderThan"}
        for path in paths:

            def is_visible(path: str = path) -> bool:
                try:
                    self._plane.client.get(path.format(team=team(0)), **query)
                except ApiError as err:
                    if err.status != http.client.GATEWAY_TIMEOUT:
                        raise
                    return False
                return True

            until(is_visible, within=VISIBLE_TIMEOUT, what=f"{path} is as new as etcd")


def _first_team() -> Iterator[workload.Json]:
    cluster, models = workload.example()
    yield from cluster
    written: set[tuple[str, ...]] = set()
    for number in range(MODELS):
        for each in workload.renamed(models, team=team(0), model=model(0, number)):
            if workload.object_key(each) not in written:
                written.add(workload.object_key(each))
                if each["kind"] == "Service":
                    # A copy may not have the address of its original.
                    each["spec"]["clusterIP"] = "None"
                yield from _replicated(each) if _is_model_pod(each) else (each,)


def _is_model_pod(manifest: workload.Json) -> bool:
    labels = manifest["metadata"].get("labels", {})
    return manifest["kind"] == "Pod" and "apps.kubernetes.io/pod-index" in labels


def _replicated(pod: workload.Json) -> Iterator[workload.Json]:
    for index in range(PODS):
        found = copy.deepcopy(as_vllm(pod))
        found["metadata"]["name"] = found["metadata"]["name"][:-1] + str(index)
        found["metadata"]["labels"]["apps.kubernetes.io/pod-index"] = str(index)
        yield found


def _ranges(number: int) -> Iterator[dict[str, str]]:
    """Yield the key ranges of one team."""
    for kind in _KINDS:
        end = "" if kind == "namespaces" else "/"
        first = f"/registry/{kind}/{team(number)}{end}"
        after = first[:-1] + chr(ord(first[-1]) + 1) if end else first + "\0"
        yield {"key": etcd_objects.coded(first), "range_end": etcd_objects.coded(after)}


def _renamed(text: bytes, number: int) -> bytes:
    for prefix in ("team", "model"):
        text = text.replace(f"{prefix}-00000".encode(), f"{prefix}-{number:05}".encode())
    return text


def _copied(value: bytes, number: int) -> bytes:
    """
    Copy a stored value. A uid becomes the same new uid everywhere, so that references stay valid.
    """
    space = uuid.UUID(int=number)
    return _UID.sub(
        lambda found: str(uuid.uuid5(space, found[0].decode())).encode(), _renamed(value, number)
    )
