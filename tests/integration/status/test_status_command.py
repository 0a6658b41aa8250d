"""The command status about a cluster that it reads itself, and about dumps."""

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
import yaml

from devcluster.example.stack import manifests
from devcluster.server import DevCluster
from reporter.model.status_document import StatusDocument
from tests.integration.status.asking import (
    INFERENCE_SET,
    MODEL_POD,
    ask,
    ask_about,
    scale_to_zero,
    server,
    wait_for,
)


__all__ = ["server"]

NOW = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)


async def test_an_overview_names_what_blocks_and_who_acts(server: DevCluster, tmp_path: Path):
    scale_to_zero(server)
    ended = await ask_about(server, tmp_path, "status", "--from=cluster")
    assert ended.code == 0
    head, cluster, team = ended.out.splitlines()
    columns = ["NAME", "STATE", "READY", "AVAILABLE", "FOR", "ACTS", "BLOCKED", "BY", "MESSAGE"]
    assert head.split() == columns
    # A single reading does not know since when.
    assert cluster.split()[:6] == ["cluster", "Failed", "-", "1/1", "-", "platform"]
    assert cluster.split()[6] == "clusterKaitoControllerNotReady"
    assert cluster.endswith("Deployment kaito-system/kaito-workspace is scaled to zero replicas.")
    assert team.split()[:4] == ["team-a", "Ready", "1/1", "1/1"]
    assert "\x1b" not in ended.out + ended.err


async def test_nothing_is_written_to_the_cluster(server: DevCluster, tmp_path: Path):
    await ask_about(server, tmp_path, "status", "--from=cluster")
    assert {method for method, _ in server.requests} == {"GET"}


async def test_what_was_not_judged_and_not_read_is_on_standard_error(
    server: DevCluster, tmp_path: Path
):
    server.deny("list", "gateway.networking.k8s.io", "gateways")
    ended = await ask_about(server, tmp_path, "status", "--from=cluster", "-o", "json")
    assert "gateways.gateway.networking.k8s.io: may not list" in ended.err
    assert "reasons are not judged: only a reporter reads metrics pages" in ended.err
    document = msgspec.json.decode(ended.out, type=StatusDocument)
    assert document.mode == "oneShot"
    assert "inferencesetEngineStalled" in {each.reason for each in document.not_judged}
    assert document.namespaces[0].harness.state == "Unknown"


async def test_one_inference_set_is_shown_at_length(server: DevCluster, tmp_path: Path):
    ended = await ask_about(server, tmp_path, "status", "-n", "team-a", "qwen", "--from=cluster")
    assert ended.code == 0
    assert ended.out.splitlines()[:3] == [
        "InferenceSet:  team-a/qwen",
        "State:         Ready",
        "Replicas:      1 of 1 ready, - updated",
    ]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["status", "-o", "name"], ["cluster", "team-a"]),
        (["status", "team-a", "-o", "name"], ["team-a", "team-a/qwen"]),
        (["status", "-A", "-o", "name"], ["team-a/qwen"]),
        (["status", "team-a/qwen", "-o", "name"], ["team-a/qwen"]),
        (["status", "cluster", "-o", "name"], ["cluster"]),
    ],
    ids=" ".join,
)
async def test_names_are_those_that_the_commands_take(
    server: DevCluster, tmp_path: Path, argv, expected
):
    ended = await ask_about(server, tmp_path, *argv, "--from=cluster")
    assert ended.out.splitlines() == expected


async def test_yaml_and_json_have_the_same_document(server: DevCluster, tmp_path: Path):
    found = []
    for form, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        ended = await ask_about(server, tmp_path, "status", "team-a", "-o", form, "--from=cluster")
        document = read(ended.out)
        document.pop("evaluatedAt")
        found.append(document)
    assert found[0] == found[1]
    assert found[0]["namespaces"][0]["inferenceSets"][0]["name"] == "qwen"


async def test_the_exit_code_is_that_of_the_worst_state_if_asked_for(
    server: DevCluster, tmp_path: Path
):
    async def code(*argv: str) -> int | None:
        ended = await ask_about(server, tmp_path, "status", "--from=cluster", *argv)
        return ended.code

    assert await code("--exit-code") == 0
    scale_to_zero(server)
    assert [await code(), await code("--exit-code")] == [0, 4]
    assert await code("--exit-code", "team-a") == 0
    assert await code("--exit-code", "team-z") == 6
    assert await code("team-z") == 1
    server.deny("list", "kaito.sh", "inferencesets")
    assert await code("--exit-code", "team-a") == 5


async def test_a_subject_that_is_not_there_is_named(server: DevCluster, tmp_path: Path):
    ended = await ask_about(server, tmp_path, "status", "team-a/phi", "--from=cluster")
    assert (ended.code, ended.out) == (1, "")
    assert "not found: no InferenceSet team-a/phi" in ended.err


async def test_names_of_others_cannot_drive_the_terminal(server: DevCluster, tmp_path: Path):
    hostile = {"message": "\x1b]0;mine\x07 quota", "reason": "Failed", "status": "False"}
    server.cluster.patch(
        *MODEL_POD,
        {
            "status": {
                "conditions": [{"type": "Ready", **hostile}],
                "containerStatuses": [
                    {
                        "name": "vllm\x1b[2J",
                        "ready": False,
                        "state": {"waiting": {"reason": "ErrImagePull", "message": "\x1b[2J"}},
                    }
                ],
            }
        },
        subresource="status",
    )
    for form in ("table", "wide", "json", "yaml"):
        ended = await ask_about(server, tmp_path, "status", "team-a", "-o", form, "--from=cluster")
        assert "\x1b" not in ended.out + ended.err
        assert ended.code == 0


# ------------------------------------------------------------ dumps


def a_dump(folder: Path) -> str:
    """Write the example stack as of NOW, with a control plane whose KAITO is scaled to zero."""
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "x.1", "namespace": "team-a"},
        "lastTimestamp": NOW.isoformat(),
    }
    items = [*manifests(NOW), event]
    for each in items:
        if each["kind"] == "Deployment" and each["metadata"]["name"] == "kaito-workspace":
            each["spec"]["replicas"] = 0
    path = folder / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


async def test_a_dump_is_evaluated_without_any_cluster(tmp_path: Path):
    path = a_dump(tmp_path)
    ended = await ask("status", f"--from=file:{path}", "--exit-code", "-o", "json")
    assert ended.code == 4
    document = msgspec.json.decode(ended.out, type=StatusDocument)
    assert document.evaluated_at == NOW
    assert "evaluated as of 2024-05-01T12:00:00Z" in ended.err
    assert document.cluster.blocking.reason == "clusterKaitoControllerNotReady"


async def test_a_dump_is_read_from_standard_input_and_at_another_time(tmp_path: Path):
    text = read_bytes(a_dump(tmp_path))
    at = "2024-05-01T12:30:00Z"
    ended = await ask("status", "--from=file:-", f"--at={at}", "-o", "json", stdin=text)
    assert json.loads(ended.out)["evaluatedAt"] == at


def read_bytes(path: str) -> bytes:
    return Path(path).read_bytes()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind: [", "it ends at line 1 in the middle of a document"),
        ("kind: x", "0 objects, none of a kind that is evaluated"),
        ("\x00\xff", "0 objects"),
        ('{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}', "1 objects, none of a"),
    ],
)
async def test_a_dump_with_nothing_to_evaluate_is_refused_with_what_to_do(
    tmp_path: Path, text: str, expected: str
):
    path = tmp_path / "dump.yaml"
    path.write_text(text, "latin-1")
    ended = await ask("status", f"--from=file:{path}")
    assert (ended.code, ended.out) == (2, "")
    assert expected in ended.err
    assert "write one with productionstack-status-reporter dump > stack.yaml" in ended.err


async def test_the_named_context_is_used(server: DevCluster, tmp_path: Path):
    good = yaml.safe_load(server.write_kubeconfig(tmp_path / "good").read_text())
    name = good["current-context"]
    elsewhere = {"name": "elsewhere", "cluster": {"server": "http://127.0.0.1:1"}}
    good["clusters"].append(elsewhere)
    good["contexts"].append({"name": "other", "context": {"cluster": "elsewhere", "user": ""}})
    good["current-context"] = "other"
    both = tmp_path / "both"
    both.write_text(yaml.safe_dump(good))
    ended = await ask("status", "--from=cluster", f"--context={name}", KUBECONFIG=str(both))
    assert ended.code == 0
    ended = await ask("status", "--from=cluster", KUBECONFIG=str(both))
    assert ended.code == 1
    assert "the API server cannot be asked" in ended.err


async def test_the_schema_is_printed():
    ended = await ask("status", "--schema")
    assert ended.code == 0
    assert json.loads(ended.out)["$schema"].startswith("https://json-schema.org/")


async def test_a_set_that_is_being_deleted_is_terminating(server: DevCluster, tmp_path: Path):
    server.cluster.patch(*INFERENCE_SET, {"metadata": {"finalizers": ["kaito.sh/held"]}})
    server.cluster.delete(*INFERENCE_SET)
    ended = await ask_about(
        server, tmp_path, "status", "team-a/qwen", "--exit-code", "--from=cluster"
    )
    assert ended.code == 6
    assert "State:         Terminating" in ended.out


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tema-a", "not found: no workload namespace tema-a; did you mean team-a?"),
        ("tema-a/qwen", "not found: no workload namespace tema-a; did you mean team-a/qwen?"),
        ("team-a/qwn", "not found: no InferenceSet team-a/qwn; did you mean team-a/qwen?"),
        ("team-a/zz", "not found: no InferenceSet team-a/zz; status team-a lists those there are"),
        ("keda", "by their label productionstack.kaito.sh/managed-by=modelharness"),
    ],
)
async def test_a_name_that_is_not_there_is_answered_with_one_that_is(
    server: DevCluster, tmp_path: Path, name: str, expected: str
):
    for command in ("status", "explain"):
        ended = await ask_about(server, tmp_path, command, name, "--from=cluster")
        assert (ended.code, ended.out) == (1, "")
        assert expected in ended.err


async def test_a_wait_names_what_is_there_instead(server: DevCluster, tmp_path: Path):
    ended = await wait_for(server, tmp_path, "team-a/qwn", "--timeout=0s")
    assert ended.code == 3
    assert "no InferenceSet team-a/qwn; did you mean team-a/qwen?" in ended.err


async def test_a_table_without_headers_is_its_rows(server: DevCluster, tmp_path: Path):
    argv = ("status", "team-a", "--from=cluster", "--no-headers")
    ended = await ask_about(server, tmp_path, *argv)
    assert [row.split()[:2] for row in ended.out.splitlines()] == [
        ["Namespace", "team-a"],
        ["Harness", "team-a"],
        ["InferenceSet", "qwen"],
    ]


async def test_a_table_without_rows_has_no_headers(tmp_path: Path):
    async with DevCluster() as empty:
        ended = await ask_about(empty, tmp_path, "status", "-A", "--from=cluster")
    assert (ended.code, ended.out) == (0, "")
    assert "there is no InferenceSet in any workload namespace" in ended.err
