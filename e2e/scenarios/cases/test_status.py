"""The commands status and wait on a real API server."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
import yaml

from e2e.controlplane import ControlPlane, until
from e2e.support.address import routable_address
from e2e.support.cases.asking import WITHOUT_GRACE, ask, reading_user, shown_states
from e2e.support.cases.cluster_objects import CaseClusterObjects
from e2e.support.reporter_process import ReporterProcess
from reporter.kube import lister
from reporter.kube.decoding import Json
from reporter.kube.stack_dump import DumpEnd, parse_end
from reporter.model.status_document import StatusDocument
from tests.support.ports import free_port
from tests.support.status_schema import require_schema


pytestmark = pytest.mark.controlplane

KAITO = "Deployment kaito-system/kaito-workspace"
AT_ZERO = {KAITO: {"replicas": 0}}
FLAGS = ("--scrape=off", "--leader-elect=false", "--startup-grace-seconds=1", "--resync-seconds=1")


ASKED_IN_TIME = "--timeout=15s"
"""
The time within which the cluster answers at least once. Without an answer the exit code is another.
"""


def document(plane: ControlPlane, *argv: str, stdin: str = "") -> StatusDocument:
    ended = ask(plane, "status", "-o", "json", *argv, stdin=stdin)
    assert ended.returncode == 0, ended.stderr
    require_schema(msgspec.json.decode(ended.stdout))
    return msgspec.json.decode(ended.stdout, type=StatusDocument)


def test_a_reporter_and_the_cluster_agree_on_a_settled_stack(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    stack.change(AT_ZERO)
    with ReporterProcess(plane, *FLAGS) as reporter:
        url = f"--from=http://127.0.0.1:{reporter.health_port}"

        def agree() -> bool:
            asked, read = document(plane, url), document(plane, "--from=cluster")
            if asked.cluster.blocking is None or read.cluster.blocking is None:
                return False  # the reporter has not seen all that was changed, or holds it
            return (
                asked.cluster.blocking.reason == "clusterKaitoControllerNotReady"
                and asked.namespaces == read.namespaces
                and asked.cluster.components == read.cluster.components
                and asked.cluster.counts == read.cluster.counts
                and asked.cluster.blocking.reason == read.cluster.blocking.reason
            )

        until(agree, within=60, what="the reporter and the cluster agree")


def test_the_reporter_is_asked_in_its_pod_through_the_api_server(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    address, port = routable_address(), free_port()
    with (
        _reporter_pod(plane, address, port),
        ReporterProcess(plane, *FLAGS, f"--status-bind-address={address}:{port}"),
    ):
        ended = ask(plane, "status", "--from=reporter", "-o", "json")
        assert ended.returncode == 0, ended.stderr
        assert "the reporter in pod kaito-system/reporter-0" in ended.stderr
        found = msgspec.json.decode(ended.stdout, type=StatusDocument)
        assert found.mode == "watching"
        missing = ask(plane, "status", "team-z", "--from=reporter", "--exit-code")
        assert missing.returncode == 6
        assert "not found: no workload namespace team-z" in missing.stderr
        ready = ask(plane, "wait", "team-m", "--from=reporter", "--timeout=60s")
        assert (ready.returncode, ready.stdout) == (0, "team-m is available\n")


@contextmanager
def _reporter_pod(plane: ControlPlane, address: str, port: int) -> Iterator[None]:
    """A Ready pod of the reporter with this address."""
    pods = "/api/v1/namespaces/kaito-system/pods"
    container = {
        "name": "reporter",
        "image": "example/reporter:1",
        "args": [f"--status-bind-address=:{port}"],
    }
    labels = {"app.kubernetes.io/component": "status-reporter"}
    pod = {
        "metadata": {"name": "reporter-0", "labels": labels},
        "spec": {"containers": [container]},
    }
    status = {
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    plane.client.create(pods, pod)
    try:
        plane.client.patch(f"{pods}/reporter-0/status", {"status": status})
        yield
    finally:
        plane.client.delete(f"{pods}/reporter-0")


def test_a_wait_ends_in_each_state_with_its_code(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    def ends(*argv: str) -> int:
        return ask(plane, "wait", "--from=cluster", *argv).returncode

    assert ends("team-m/qwen") == 0
    assert ends("team-m/phi", "--for=gone") == 0
    assert ends("team-m/phi", ASKED_IN_TIME) == 3
    stack.change(AT_ZERO)
    assert ends("cluster", "--fail-fast", "--timeout=60s") == 4
    assert ends("cluster", ASKED_IN_TIME) == 3
    stack.change({"InferenceSet team-m/qwen": {"metadata": {"deletionTimestamp": "now"}}})
    assert ends("team-m/qwen", "--fail-fast", "--timeout=30s") == 6
    stack.change({"InferenceSet team-m/qwen": None})
    assert ends("team-m/qwen", "--for=gone", "--timeout=30s") == 0


ROUTER, AUTHORIZER = (
    "Deployment kaito-system/body-based-router",
    "Deployment llm-gateway-auth/apikey-authz",
)
ASKS_FOR_KEYS = {
    "EnvoyFilter team-m/apikey-ext-authz": {
        "metadata": {"labels": {"kaito.sh/owned-by": "modelharness"}},
        "spec": {
            "workloadSelector": {
                "labels": {"gateway.networking.k8s.io/gateway-name": "team-m-gw"}
            },
            "configPatches": [
                {
                    "patch": {
                        "value": {
                            "cluster_name": "outbound|9001||apikey-authz.llm-gateway-auth.svc.cluster.local"
                        }
                    }
                }
            ],
        },
    }
}


@pytest.mark.parametrize(
    ("component", "reason"),
    [(ROUTER, "clusterBBRNotReady"), (AUTHORIZER, "clusterGatewayAuthNotReady")],
)
def test_a_model_that_no_request_reaches_is_green_nowhere(
    plane: ControlPlane, stack: CaseClusterObjects, component: str, reason: str
) -> None:
    stack.change({**ASKS_FOR_KEYS, component: {"replicas": 0}})
    where = "--from=cluster"
    (team,) = document(plane, where, "team-m").namespaces
    (model,) = team.inference_sets
    assert (model.state, model.available, team.available) == ("Current", False, False)
    assert model.not_available is not None
    assert (model.not_available.reason, model.not_available.actionability) == (reason, "platform")
    assert team.available_counts is not None
    assert team.available_counts.unavailable == 1
    table = ask(plane, "status", "team-m", where).stdout
    assert f"↳ {reason}" in table
    explained = ask(plane, "explain", "team-m/qwen", where).stdout
    assert f"Available:     no, because of {reason} (ScaledToZero)" in explained
    assert "Nothing blocks it." not in explained
    checked = ask(plane, "check", "team-m/qwen", WITHOUT_GRACE)
    assert (checked.returncode, f"not available: {reason}" in checked.stdout) == (4, True)
    waited = ask(plane, "wait", "team-m/qwen", where, ASKED_IN_TIME)
    assert (waited.returncode, f"because of {reason}" in waited.stdout) == (3, True)
    assert ask(plane, "wait", "team-m/qwen", where, "--for=ready").returncode == 0
    stack.change({component: {"replicas": 2 if component == ROUTER else 3}})
    assert ask(plane, "wait", "team-m/qwen", where, "--timeout=60s").returncode == 0


def test_a_wait_ends_once_it_is_repaired(plane: ControlPlane, stack: CaseClusterObjects) -> None:
    stack.change(AT_ZERO)
    command = (sys.executable, "-m", "reporter.cli", "wait", "cluster", "--from=cluster")
    env = {**os.environ, "KUBECONFIG": str(plane.kubeconfig())}
    argv = (*command, "--settle-seconds=0", "--timeout=100s")
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, env=env, stdout=pipe, stderr=pipe, text=True) as waiting:
        assert waiting.stderr is not None
        assert any("Failed" in line for line in waiting.stderr), "it prints the state, and goes on"
        assert waiting.poll() is None
        stack.change({KAITO: {"replicas": 1}})
        out, _ = waiting.communicate(timeout=100)
    assert (waiting.returncode, out) == (0, "cluster is ready\n")


def test_a_watch_of_the_cluster_prints_what_changes(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    command = (sys.executable, "-m", "reporter.cli", "status", "--watch", "--from=cluster")
    env = {**os.environ, "KUBECONFIG": str(plane.kubeconfig())}
    with subprocess.Popen(
        (*command, "--settle-seconds=0"), env=env, stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        hanging = threading.Timer(120, watching.kill)
        hanging.start()
        cluster = next(shown_states(watching.stdout, "cluster"))
        team = next(shown_states(watching.stdout, "team-m"))
        stack.change(AT_ZERO)
        states = shown_states(watching.stdout, "cluster")
        seen = [next(states)]
        while seen[-1] != "Failed":
            seen.append(next(states))
        hanging.cancel()
        watching.terminate()
    assert (cluster, team) == ("Ready", "Ready")
    assert {*seen[:-1]} <= {"Progressing"}, "its status follows its spec a moment later"
    assert watching.returncode == 143


def test_a_dump_gives_the_same_as_the_cluster(
    plane: ControlPlane, stack: CaseClusterObjects, tmp_path: Path
) -> None:
    stack.change(AT_ZERO)
    path, notes = _dump(plane, tmp_path)
    assert "may not" not in notes
    read = document(plane, "--from=cluster")
    of_dump = document(plane, f"--from=file:{path}")
    assert of_dump.cluster.blocking.reason == read.cluster.blocking.reason
    assert of_dump.cluster.components == read.cluster.components
    assert of_dump.cluster.counts == read.cluster.counts
    assert _states(of_dump) == _states(read)
    checked = ask(plane, "check", f"--from=file:{path}", WITHOUT_GRACE)
    assert (checked.returncode, "clusterKaitoControllerNotReady" in checked.stdout) == (4, True)
    explained = ask(plane, "explain", "cluster", f"--from=file:{path}")
    assert "is scaled to zero" in explained.stdout
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    cut = ask(plane, "status", f"--from=file:{path}")
    assert (cut.returncode, f"it ends at line {len(lines) - 1} " in cut.stderr) == (2, True)


def test_a_dump_is_read_in_pages_as_kubectl_reads_them(
    plane: ControlPlane, stack: CaseClusterObjects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lister, "PAGE_SIZE", 1)
    path, _ = _dump(plane, tmp_path)
    listed = yaml.safe_load(plane.kubectl("get", "deployments", "-A", "-o", "yaml"))["items"]
    (found,) = (each for each in _end(path).kinds if each.resource == "deployments.apps")
    assert (found.objects, found.unread) == (len(listed), "")
    names = [each["metadata"]["name"] for each in listed]
    lines = path.read_text().splitlines()
    assert [each["metadata"]["name"] for each in _objects(lines, "Deployment")] == names


def test_a_dump_of_one_namespace_says_nothing_about_the_rest(
    plane: ControlPlane, stack: CaseClusterObjects, tmp_path: Path
) -> None:
    with reading_user(plane, "jill"):
        words = ("dump", "team-m", "--as=jill")
        until(lambda: ask(plane, *words).returncode == 0, within=60, what="she may")
        path, notes = _dump(plane, tmp_path, *words[1:])
        assert "only namespace team-m may be read" in notes
        assert "nodes: may not list nodes" in notes
        stack.change(AT_ZERO)
        read = document(plane, "--from=cluster", "team-m", "--as=jill", WITHOUT_GRACE)
        of_dump = document(plane, f"--from=file:{path}", "team-m", WITHOUT_GRACE)
        assert _states(of_dump) == _states(read)
        assert document(plane, f"--from=file:{path}").cluster.state == "Unknown"
        other = ask(plane, "status", "team-z", f"--from=file:{path}")
        assert (other.returncode, "says nothing about team-z" in other.stderr) == (2, True)


def _dump(plane: ControlPlane, folder: Path, *argv: str) -> tuple[Path, str]:
    """Return the file of a dump, and the notes about it."""
    ended = ask(plane, "dump", *argv)
    assert ended.returncode == 0, ended.stderr
    path = folder / "stack.yaml"
    path.write_text(ended.stdout)
    return path, ended.stderr


def _end(path: Path) -> DumpEnd:
    *_, last = path.read_text().splitlines()
    return parse_end(json.loads(last.removeprefix("--- ")))


def _objects(lines: Iterable[str], kind: str) -> Iterator[Json]:
    for line in lines:
        content = json.loads(line.removeprefix("--- "))
        if content["kind"] == kind:
            yield content


def _states(found: StatusDocument) -> list[object]:
    sets = (each for namespace in found.namespaces for each in namespace.inference_sets)
    return [(each.name, each.state, each.replicas, each.blocking) for each in sets]


def test_the_cluster_is_read_as_the_user_that_is_named(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    words = ("status", "-A", "-o", "name", "--from=cluster", "--as=jane")
    refused = ask(plane, *words)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert 'User "jane" cannot list resource' in refused.stderr
    admin = ("clusterrolebinding", "jane")
    plane.kubectl("create", *admin, "--clusterrole=cluster-admin", "--user=jane")
    try:
        until(lambda: ask(plane, *words).stdout == "team-m/qwen\n", within=60, what="she may")
    finally:
        plane.kubectl("delete", *admin)


@pytest.mark.parametrize("timeout", ["60", "60s", "0"])
def test_another_context_is_chosen_and_a_time_has_units_or_none(
    plane: ControlPlane, stack: CaseClusterObjects, tmp_path: Path, timeout: str
) -> None:
    config = yaml.safe_load(plane.kubeconfig().read_text())
    gone = {"name": "gone", "cluster": {"server": f"https://127.0.0.1:{free_port()}"}}
    config["clusters"].append(gone)
    config["contexts"].append({"name": "gone", "context": {"cluster": "gone"}})
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config | {"current-context": "gone"}))
    access = (f"--kubeconfig={path}", f"--request-timeout={timeout}", "--from=cluster")
    words = ("-n", "team-m", "qwen", "-o", "name", *access)
    found = ask(plane, "status", *words, "--context=e2e")
    assert (found.returncode, found.stdout) == (0, "team-m/qwen\n"), found.stderr
    assert ask(plane, "status", *words).returncode == 1


def test_kubectl_finds_the_plugin(
    plane: ControlPlane, stack: CaseClusterObjects, tmp_path: Path
) -> None:
    ended = _ask_plugin(plane, tmp_path, "productionstack-status", "-A", "-o", "name")
    assert (ended.returncode, ended.stdout) == (0, "team-m/qwen\n"), ended.stderr


def test_kubectl_completes_the_plugin(plane: ControlPlane, tmp_path: Path) -> None:
    """The scripts of ``kubectl completion`` ask kubectl itself, by the command ``__complete``."""

    def ask(*words: str) -> list[str]:
        ended = _ask_plugin(plane, tmp_path, "__complete", "productionstack-status", *words)
        assert ended.returncode == 0, ended.stderr
        return [line.partition("\t")[0] for line in ended.stdout.splitlines()]

    assert ask("wai") == ["wait", ":4"]
    assert ask("--outp") == ["--output=", ":6"]
    assert ask("team-a", "-o", "js") == ["json", ":4"]
    assert ask("wait", "team-a", "--for=g") == ["gone", ":4"]
    assert ask("team-a", "--kubeconfig", "") == [":0"]


def _ask_plugin(
    plane: ControlPlane, folder: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    """Run kubectl with the two programs of the plugin on its PATH."""
    for name, function in (
        ("kubectl-productionstack_status", "main_plugin"),
        ("kubectl_complete-productionstack_status", "main_plugin_completion"),
    ):
        main = f"from reporter.cli.__main__ import {function}; {function}()"
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{main}" "$@"\n')
        program.chmod(0o755)
    return subprocess.run(
        [plane.program("kubectl"), *words],
        env={
            **os.environ,
            "KUBECONFIG": str(plane.kubeconfig()),
            "PATH": f"{folder}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
