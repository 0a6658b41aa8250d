"""The command check about clusters that it reads itself, and about dumps."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from devcluster.example.stack import manifests
from devcluster.server import DevCluster
from tests.integration.status.asking import Ended, ask, scale_to_zero, server


__all__ = ["server"]

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def two_contexts(folder: Path, one: DevCluster, other: DevCluster) -> Path:
    """Write a kubeconfig with the contexts eu and us."""
    both = {
        name: yaml.safe_load(each.write_kubeconfig(folder / name).read_text())
        for name, each in (("eu", one), ("us", other))
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "eu",
        "clusters": [
            {"name": name, "cluster": each["clusters"][0]["cluster"]}
            for name, each in both.items()
        ],
        "users": [{"name": name, "user": each["users"][0]["user"]} for name, each in both.items()],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in both],
    }
    path = folder / "both.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


async def check(server: DevCluster, folder: Path, *argv: str) -> Ended:
    config = server.write_kubeconfig(folder / "kubeconfig")
    return await ask("check", f"--kubeconfig={config}", *argv)


async def test_a_healthy_cluster_ends_with_zero_and_nothing_is_written(
    server: DevCluster, tmp_path: Path
):
    ended = await check(server, tmp_path)
    assert ended.code == 0
    assert [line.split() for line in ended.out.splitlines()] == [
        ["NAME", "STATE", "BLOCKED", "BY"],
        ["cluster", "Ready", "-"],
        ["team-a", "Ready", "-"],
        ["team-a/qwen", "Ready", "-"],
    ]
    assert {method for method, _ in server.requests} == {"GET"}


async def test_trouble_ends_with_its_code_unless_nothing_fails(server: DevCluster, tmp_path: Path):
    scale_to_zero(server)
    ended = await check(server, tmp_path)
    assert ended.code == 4
    assert "clusterKaitoControllerNotReady" in ended.out
    assert (await check(server, tmp_path, "team-a")).code == 0
    assert (await check(server, tmp_path, "--fail-on=never")).code == 0


async def test_junit_has_a_case_for_each_subject(server: DevCluster, tmp_path: Path):
    scale_to_zero(server)
    ended = await check(server, tmp_path, "-o", "junit")
    suite = ET.fromstring(ended.out.encode()).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    failure = suite.find("testcase[@name='cluster']/failure")
    assert failure is not None
    assert failure.get("message") == "Failed: clusterKaitoControllerNotReady"
    assert "kaito-system/kaito-workspace is scaled to zero" in (failure.text or "")


async def test_status_has_the_same_cases_and_codes(server: DevCluster, tmp_path: Path):
    scale_to_zero(server)
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    asked = ("status", f"--kubeconfig={config}", "--from=cluster", "-o", "junit")
    ended = await ask(*asked, "--exit-code")
    checked = await check(server, tmp_path, "-o", "junit")
    assert (ended.code, ended.out) == (checked.code, checked.out) == (4, checked.out)
    assert (await ask(*asked)).code == 0


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("--watch", "--watch: does not go with --output=junit"),
        ("--history", "--history: does not go with --output=junit"),
        ("-A", "--all-namespaces: does not go with --output=junit"),
        ("--from=hub", "--output=junit: does not apply to --from=hub"),
    ],
)
async def test_what_has_no_cases_is_refused(flag: str, why: str):
    ended = await ask("status", "-o", "junit", flag)
    assert (ended.code, ended.out) == (2, "")
    assert why in ended.err


ROUTER = ("deployments.apps", "kaito-system", "body-based-router")


async def test_a_model_that_no_request_reaches_fails_alone(server: DevCluster, tmp_path: Path):
    server.cluster.patch(*ROUTER, {"spec": {"replicas": 0}})
    ended = await check(server, tmp_path, "team-a", "-o", "junit")
    suite = ET.fromstring(ended.out.encode()).find("testsuite")
    assert suite is not None
    assert (ended.code, suite.get("tests"), suite.get("failures")) == (4, "2", "1")
    failure = suite.find("testcase[@name='team-a/qwen']/failure")
    assert failure is not None
    assert failure.get("message") == "not available: clusterBBRNotReady"


async def test_several_contexts_are_side_by_side(server: DevCluster, tmp_path: Path):
    async with DevCluster() as other:
        other.load_example_stack()
        scale_to_zero(other)
        config = two_contexts(tmp_path, server, other)
        both = (f"--kubeconfig={config}", "--context=eu", "--context", "us")
        ended = await ask("check", *both)
        assert ended.code == 4
        head, cluster, team, _ = (line.split() for line in ended.out.splitlines())
        assert head == ["NAME", "eu", "BLOCKED", "BY", "us", "BLOCKED", "BY"]
        assert cluster == ["cluster", "Ready", "-", "Failed", "clusterKaitoControllerNotReady"]
        assert team == ["team-a", "Ready", "-", "Ready", "-"]
        document = json.loads((await ask("check", *both, "-o", "json")).out)
        states = {
            each["context"]: each["status"]["cluster"]["state"] for each in document["contexts"]
        }
        assert states == {"eu": "Current", "us": "Failed"}


async def test_a_cluster_that_does_not_answer_is_no_healthy_one(
    server: DevCluster, tmp_path: Path
):
    async with DevCluster() as other:
        config = two_contexts(tmp_path, server, other)
    both = (f"--kubeconfig={config}", "--context=eu", "--context=us")
    ended = await ask("check", *both, "--fail-on=never")
    assert ended.code == 1
    assert ended.out.splitlines()[1].split() == ["cluster", "Ready", "-", "no", "answer", "-"]
    assert "us: the API server cannot be asked" in ended.err
    suite = ET.fromstring((await ask("check", *both, "-o", "junit")).out.encode())
    assert suite.find("testsuite/testcase[@classname='us']/error") is not None


async def test_what_cannot_be_listed_fails(server: DevCluster, tmp_path: Path):
    server.deny("list", "kaito.sh", "inferencesets")
    ended = await check(server, tmp_path, "-o", "junit")
    assert ended.code == 5
    suite = ET.fromstring(ended.out.encode())
    assert suite.find("testsuite/testcase[@name='layer modeldeployment']/failure") is not None


async def test_a_dump_is_evaluated(tmp_path: Path):
    dump = tmp_path / "dump.yaml"
    dump.write_text(yaml.safe_dump_all(manifests(NOW)))
    ended = await ask("check", f"--from={dump}", "-o", "json", "--fail-on=never")
    assert ended.code == 0, ended.err
    (found,) = json.loads(ended.out)["contexts"]
    assert found["context"] == str(dump)
    assert found["status"]["mode"] == "oneShot"


async def test_a_dump_is_evaluated_with_another_pack(tmp_path: Path):
    dump = tmp_path / "dump.yaml"
    dump.write_text(yaml.safe_dump_all(SERVICE))
    asked = ("check", f"--from={dump}", "--packs=kserve")
    ended = await ask(*asked, "--at=2026-01-02T00:00:00Z")
    assert ended.code == 3, "one reading holds trouble whose beginning no object states"
    assert [line.split() for line in ended.out.splitlines()[1:]] == [
        ["cluster", "Ready", "-"],
        ["team-a", "Progressing", "inferenceserviceSpecInvalid"],
        ["team-a/InferenceService/llama", "Progressing", "inferenceserviceSpecInvalid"],
    ]
    ended = await ask(*asked, "team-a/InferenceService/llama", "-o", "junit")
    suite = ET.fromstring(ended.out.encode()).find("testsuite")
    assert suite is not None
    names = [case.get("name") for case in suite.iter("testcase")]
    assert names == ["team-a", "team-a/InferenceService/llama"]
    subject = ("--packs=kserve", "team-a/InferenceService/llama")
    ended = await ask("status", f"--from=file:{dump}", *subject)
    assert ended.out.startswith("InferenceService: team-a/llama\n")


SERVICE: list[dict[str, Any]] = [
    {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "team-a", "creationTimestamp": "2026-01-01T00:00:00Z"},
    },
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "kserve-controller-manager", "namespace": "kserve"},
        "status": {"availableReplicas": 1},
    },
    {"apiVersion": "v1", "kind": "PodList", "items": []},
    {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": "llama",
            "namespace": "team-a",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {},
        "status": {
            "modelStatus": {"transitionStatus": "InvalidSpec"},
            "conditions": [
                {"type": each, "status": "True"} for each in ("PredictorReady", "IngressReady")
            ],
        },
    },
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "inferenceservices.serving.kserve.io"},
        "spec": {
            "group": "serving.kserve.io",
            "names": {"plural": "inferenceservices", "kind": "InferenceService"},
            "versions": [{"name": "v1beta1", "served": True}],
        },
    },
]


async def test_one_reading_judges_trouble_of_a_pack_by_the_times_of_its_conditions(tmp_path: Path):
    dump = tmp_path / "dump.yaml"
    dump.write_text(
        yaml.safe_dump_all([*GATEWAYS, a_gateway("old", "01"), a_gateway("new", "02")])
    )
    asked = ("check", f"--from={dump}", "--packs=gateway-api", "--at=2026-01-02T00:03:00Z")
    ended = await ask(*asked, "--fail-on=never")
    rows = {line.split()[0]: line.split()[1:] for line in ended.out.splitlines()}
    assert rows["team-a/Gateway/old"] == ["Failed", "gatewayListenerNotResolved"]
    assert rows["team-a/Gateway/new"] == ["Progressing", "gatewayListenerNotResolved"]
    assert (await ask(*asked)).code == 4


def a_gateway(name: str, day: str) -> dict[str, object]:
    """Return a Gateway without a certificate since the beginning of a day."""
    at = {"lastTransitionTime": f"2026-01-{day}T00:00:00Z", "message": ""}
    accepted, programmed = (
        {"type": each, "status": "True", "reason": each, **at}
        for each in ("Accepted", "Programmed")
    )
    missing = {"type": "ResolvedRefs", "status": "False", "reason": "InvalidCertificateRef", **at}
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {
            "name": name,
            "namespace": "team-a",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {},
        "status": {
            "conditions": [accepted, programmed],
            "listeners": [{"name": "https", "conditions": [missing]}],
        },
    }


GATEWAYS = [
    SERVICE[0],
    {"apiVersion": "v1", "kind": "ServiceList", "items": []},
    *(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.gateway.networking.k8s.io"},
            "spec": {
                "group": "gateway.networking.k8s.io",
                "names": {"plural": plural, "kind": kind},
                "versions": [{"name": "v1", "served": True}],
            },
        }
        for plural, kind in (
            ("gateways", "Gateway"),
            ("gatewayclasses", "GatewayClass"),
            ("httproutes", "HTTPRoute"),
        )
    ),
]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["-o", "yaml"], "--output=yaml: must be one of table, json, junit"),
        (["--fail-on=error"], "--fail-on=error: must be one of warning, never"),
        (["--from=dump.yaml", "--context=a", "--context=b"], "a dump is of one cluster"),
        (["--from=none.yaml"], "reporter: none.yaml: no such file or folder\n"),
        (["a", "b"], "unexpected argument 'b'"),
    ],
)
async def test_a_command_line_that_is_refused_ends_with_two(argv: list[str], expected: str):
    ended = await ask("check", *argv)
    assert (ended.code, ended.out) == (2, "")
    assert expected in ended.err


async def test_an_unknown_context_is_named(server: DevCluster, tmp_path: Path):
    config = two_contexts(tmp_path, server, server)
    ended = await ask("check", f"--kubeconfig={config}", "--context=asia", "--context=eu")
    assert ended.code == 2
    assert "asia" in ended.err
