"""One reading of a cluster, and of a dump of the same cluster, over real sockets."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from devcluster.example.stack import manifests
from devcluster.server import DevCluster
from reporter.evaluation.evaluation import Evaluation
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.kube.errors import KubeError
from reporter.model.enums import Reason
from reporter.model.states import State
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey
from reporter.process.clock import Clock
from reporter.settings.errors import ConfigurationError
from reporter.status.observations import Observations
from reporter.status.one_shot import OneShotStatus
from reporter.status.one_shot_cluster import read_cluster, read_reported
from reporter.status.source import Target
from tests.integration.status.single_look import evaluate_once, observe_once
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.settings import settings
from tests.support.status_objects import CRD


MODEL_POD = ("pods", "team-a", "qwen-7rk2p-0")
KAITO = ("deployments.apps", "kaito-system", "kaito-workspace")
SETTINGS = settings()
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DevCluster]:
    async with DevCluster() as server:
        server.load_example_stack()
        yield server


@pytest_asyncio.fixture
async def api(server: DevCluster, tmp_path: Path) -> AsyncIterator[RestClient]:
    api = await connect(str(server.write_kubeconfig(tmp_path / "kubeconfig")), environ={})
    yield api
    await api.close()


async def read(api: RestClient, **more) -> Observations:
    return await read_cluster(api, SETTINGS, DEFAULT_CATALOGUE, Clock(), **more)


def evaluated(observations: Observations) -> Evaluation:
    return evaluate_once(observations, SETTINGS, DEFAULT_CATALOGUE)


def troubles(evaluation: Evaluation) -> set[str]:
    """Return the reasons with trouble, held or not."""
    return {
        key.reason for key, state in evaluation.tracked.finding_states.items() if state.troubles
    }


def findings(evaluation: Evaluation) -> set[str]:
    return {
        key.reason for key, state in evaluation.tracked.finding_states.items() if state.past_hold
    }


def unknown(evaluation: Evaluation) -> set[str]:
    return {key.reason for key in evaluation.tracked.unknown_states}


def a_dump(folder: Path, objects: list[dict], name: str = "dump.json") -> str:
    path = folder / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return str(path)


def example() -> list[dict]:
    """Return the objects of an hour-old stack, and an Event of now, as a dump has many."""
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "scheduled.1", "namespace": "team-a"},
        "lastTimestamp": NOW.isoformat(),
    }
    return [*manifests(NOW), event]


def from_dump(path: str) -> Observations:
    return observe_once(path, SETTINGS, DEFAULT_CATALOGUE, now=NOW + timedelta(days=30))


# ------------------------------------------------------------ a cluster


async def test_a_healthy_cluster_has_no_finding_and_all_of_it_is_read(api: RestClient):
    observations = await read(api)
    assert observations.notes == ()
    assert findings(evaluated(observations)) == set()
    assert len(evaluated(observations).subjects) == 3


async def test_each_kind_is_read_once_and_nothing_is_written(server: DevCluster, api: RestClient):
    await read(api)
    assert {method for method, _ in server.requests} == {"GET"}
    lists = [path for _, path in server.requests if path.partition("?")[0].count("/") > 2]
    assert len(lists) == len(set(lists))
    assert not any("watch=" in path for path in lists)


async def test_progress_ends_at_the_number_of_kinds(api: RestClient):
    seen: list[tuple[int, int]] = []
    await read(api, on_progress=lambda done, total: seen.append((done, total)))
    total = seen[-1][1]
    assert seen == [(number, total) for number in range(1, total + 1)]


async def test_a_component_that_is_out_is_found_at_once(server: DevCluster, api: RestClient):
    server.cluster.patch(*KAITO, {"spec": {"replicas": 0}})
    assert findings(evaluated(await read(api))) >= {"clusterKaitoControllerNotReady"}


async def test_what_may_not_be_listed_is_unknown_and_named(server: DevCluster, api: RestClient):
    server.deny("list", "apps", "deployments")
    observations = await read(api)
    assert observations.notes == ("deployments.apps: may not list deployments.apps",)
    assert "clusterKaitoControllerNotReady" in unknown(evaluated(observations))
    assert findings(evaluated(observations)) == set()


async def test_an_api_server_that_lets_nothing_be_read_is_an_error(
    server: DevCluster, api: RestClient
):
    server.deny("list")
    with pytest.raises(KubeError):
        await read(api)


async def test_a_crd_that_two_discoveries_lack_is_missing(server: DevCluster, api: RestClient):
    server.cluster.delete(
        "customresourcedefinitions.apiextensions.k8s.io", "", "inferencesets.kaito.sh"
    )
    assert "clusterCRDMissing" in troubles(evaluated(await read(api)))
    assert [path for _, path in server.requests].count("/apis") == 2


async def test_a_group_that_cannot_be_discovered_is_unknown_and_not_missing(
    server: DevCluster, api: RestClient
):
    server.stale_groups.add("kaito.sh")
    observations = await read(api)
    assert "clusterCRDMissing" not in findings(evaluated(observations))
    assert any(note.startswith("inferencesets.kaito.sh: ") for note in observations.notes)


# ------------------------------------------------------------ a dump


def served(server: DevCluster) -> list[str]:
    """Return the resources of the objects in the example stack."""
    crds = server.cluster.list("customresourcedefinitions.apiextensions.k8s.io")
    built_in = ["namespaces", "nodes", "pods", "services", "deployments.apps", "replicasets.apps"]
    names = [each["metadata"]["name"] for each in crds]
    return [*built_in, *names, "customresourcedefinitions.apiextensions.k8s.io"]


def without(objects: list[dict], **fields: str) -> list[dict]:
    """Leave out the objects of a kind or namespace."""
    kind, namespace = fields.get("kind", ""), fields.get("namespace", "")
    return [
        each
        for each in objects
        if each["kind"] != kind and each["metadata"].get("namespace", "-") != namespace
    ]


def test_a_dump_is_evaluated_as_of_the_newest_time_in_it(tmp_path: Path):
    observations = from_dump(a_dump(tmp_path, example()))
    assert observations.at == NOW
    assert findings(evaluated(observations)) == set()


def test_trouble_in_a_dump_is_found(tmp_path: Path):
    objects = example()
    for each in objects:
        if each["kind"] == "Deployment" and each["metadata"]["name"] == "kaito-workspace":
            each["spec"]["replicas"] = 0
    found = findings(evaluated(from_dump(a_dump(tmp_path, objects))))
    assert found == {"clusterKaitoControllerNotReady"}


def test_a_dump_without_a_system_namespace_accuses_nobody(tmp_path: Path):
    observations = from_dump(a_dump(tmp_path, without(example(), namespace="kaito-system")))
    why = "deployments.apps: the dump has nothing of namespace kaito-system"
    assert why in observations.notes
    assert findings(evaluated(observations)) == set()
    assert "clusterKaitoControllerNotReady" in unknown(evaluated(observations))


def test_a_kind_that_was_not_dumped_is_unknown_and_not_absent(tmp_path: Path):
    observations = from_dump(a_dump(tmp_path, without(example(), kind="Gateway")))
    assert "gateways.gateway.networking.k8s.io: it is not in the dump" in observations.notes
    assert findings(evaluated(observations)) == set()
    assert unknown(evaluated(observations)) >= {"modelharnessGatewayProgrammingFailed"}


def test_a_crd_that_the_dump_lacks_among_others_is_missing(tmp_path: Path):
    objects = [
        each
        for each in without(example(), kind="InferenceSet")
        if each["metadata"]["name"] != "inferencesets.kaito.sh"
    ]
    assert "clusterCRDMissing" in troubles(evaluated(from_dump(a_dump(tmp_path, objects))))


def test_a_dump_without_any_crd_tells_nothing_about_them(tmp_path: Path):
    objects = without(example(), kind="CustomResourceDefinition")
    observations = from_dump(a_dump(tmp_path, objects))
    assert "clusterCRDMissing" in unknown(evaluated(observations))
    assert findings(evaluated(observations)) == set()


def test_a_workload_namespace_without_any_object_is_named_and_not_judged(tmp_path: Path):
    label = {"productionstack.kaito.sh/managed-by": "modelharness"}
    other = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "team-z", "labels": label},
    }
    observations = from_dump(a_dump(tmp_path, [*example(), other]))
    assert "namespace team-z: nothing of it is in the dump" in observations.notes
    assert "team-z" not in {each.namespace for each in evaluated(observations).subjects}


def test_files_that_cannot_be_read_are_named(tmp_path: Path):
    a_dump(tmp_path, example())
    (tmp_path / "broken.yaml").write_text("kind: ]\n\nmetadata:\n")
    (note,) = (n for n in from_dump(str(tmp_path)).notes if "broken.yaml" in n)
    assert note.startswith(f"{tmp_path}/broken.yaml was not read: line 1 is not YAML: ")


def test_a_dump_without_anything_to_evaluate_is_refused_with_what_to_do(tmp_path: Path):
    path = a_dump(tmp_path, [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}])
    with pytest.raises(
        ConfigurationError, match=r"1 objects, none of a kind .*; write one with .* dump"
    ):
        from_dump(path)


async def test_a_dump_of_a_cluster_and_the_cluster_give_the_same(
    server: DevCluster, api: RestClient, tmp_path: Path
):
    server.cluster.patch(*KAITO, {"spec": {"replicas": 0}})
    live = evaluated(await read(api))
    objects = [each for resource in served(server) for each in server.cluster.list(resource)]
    a_dump(tmp_path, objects)
    # Of a kind without objects, a typed list says so.
    empty = {"apiVersion": "cilium.io/v2", "kind": "CiliumNetworkPolicyList", "items": []}
    (tmp_path / "policies.json").write_text(json.dumps(empty))
    dumped = evaluated(observe_once(str(tmp_path), SETTINGS, DEFAULT_CATALOGUE, now=Clock().now()))
    assert dumped.subjects == live.subjects
    assert findings(dumped) == findings(live)
    assert unknown(dumped) == unknown(live)


async def test_who_may_read_one_namespace_alone_sees_its_models_and_nothing_wrong(
    server: DevCluster, api: RestClient
):
    server.deny("list", namespace="")
    everything = await read_nothing(api)
    assert everything
    found = await read(api, namespace="team-a")
    (note,) = found.notes
    assert note.startswith("only namespace team-a may be read")
    evaluation = evaluated(found)
    assert not troubles(evaluation)
    bbr = FindingKey(CLUSTER_SUBJECT, Reason("clusterBBRNotReady"))
    assert "in namespace team-a alone" in evaluation.tracked.unknown_states[bbr].why
    answer = OneShotStatus(SETTINGS, DEFAULT_CATALOGUE).answer(found, Target("team-a"))
    assert answer.namespace is not None
    (model,) = answer.namespace.inference_sets
    assert (model.state, model.replicas.ready, model.available) == (State.CURRENT, 1, None)
    assert model.not_available.reason == "clusterGatewayAuthNotReady"


async def read_nothing(api: RestClient) -> bool:
    """Return whether the whole cluster cannot be read."""
    try:
        await read(api)
    except KubeError:
        return True
    return False


async def test_trouble_in_the_one_namespace_that_may_be_read_is_seen(
    server: DevCluster, api: RestClient
):
    server.cluster.delete(*MODEL_POD)
    server.deny("list", namespace="")
    found = await read(api, namespace="team-a")
    assert "inferencesetModelPodsNotReady" in troubles(evaluated(found))


EXPIRED = NOW + timedelta(minutes=15)


async def test_what_a_reporter_says_in_the_namespace_is_told_where_the_control_plane_is_not_seen(
    server: DevCluster, api: RestClient
):
    said = {
        "observedGeneration": 1,
        "lastEvaluationTime": "2026-11-22T12:00:00Z",
        "expirationTime": "2026-11-22T12:15:00Z",
        "conditions": [
            {"type": "Available", "status": "False", "message": "qwen: clusterBBRNotReady: out."}
        ],
    }
    server.cluster.upsert(CRD)
    server.cluster.upsert(
        {
            "apiVersion": "reporter.productionstack.kaito.sh/v1alpha1",
            "kind": "ProductionStackStatus",
            "metadata": {"name": "package", "namespace": "team-a"},
            "status": said,
        },
    )
    assert list(await read_reported(api, "team-a", now=NOW)) == [
        (
            "by ProductionStackStatus package of a reporter: not available (qwen:"
            " clusterBBRNotReady: out.), evaluated at 2026-11-22T12:00:00Z"
        )
    ]
    (told,) = await read_reported(api, "team-a", now=EXPIRED)
    assert told.endswith(
        "availability unknown, as nobody has renewed what was evaluated at 2026-11-22T12:00:00Z"
    )
    server.deny("list", "reporter.productionstack.kaito.sh")
    assert list(await read_reported(api, "team-a", now=NOW)) == []


async def test_the_warnings_of_a_reporter_in_the_namespace_are_told_while_they_are_recent(
    server: DevCluster, api: RestClient
):
    def an_event(name: str, at: str, **changes: object) -> dict[str, object]:
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": "team-a"},
            "type": "Warning",
            "reason": "modelharnessGatewayDataPlaneNotReady",
            "message": "Namespace team-a: the proxy is out.",
            "source": {"component": "productionstack-status-reporter"},
            "involvedObject": {"kind": "Gateway", "name": "team-a-gw", "namespace": "team-a"},
            "lastTimestamp": at,
            **changes,
        }

    recent, old = "2026-11-22T11:58:00Z", "2026-11-22T11:30:00Z"
    for each in (
        an_event("a", recent),
        an_event("b", old, reason="old"),
        an_event("c", recent, type="Normal", reason="modelharnessReady"),
        an_event("d", recent, source={"component": "kubelet"}, reason="other"),
        an_event("e", recent, lastTimestamp=None, reason="undated"),
    ):
        server.cluster.upsert(each)
    assert list(await read_reported(api, "team-a", now=NOW)) == [
        (
            "by an Event of a reporter: modelharnessGatewayDataPlaneNotReady of Gateway team-a-gw:"
            " Namespace team-a: the proxy is out."
        )
    ]
    server.deny("list", resource="events")
    assert list(await read_reported(api, "team-a", now=NOW)) == []
