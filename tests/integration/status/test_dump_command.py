"""The command dump, and the commands that read what it wrote."""

import json
import os
from pathlib import Path

import pytest
import yaml

from devcluster.http.faults.rules import status_response
from devcluster.server import DevCluster
from reporter.kube import lister
from reporter.kube.stack_dump import DumpEnd, parse_end
from reporter.model.redact import REMOVED
from tests.integration.controller.test_declared_scopes import GADGETS, a_crd, declaring
from tests.integration.status.asking import (
    MODEL_POD,
    Ended,
    add_reporter_pod,
    ask,
    ask_about,
    running,
    scale_to_zero,
    server,
)
from tests.support.own_reasons import a_reason, an_overlay


__all__ = ["server"]

PODS = "pods"
GRACE = "--startup-grace-seconds=0"
"""The objects of the stack may have been made a moment ago."""


async def dumped(server: DevCluster, folder: Path, *argv: str) -> tuple[Path, Ended]:
    """Return the file of a dump, and how the command ended."""
    ended = await ask_about(server, folder, "dump", *argv)
    path = folder / "stack.yaml"
    path.write_text(ended.out)
    return path, ended


def documents(path: Path) -> list[dict]:
    return [json.loads(line.removeprefix("--- ")) for line in path.read_text().splitlines()]


def end_of(path: Path) -> DumpEnd:
    return parse_end(documents(path)[-1])


async def states(*argv: str) -> dict[str, tuple[str, str]]:
    """Return the state and the cause of each subject."""
    ended = await ask("check", "-o", "json", "--fail-on=never", GRACE, *argv)
    assert ended.code == 0, ended.err
    (found,) = json.loads(ended.out)["contexts"]
    status = found["status"]
    subjects = {"cluster": status.get("cluster", {})}
    for namespace in status["namespaces"]:
        subjects[namespace["name"]] = namespace
        for each in namespace.get("inferenceSets", ()):
            subjects[f"{namespace['name']}/{each['name']}"] = each
    return {
        name: (each["state"], (each.get("blocking") or {}).get("reason", ""))
        for name, each in subjects.items()
        if each
    }


async def test_a_dump_says_what_the_cluster_says(server: DevCluster, tmp_path: Path):
    scale_to_zero(server)
    path, ended = await dumped(server, tmp_path)
    assert ended.code == 0, ended.err
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    live = await states(f"--kubeconfig={config}")
    assert live["cluster"] == ("Failed", "clusterKaitoControllerNotReady")
    assert await states(f"--from=file:{path}") == live
    assert await states(f"--from={path}") == live
    assert {method for method, _ in server.requests} == {"GET"}


async def test_what_is_written_is_the_same_each_time(server: DevCluster, tmp_path: Path):
    path, _ = await dumped(server, tmp_path)
    first = documents(path)
    path, _ = await dumped(server, tmp_path)
    assert documents(path)[:-1] == first[:-1]
    assert end_of(path).kinds == parse_end(first[-1]).kinds


async def test_it_is_read_page_by_page(
    server: DevCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole, _ = await dumped(server, tmp_path)
    expected = documents(whole)[:-1]
    monkeypatch.setattr(lister, "PAGE_SIZE", 2)
    before = len(server.requests)
    path, _ = await dumped(server, tmp_path)
    assert documents(path)[:-1] == expected
    asked = [query for _, query in list(server.requests)[before:]]
    lists = [each for each in asked if each.startswith("/api/v1/pods") and "label" not in each]
    assert len(lists) > 1, asked
    assert all("limit=2" in query for query in lists), lists


async def test_no_secret_and_no_value_of_a_variable_is_in_it(server: DevCluster, tmp_path: Path):
    env = [{"name": "HF_TOKEN", "value": "hush-1"}, {"name": "PLAIN", "value": "hush-2"}]
    server.cluster.patch(
        *MODEL_POD,
        {
            "metadata": {"annotations": {"note": "password=hush-3"}},
            "spec": {"containers": [{"name": "vllm", "image": "v", "env": env}]},
        },
    )
    path, _ = await dumped(server, tmp_path)
    text = path.read_text()
    assert "hush" not in text
    assert "HF_TOKEN" in text
    assert f"password={REMOVED}" in text
    assert not any("secrets" in query for _, query in server.requests)


async def test_what_may_not_be_read_is_noted_and_unknown_later(server: DevCluster, tmp_path: Path):
    scale_to_zero(server)
    server.deny("list", "apps", "deployments")
    path, ended = await dumped(server, tmp_path)
    assert ended.code == 0
    assert "deployments.apps: may not list deployments.apps" in ended.err
    found = await states(f"--from=file:{path}")
    assert found["cluster"][0] == "Unknown"
    shown = await ask("status", f"--from=file:{path}")
    assert "deployments.apps: may not list deployments.apps" in shown.err


async def test_a_kind_that_is_not_served_is_noted_and_known_to_be_so(
    server: DevCluster, tmp_path: Path
):
    crds = "customresourcedefinitions.apiextensions.k8s.io"
    server.cluster.delete(crds, "", "ciliumnetworkpolicies.cilium.io")
    path, ended = await dumped(server, tmp_path)
    assert "ciliumnetworkpolicies.cilium.io: not served" in ended.err
    found = await states(f"--from=file:{path}")
    assert {state for state, _ in found.values()} == {"Current"}
    server.cluster.delete(crds, "", "inferencesets.kaito.sh")
    path, _ = await dumped(server, tmp_path)
    found = await states(f"--from=file:{path}")
    assert found["cluster"][1] == "clusterCRDMissing"


async def test_the_rights_of_one_namespace_give_a_dump_of_it_alone(
    server: DevCluster, tmp_path: Path
):
    server.cluster.delete(*MODEL_POD)
    server.deny("list", namespace="")
    refused = await ask_about(server, tmp_path, "dump")
    assert (refused.code, "the cluster cannot be read" in refused.err) == (1, True)
    path, ended = await dumped(server, tmp_path, "team-a")
    assert ended.code == 0, ended.err
    assert "only namespace team-a may be read" in ended.err
    assert "nodes: may not list nodes" in ended.err
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    live = await states(f"--kubeconfig={config}", "team-a")
    found = await states(f"--from=file:{path}", "team-a")
    assert found == live
    assert found["team-a/qwen"][1] == "inferencesetModelPodsNotReady"
    everything = await states(f"--from=file:{path}")
    assert everything["cluster"][0] == "Unknown"
    other = await ask("explain", "team-b", f"--from=file:{path}")
    assert (other.code, other.out) == (2, "")
    assert "has the namespace team-a alone, and says nothing about team-b" in other.err


async def test_a_list_that_expires_or_breaks_off_is_not_taken_for_whole(
    server: DevCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lister, "PAGE_SIZE", 1)
    expired = status_response(410, "Expired", "The provided continue parameter is too old")
    fault = server.faults.add(expired, path="/deployments.*continue=")
    path, ended = await dumped(server, tmp_path)
    assert ended.code == 0
    assert "deployments.apps: it changed while it was read: The provided continue" in ended.err
    assert (await states(f"--from=file:{path}"))["cluster"][0] == "Unknown"
    server.faults.clear(fault)
    server.faults.add(status_response(500, "InternalError", "etcd"), path="/pods.*continue=")
    path, ended = await dumped(server, tmp_path)
    assert "pods: etcd" in ended.err
    assert (await states(f"--from=file:{path}"))["team-a/qwen"][0] == "Unknown"


async def test_a_dump_is_of_when_it_was_taken(server: DevCluster, tmp_path: Path):
    path, _ = await dumped(server, tmp_path)
    taken = end_of(path).taken_at.strftime("%Y-%m-%dT%H:%M:%S")
    shown = await ask("status", f"--from=file:{path}")
    assert f"evaluated as of {taken}" in shown.err
    explained = await ask("explain", "team-a/qwen", f"--from=file:{path}", GRACE)
    assert (explained.code, "Nothing blocks it." in explained.out) == (0, True)
    by_pipe = await ask("status", "--from=file:-", "-o", "name", stdin=path.read_bytes())
    assert by_pipe.out.split() == ["cluster", "team-a"]


async def test_the_flags_of_the_reporter_are_in_the_dump(server: DevCluster, tmp_path: Path):
    add_reporter_pod(server, "127.0.0.1:8082", keda="other")
    path, ended = await dumped(server, tmp_path)
    assert "flags are those of pod kaito-system/reporter-0" in ended.err
    assert "--keda-namespace=other" in end_of(path).flags
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    shown = await ask("status", f"--from=file:{path}", "-o", "json")
    live = await ask("status", "--from=cluster", f"--kubeconfig={config}", "-o", "json")
    assert "flags are those of the reporter in the dump, unless given here" in shown.err
    found, expected = (json.loads(each.out)["cluster"]["components"] for each in (shown, live))
    assert found == expected


def add_reporter_with(server: DevCluster, *flags: str) -> None:
    """Store the pod of a reporter whose files are in it, and a ConfigMap with its silences."""
    add_reporter_pod(server, "127.0.0.1:8082")
    found = server.cluster.get("pods", "kaito-system", "reporter-0")
    assert found is not None
    (container,) = found["spec"]["containers"]
    container["args"] += flags
    container["volumeMounts"] = [{"name": "silences", "mountPath": "/etc/silences"}]
    found["spec"]["volumes"] = [{"name": "silences", "configMap": {"name": "silences"}}]
    server.cluster.upsert(found)
    server.cluster.upsert(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "silences", "namespace": "kaito-system"},
            "data": {"silences.yaml": "# password: hush-1\nsilences: []\n"},
        }
    )


SILENCES = "--silence-file=/etc/silences/silences.yaml"


async def test_files_of_the_reporter_that_are_not_in_the_dump_are_named_whenever_it_is_read(
    server: DevCluster, tmp_path: Path
):
    add_reporter_with(server, "--components-file=/etc/c.yaml", "--packs=kaito,/mine", SILENCES)
    server.deny("get", "", "configmaps")
    path, ended = await dumped(server, tmp_path)
    to = " to the command that evaluates the dump"
    components = "the reporter has a file of components; give it with --components-file"
    packs = "the reporter has packs of one's own; give them with --packs"
    silences = "the reporter has a file of silences; give it with --silence-file"
    assert "the reporter's file of silences was not read: " in ended.err
    assert f"note: {components}{to}\nnote: {packs}\nnote: {silences}{to}\n" in ended.err
    assert end_of(path).missing_files == ("components-file", "packs", "silence-file")
    for name in ("status", "check"):
        shown = await ask(name, f"--from=file:{path}")
        assert f"note: {components}\nnote: {packs}\nnote: {silences}\n" in shown.err
    given = tmp_path / "given.yaml"
    given.write_text("silences: []\n")
    shown = await ask("status", f"--from=file:{path}", f"--silence-file={given}")
    assert (components in shown.err, silences in shown.err) == (True, False)


async def test_no_secret_of_flags_and_silences_is_in_it(server: DevCluster, tmp_path: Path):
    add_reporter_with(server, SILENCES, "--kaito-namespace=https://me:hush-2@example.com")
    path, _ = await dumped(server, tmp_path)
    end = end_of(path)
    assert end.silences == f"# password: {REMOVED}\nsilences: []\n"
    assert f"--kaito-namespace=https://{REMOVED}@example.com" in end.flags
    assert end.missing_files == ()


async def test_a_kind_that_is_declared_with_another_scope_is_unknown(
    server: DevCluster, tmp_path: Path
):
    server.cluster.upsert(a_crd("Cluster"))
    declaring(tmp_path, namespaced=True)
    overlay = f"--catalogue-overlay={tmp_path / 'overlay.yaml'}"
    path, _ = await dumped(server, tmp_path, overlay)
    why = "Gadget is declared with namespaces, and has none"
    shown = await ask("status", f"--from=file:{path}", overlay, "-o", "wide")
    assert f"note: {GADGETS}: " in shown.err
    assert why in shown.err
    found = await states(f"--from=file:{path}", overlay)
    assert found["cluster"] == ("Unknown", "clusterGadgetBroken")


async def test_objects_that_were_taken_out_of_a_dump_are_not_taken_for_absent(
    server: DevCluster, tmp_path: Path
):
    path, _ = await dumped(server, tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(each for each in lines if '"kaito-workspace"' not in each))
    found = await states(f"--from=file:{path}")
    assert found["cluster"][0] == "Unknown"
    shown = await ask("status", f"--from=file:{path}")
    assert "deployments.apps: " in shown.err
    assert " objects are in the dump" in shown.err


async def test_a_kind_that_the_catalogue_of_the_dump_did_not_have_is_unknown(
    server: DevCluster, tmp_path: Path
):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(an_overlay(a_reason()))
    path, _ = await dumped(server, tmp_path)
    found = await states(f"--from=file:{path}", f"--catalogue-overlay={overlay}")
    shown = await ask("status", f"--from=file:{path}", f"--catalogue-overlay={overlay}")
    assert ": it is not in the dump" in shown.err
    assert "Unknown" in {state for state, _ in found.values()}
    path, _ = await dumped(server, tmp_path, f"--catalogue-overlay={overlay}")
    shown = await ask("status", f"--from=file:{path}", f"--catalogue-overlay={overlay}")
    assert ": it is not in the dump" not in shown.err


@pytest.mark.parametrize(
    ("cut", "why"),
    [
        (lambda text: "", "it is empty"),
        (lambda text: text[: len(text) // 2], "it ends at line "),
        (lambda text: text.rpartition("--- ")[0], "it ends at line "),
    ],
    ids=["empty", "in a line", "between lines"],
)
async def test_a_dump_that_is_cut_off_is_refused(server: DevCluster, tmp_path: Path, cut, why):
    path, _ = await dumped(server, tmp_path)
    path.write_text(cut(path.read_text()))
    lines = len(path.read_text().splitlines())
    for name in ("status", "check"):
        ended = await ask(name, f"--from=file:{path}")
        assert (ended.code, ended.out) == (2, "")
        assert f"{path}: {why}" in ended.err
        assert "dump > stack.yaml" in ended.err
        assert not lines or f"line {lines} " in ended.err


async def test_a_dump_that_fails_before_its_end_is_refused(server: DevCluster, tmp_path: Path):
    server.faults.add(status_response(503, "ServiceUnavailable", "away"))
    path, ended = await dumped(server, tmp_path)
    assert (ended.code, "the API server cannot be asked" in ended.err) == (1, True)
    refused = await ask("status", f"--from=file:{path}")
    assert (refused.code, "it ends at line 1 before the end of the dump" in refused.err) == (
        2,
        True,
    )


async def test_a_disk_that_is_full_is_named(server: DevCluster, tmp_path: Path):
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    full = os.open("/dev/full", os.O_WRONLY)
    async with running("dump", f"--kubeconfig={config}", stdout=full) as dumping:
        os.close(full)
        ended = await dumping.ended()
    assert ended.code == 1
    assert "the dump cannot be written: No space left on device" in ended.err
    assert "Traceback" not in ended.err


async def test_one_that_was_cut_off_beside_others_is_left_out(server: DevCluster, tmp_path: Path):
    path, _ = await dumped(server, tmp_path)
    folder = tmp_path / "dumps"
    folder.mkdir()
    (folder / "a.yaml").write_text(path.read_text())
    (folder / "b.yaml").write_text(path.read_text()[:-40])
    shown = await ask("status", f"--from=file:{folder}", "--output=wide")
    assert "b.yaml was not read: it ends at line " in shown.err
    (folder / "b.yaml").write_text(path.read_text())
    shown = await ask("status", f"--from=file:{folder}")
    assert (shown.code, "2 dumps are in it; name the file of one" in shown.err) == (2, True)


async def test_it_is_yaml_for_other_programs(server: DevCluster, tmp_path: Path):
    path, _ = await dumped(server, tmp_path)
    found = list(yaml.safe_load_all(path.read_text()))
    assert [each["kind"] for each in (found[0], found[-1])] == ["StackDump", "StackDumpEnd"]
    kinds = [each["kind"] for each in found[1:-1]]
    assert {"Namespace", "Pod", "Deployment", "InferenceSet"} <= {*kinds}
    path.write_text(yaml.safe_dump_all(found))
    assert (await states(f"--from=file:{path}"))["cluster"] == ("Current", "")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["team-a/qwen"], "a dump is of a whole namespace"),
        (["--from=cluster"], "--from: there is no such flag"),
        (["--kubeconfig=/nowhere"], "no such file"),
    ],
)
async def test_what_is_no_dump_is_refused(argv: list[str], expected: str):
    ended = await ask("dump", *argv)
    assert (ended.code, ended.out) == (2, "")
    assert expected in ended.err
