"""The command silence: what is written is listed, with what it holds back, and is taken back."""

import json
from pathlib import Path

import pytest

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from reporter.kinds.resource_kind import SILENCE_PREFIX
from tests.integration.status.asking import (
    INFERENCE_SET,
    MODEL_POD,
    Ended,
    ask_about,
    running,
    scale_to_zero,
    server,
)


__all__ = ["server"]

POD_REASON, KAITO_REASON = "inferencesetModelPodsNotReady", "clusterKaitoControllerNotReady"
UNTIL = "--until=2099-01-01"
WHY = "--why=the weights move"
MAP = ("configmaps", "kaito-system", "silences")


async def silence(server: DevCluster, folder: Path, *argv: str) -> Ended:
    return await ask_about(server, folder, "silence", *argv, USER="alice")


async def listed(server: DevCluster, folder: Path, *argv: str) -> list[dict]:
    ended = await silence(server, folder, "list", "-o", "json", *argv)
    assert ended.code == 0, ended.err
    silences: list[dict] = json.loads(ended.out)["silences"]
    return silences


def add_reporter(server: DevCluster, *, config_map: str = "silences") -> None:
    """Store the pod of a reporter that mounts a ConfigMap as its file of silences; none if empty."""
    mounted = {"name": "silences", "mountPath": "/etc/silences"}
    container: dict = {
        "name": "reporter",
        "image": "example/reporter:1",
        "args": ["--status-bind-address=127.0.0.1:8082"],
    }
    spec: dict = {"containers": [container]}
    if config_map:
        container["args"] = ["--silence-file=/etc/silences/silences.yaml"]
        container["volumeMounts"] = [mounted]
        spec["volumes"] = [
            {"name": "silences", "configMap": {"name": config_map, "optional": True}},
        ]
    server.cluster.upsert(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "reporter-0",
                "namespace": "kaito-system",
                "labels": {"app.kubernetes.io/component": "status-reporter"},
            },
            "spec": spec,
        }
    )


def add_map(server: DevCluster, text: str, **labels: str) -> None:
    metadata = {"name": "silences", "namespace": "kaito-system", "labels": labels}
    server.cluster.upsert(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "data": {"silences.yaml": text},
        }
    )


def text_of_map(server: DevCluster) -> str:
    found = server.cluster.get(*MAP)
    assert found is not None
    return str(found["data"]["silences.yaml"])


def silence_of(server: DevCluster) -> dict:
    found = server.cluster.get(*INFERENCE_SET)
    assert found is not None
    meta = found["metadata"]
    both = {**meta.get("labels", {}), **meta.get("annotations", {})}
    return {name: value for name, value in both.items() if name.startswith(SILENCE_PREFIX)}


async def test_a_list_says_who_and_why_and_what_is_held_back(server: DevCluster, tmp_path: Path):
    server.cluster.delete(*MODEL_POD)
    await silence(server, tmp_path, "team-a/qwen", POD_REASON, UNTIL, WHY, "--apply")
    await silence(
        server, tmp_path, "team-a", "modelharnessGatewayClassMissing", UNTIL, WHY, "--apply"
    )
    ended = await silence(server, tmp_path, "list")
    assert (ended.code, ended.err) == (0, "")
    head, *lines = (line.split() for line in ended.out.splitlines())
    assert head == ["SUBJECT", "REASONS", "UNTIL", "STATE", "BY", "HOLDS", "BACK", "WHY"]
    until, why = "2099-01-01T00:00:00Z", ["the", "weights", "move"]
    assert sorted(lines) == [
        ["team-a", "modelharnessGatewayClassMissing", until, "active", "alice", "-", *why],
        ["team-a/qwen", POD_REASON, until, "active", "alice", POD_REASON, *why],
    ]
    _, found = await listed(server, tmp_path, "team-a/qwen")
    assert found["holdsBack"] == [{"reason": POD_REASON, "subject": "team-a/qwen"}]
    assert await listed(server, tmp_path, "cluster") == []


async def test_a_dump_has_the_silences_of_objects(server: DevCluster, tmp_path: Path):
    server.cluster.delete(*MODEL_POD)
    await silence(server, tmp_path, "team-a/qwen", "all", UNTIL, WHY, "--apply")
    dump = tmp_path / "stack.yaml"
    dump.write_text((await ask_about(server, tmp_path, "dump")).out)
    (found,) = await listed(server, tmp_path, f"--from=file:{dump}")
    assert (found["scope"], found["by"], found["why"]) == (
        "team-a/qwen",
        "alice",
        "the weights move",
    )
    assert [each["reason"] for each in found["holdsBack"]] == [POD_REASON]


async def test_a_silence_that_is_not_in_effect_is_named_with_why(
    server: DevCluster, tmp_path: Path
):
    annotations = {f"{SILENCE_PREFIX}until": "soon", f"{SILENCE_PREFIX}reasons": "all"}
    server.cluster.patch(*INFERENCE_SET, {"metadata": {"annotations": annotations}})
    ended = await silence(server, tmp_path, "list")
    assert "malformed" in ended.out
    assert (
        "team-a/qwen (InferenceSet team-a/qwen) silences nothing: `until` is `soon`" in ended.err
    )


async def test_nothing_silenced_is_said(server: DevCluster, tmp_path: Path):
    ended = await silence(server, tmp_path, "list")
    assert (ended.code, ended.out) == (0, "")
    assert "there is no silence" in ended.err
    assert (await silence(server, tmp_path, "list", "-q")).err == ""


async def test_a_silence_of_an_object_is_taken_back(server: DevCluster, tmp_path: Path):
    await silence(server, tmp_path, "team-a/qwen", "all", UNTIL, WHY, "--apply")
    ended = await silence(server, tmp_path, "expire", "team-a/qwen", POD_REASON)
    assert (ended.code, silence_of(server) != {}) == (1, True)
    assert f"team-a/qwen has no silence of {POD_REASON} alone" in ended.err
    ended = await silence(server, tmp_path, "expire", "-n", "team-a", "qwen")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "InferenceSet team-a/qwen: silence ended: all until 2099-01-01T00:00:00Z by alice"
        " (the weights move)\n"
    )
    assert silence_of(server) == {}
    assert (await silence(server, tmp_path, "expire", "team-a/qwen")).code == 1


async def test_one_that_is_replaced_is_named(server: DevCluster, tmp_path: Path):
    await silence(server, tmp_path, "team-a/qwen", "all", UNTIL, WHY, "--apply")
    words = ("team-a/qwen", POD_REASON, UNTIL, WHY, "--apply", "--replace")
    done = await silence(server, tmp_path, *words)
    assert (done.code, done.err) == (0, "")
    until = "until 2099-01-01T00:00:00Z"
    assert done.out.splitlines() == [
        f"InferenceSet qwen: silence ended: all {until} by alice (the weights move)",
        f"InferenceSet qwen silenced: {POD_REASON} {until}",
    ]


async def test_one_in_labels_is_taken_back_as_well(server: DevCluster, tmp_path: Path):
    labels = {f"{SILENCE_PREFIX}until": "20990101T000000Z", f"{SILENCE_PREFIX}reasons": POD_REASON}
    server.cluster.patch(*INFERENCE_SET, {"metadata": {"labels": labels}})
    ended = await silence(server, tmp_path, "expire", "team-a/qwen", POD_REASON)
    assert (ended.code, silence_of(server)) == (0, {})


async def test_what_cannot_be_looked_at_is_not_called_free_of_silences(
    server: DevCluster, tmp_path: Path
):
    server.deny("get", "kaito.sh", "inferencesets")
    ended = await silence(server, tmp_path, "expire", "team-a/qwen")
    assert ended.code == 1
    assert 'cannot get resource "inferencesets"' in ended.err
    assert "has no silence" not in ended.err


async def test_a_file_that_may_not_be_looked_at_leaves_what_was_ended_a_success(
    server: DevCluster, tmp_path: Path
):
    server.deny("list", "", "pods")
    await silence(server, tmp_path, "team-a/qwen", "all", UNTIL, WHY, "--apply")
    ended = await silence(server, tmp_path, "expire", "team-a/qwen")
    assert (ended.code, silence_of(server)) == (0, {})
    assert "nothing was ended in the file of silences: " in ended.err


async def test_a_silence_that_was_found_and_stays_is_no_success(
    server: DevCluster, tmp_path: Path
):
    add_reporter(server)
    add_map(server, "silences:\n- {namespace: team-a, reasons: [all], until: 2099-01-01}\n")
    server.deny("patch", "", "configmaps")
    await silence(server, tmp_path, "team-a", "all", UNTIL, WHY, "--apply")
    ended = await silence(server, tmp_path, "expire", "team-a")
    assert (ended.code, "Namespace team-a: silence ended: all" in ended.out) == (1, True)
    assert 'cannot patch resource "configmaps"' in ended.err


async def test_a_malformed_entry_is_not_taken_for_one_of_the_cluster(
    server: DevCluster, tmp_path: Path
):
    add_reporter(server)
    malformed = "- {namespace: [team-a], reasons: [all], until: 2099-01-01}\n"
    add_map(server, f"silences:\n{malformed}")
    for reasons in ((), (KAITO_REASON,)):
        ended = await silence(server, tmp_path, "expire", "cluster", *reasons)
        assert (ended.code, "cluster has no silence" in ended.err) == (1, True)
    words = ("cluster", KAITO_REASON, UNTIL, WHY, "--apply", "--replace")
    done = await silence(server, tmp_path, *words)
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert malformed in text_of_map(server)


async def test_the_cluster_is_silenced_in_the_map_that_the_reporter_mounts(
    server: DevCluster, tmp_path: Path
):
    scale_to_zero(server)
    add_reporter(server)
    words = ("cluster", KAITO_REASON, UNTIL, WHY, "--apply")
    done = await silence(server, tmp_path, *words)
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert done.out == (
        f"ConfigMap kaito-system/silences changed: cluster silenced: {KAITO_REASON} until"
        " 2099-01-01T00:00:00Z\n"
    )
    (found,) = await listed(server, tmp_path)
    assert (found["scope"], found["by"], found["origin"]) == (
        "cluster",
        "alice",
        "silences.yaml:2",
    )
    assert [each["reason"] for each in found["holdsBack"]] == [KAITO_REASON]
    shown = await ask_about(server, tmp_path, "status", "cluster", "--from=cluster")
    assert "Silenced" in shown.out
    dump = tmp_path / "stack.yaml"
    dump.write_text((await ask_about(server, tmp_path, "dump")).out)
    assert await listed(server, tmp_path, f"--from=file:{dump}") == [found]
    await silence(server, tmp_path, "team-a/qwen", POD_REASON, UNTIL, WHY, "--apply", "--file")
    assert [each["scope"] for each in await listed(server, tmp_path)] == ["cluster", "team-a/qwen"]
    again = await silence(server, tmp_path, *words, "--replace", "--by=bob", "-q")
    assert again.err == ""
    replaced = f"{KAITO_REASON} until 2099-01-01T00:00:00Z by alice (the weights move)"
    assert (again.code, again.out.splitlines()[0]) == (
        0,
        f"ConfigMap kaito-system/silences: silence ended: {replaced}",
    )
    assert sorted(each["by"] for each in await listed(server, tmp_path)) == ["alice", "bob"]
    ended = await silence(server, tmp_path, "expire", "cluster")
    assert (ended.code, "ConfigMap kaito-system/silences: silence ended:" in ended.out) == (
        0,
        True,
    )
    assert [each["scope"] for each in await listed(server, tmp_path)] == ["team-a/qwen"]


async def test_a_watch_of_the_cluster_reads_that_map_as_well(server: DevCluster, tmp_path: Path):
    scale_to_zero(server)
    add_reporter(server)
    add_map(server, f"silences:\n- reasons: [{KAITO_REASON}]\n  until: 2099-01-01\n  by: bob\n")
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    argv = ("status", "cluster", "--watch", "--from=cluster", "-o", "json", "--settle-seconds=0")
    async with running(*argv, KUBECONFIG=str(config)) as watching:
        text = ""
        while '"silenced": {' not in text:
            text += "".join(await watching.prints())
        assert '"by": "bob"' in "".join([text, *await watching.prints(4)])


async def test_a_subject_of_another_pack_is_silenced_there(server: DevCluster, tmp_path: Path):
    add_reporter(server)
    add_map(server, "# ours\nsilences: []\n")
    words = ("team-a/InferenceService/llama", "all", UNTIL, WHY, "--apply", "--packs=kserve")
    assert (await silence(server, tmp_path, *words)).code == 0
    assert "inferenceset: InferenceService/llama" in text_of_map(server)


async def test_what_helm_renders_is_not_changed(server: DevCluster, tmp_path: Path):
    add_reporter(server)
    text = f"silences:\n- reasons: [{KAITO_REASON}]\n  until: 2099-01-01\n"
    add_map(server, text, **{"app.kubernetes.io/managed-by": "Helm"})
    refused = await silence(server, tmp_path, "cluster", "all", UNTIL, WHY, "--apply")
    assert (refused.code, refused.out) == (1, "")
    assert "change silences in the values of the chart instead" in refused.err
    refused = await silence(server, tmp_path, "expire", "cluster")
    assert (refused.code, "rendered by Helm" in refused.err) == (1, True)
    assert text_of_map(server) == text


@pytest.mark.parametrize(
    ("config_map", "text", "expected"),
    [
        ("", "", "give it --silence-file in a ConfigMap, as the chart does"),
        ("silences", "silences: []\nsilences: []\n", "cannot be read, so it silences nothing"),
    ],
)
async def test_a_file_that_cannot_take_it_is_named(
    server: DevCluster, tmp_path: Path, config_map: str, text: str, expected: str
):
    add_reporter(server, config_map=config_map)
    add_map(server, text)
    refused = await silence(server, tmp_path, "cluster", "all", UNTIL, WHY, "--apply")
    assert (refused.code, refused.out) == (1, "")
    assert expected in refused.err
    assert "without --apply the entry is printed for it" in refused.err


async def test_without_a_reporter_there_is_no_file(server: DevCluster, tmp_path: Path):
    refused = await silence(server, tmp_path, "cluster", "all", UNTIL, WHY, "--apply")
    assert (refused.code, "no pod has the label" in refused.err) == (1, True)
    ended = await silence(server, tmp_path, "expire", "cluster")
    assert (ended.code, "cluster has no silence" in ended.err) == (1, True)


async def test_rights_that_are_missing_are_named(server: DevCluster, tmp_path: Path):
    add_reporter(server)
    add_map(server, "silences: []\n")
    server.deny("patch", "", "configmaps")
    refused = await silence(server, tmp_path, "cluster", "all", UNTIL, WHY, "--apply")
    assert (refused.code, 'cannot patch resource "configmaps"' in refused.err) == (1, True)
    server.deny("get", "", "configmaps")
    ended = await silence(server, tmp_path, "list")
    assert ended.code == 0
    assert "the reporter's file of silences was not read: " in ended.err
    assert "--silence-file gives it" in ended.err


async def test_a_change_that_somebody_else_makes_is_not_overwritten(
    server: DevCluster, tmp_path: Path
):
    add_reporter(server)
    add_map(server, "silences: []\n")
    conflict = status_response(409, "Conflict", "the object has been modified")
    server.faults.add(conflict, method="PATCH", path="configmaps")
    refused = await silence(server, tmp_path, "cluster", "all", UNTIL, WHY, "--apply")
    assert (refused.code, "the object has been modified" in refused.err) == (1, True)
    (patch,) = (each for each in server.requests if each[0] == "PATCH")
    assert patch[1].startswith("/api/v1/namespaces/kaito-system/configmaps/silences")
