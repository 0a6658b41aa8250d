"""
A stack of any size within a minute: one team is written to the API server, the others are its copies.

The API server takes more than 2 ms of a processor for each write, of which 10,000 InferenceSets would
need 200,000. So a team of ten models is written to it, statuses included, and what it has stored of
that is written to etcd again and again, with other names of the same length and other uids: the same
bytes that it would have stored itself, with managed fields, in its own encoding.
"""

import base64
import copy
import http.client
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from e2e.bench.load.vllm_pods import as_vllm
from e2e.controlplane import ApiError, ControlPlane, until
from e2e.support import etcd_objects
from e2e.support.production_stack import workload


MODELS = workload.SETS_OF_A_TEAM
"""
Of each team.
"""

PODS = 3
"""
Of each model, all of one Workspace; with its endpoint picker's there are four.
"""

_UID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KINDS = (
    *("namespaces", "pods", "deployments", "gateway.networking.k8s.io/gateways"),
    *("gateway.networking.k8s.io/httproutes", "networking.istio.io/envoyfilters"),
    *("inference.networking.k8s.io/inferencepools", "kaito.sh/inferencesets"),
    *("kaito.sh/workspaces", "kaito.sh/apikeys"),
)
"""
Under which keys a team's objects are; Services are not watched and not copied.
"""


PODS_PATH = "/api/v1/namespaces/{team}/pods"
PATHS = (
    PODS_PATH,
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
PAUSE = 20
"""
Teams after which the API server may catch up: one that falls far behind takes minutes.
"""

VISIBLE_TIMEOUT = 300
"""
Seconds for that.
"""


@dataclass(frozen=True)
class StoredValue:
    key: bytes
    value: bytes


def team(number: int) -> str:
    return f"team-{number:05}"


def model(of_team: int, number: int) -> str:
    return f"model-{of_team:05}-{number}"


class BenchTeams:
    """
    On a control plane without controllers, on which nothing else of the example is.
    """

    def __init__(self, plane: ControlPlane) -> None:
        self._plane, self.count, self._revision = plane, 0, 0
        self._first: list[StoredValue] = []

    @property
    def inference_sets(self) -> int:
        return self.count * MODELS

    @property
    def pods(self) -> int:
        """
        Of models and their endpoint pickers.
        """
        return self.inference_sets * (PODS + 1)

    def grow(self, inference_sets: int) -> None:
        """
        To at least so many; what is there stays. Returns when the API server shows all.
        """
        wanted = -(-inference_sets // MODELS)
        if not self.count:
            workload.write_all(self._plane, _first_team())
            self._first, self.count = list(self._stored()), 1
        for number in range(self.count, wanted):
            self._copy(number)
            if not number % PAUSE:
                self._until_shown(PODS_PATH)
        self.count = max(self.count, wanted)
        self._until_shown(*PATHS)

    def shrink(self, inference_sets: int) -> None:
        """
        To so many and at least one team's, as one mass deletion.
        """
        kept = max(-(-inference_sets // MODELS), 1)
        for number in range(kept, self.count):
            ranges = [{"requestDeleteRange": each} for each in _ranges(number)]
            self._write(ranges)
        self.count = min(self.count, kept)
        self._until_shown(*PATHS)

    def objects(self) -> int:
        """
        That the reporter watches, without the cluster's own.
        """
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

    def _until_shown(self, *paths: str) -> None:
        """
        The caches of the API server follow etcd, each on its own; until then it answers 504.
        """
        query = {"resourceVersion": str(self._revision), "resourceVersionMatch": "NotOlderThan"}
        for path in paths:

            def shown(path: str = path) -> bool:
                try:
                    self._plane.client.get(path.format(team=team(0)), **query)
                except ApiError as err:
                    if err.status != http.client.GATEWAY_TIMEOUT:
                        raise
                    return False
                return True

            until(shown, within=VISIBLE_TIMEOUT, what=f"{path} is as new as etcd")


def _first_team() -> Iterator[workload.Json]:
    cluster, models = workload.example()
    yield from cluster
    written: set[tuple[str, ...]] = set()
    for number in range(MODELS):
        for each in workload.renamed(models, team=team(0), model=model(0, number)):
            if workload.object_key(each) not in written and each["kind"] != "Service":
                written.add(workload.object_key(each))
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
    """
    Of the keys of one team.
    """
    for kind in _KINDS:
        end = "" if kind == "namespaces" else "/"
        first = f"/registry/{kind}/{team(number)}{end}"
        after = first[:-1] + chr(ord(first[-1]) + 1) if end else first + "\0"
        yield {"key": etcd_objects.coded(first), "range_end": etcd_objects.coded(after)}


def _renamed(text: bytes, number: int) -> bytes:
    for named in ("team", "model"):
        text = text.replace(f"{named}-00000".encode(), f"{named}-{number:05}".encode())
    return text


def _copied(value: bytes, number: int) -> bytes:
    """
    What belongs together goes on to: a uid is renamed alike wherever it stands.
    """
    space = uuid.UUID(int=number)
    return _UID.sub(
        lambda found: str(uuid.uuid5(space, found[0].decode())).encode(), _renamed(value, number)
    )
