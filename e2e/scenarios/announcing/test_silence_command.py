"""The command ``silence`` against a real API server, with the permissions that its users have."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane, reporter_rights
from e2e.support import events
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON, READY_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.silences import SLOW, run_command, until_silenced
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS
from reporter.catalogue.silence_file import parse_silence_file
from reporter.kinds.resource_kind import SILENCE_PREFIX
from reporter.kube.access_review import Permission


pytestmark = pytest.mark.controlplane

RBAC = "rbac.authorization.k8s.io"
TEAM = "team-0"
FOR_AN_HOUR = ("--until=1h", "--why=mine")
Rule = dict[str, list[str]]
MAY_READ: Rule = {"apiGroups": ["kaito.sh"], "resources": ["inferencesets"], "verbs": ["get"]}
MAY_PATCH: Rule = {**MAY_READ, "verbs": ["get", "patch"]}


@pytest.fixture
def owner(plane: ControlPlane) -> Iterator[Callable[[Rule], Path]]:
    """
    Yield a function that returns the kubeconfig of a ServiceAccount with one rule in its namespace.
    """
    name, client = "silencer", plane.client
    meta = {"name": name, "namespace": TEAM}
    made = []

    def add(rule: Rule) -> Path:
        subject = {"kind": "ServiceAccount", **meta}
        for kind, version, content in (
            ("ServiceAccount", "v1", {}),
            ("Role", f"{RBAC}/v1", {"rules": [rule]}),
            (
                "RoleBinding",
                f"{RBAC}/v1",
                {
                    "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": name},
                    "subjects": [subject],
                },
            ),
        ):
            manifest = {"apiVersion": version, "kind": kind, "metadata": meta, **content}
            client.apply(manifest)
            made.append(client.path(manifest))
        for verb in rule["verbs"]:
            right = Permission(verb, "kaito.sh", "inferencesets", TEAM)
            reporter_rights.until_allowed(client, TEAM, right, account=name)
        return plane.service_account_kubeconfig(TEAM, name)

    yield add
    for path in reversed(made):
        client.delete(path)


def silence_of(plane: ControlPlane, number: int) -> dict[str, str]:
    annotations = plane.client.get(inference_sets.path(number))["metadata"].get("annotations", {})
    return {
        name.removeprefix(SILENCE_PREFIX): value
        for name, value in annotations.items()
        if name.startswith(SILENCE_PREFIX)
    }


def test_command_silences_what_is_announced_and_recovery_passes(plane: ControlPlane) -> None:
    client, target, admin = plane.client, inference_sets.name(0), plane.kubeconfig()
    with ReporterProcess(plane, *SHORT_FLAGS, "--heartbeat-seconds=10") as reporter:
        inference_sets.misconfigure(client, 0)
        inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)
        done = run_command(admin, target, INVALID_REASON, *FOR_AN_HOUR, "--apply")
        assert (done.returncode, done.stderr) == (0, "")
        until_silenced(reporter, 0)
        inference_sets.misconfigure(client, 1)
        inference_sets.wait_for(client, INVALID_REASON, 1, within=SLOW)
        last = events.reporter_events(client, INVALID_REASON)
        inference_sets.wait_for(client, INVALID_REASON, 1, within=SLOW, count=last[1].count + 1)
        assert events.reporter_events(client, INVALID_REASON)[0] == last[0]
        again = run_command(admin, target, "all", *FOR_AN_HOUR, "--apply")
        assert again.returncode == 1
        assert "has a silence" in again.stderr
        inference_sets.repair(client, 0)
        inference_sets.wait_for(client, READY_REASON, 0, within=SETTLE + PROMPT_TIMEOUT)


def test_printed_object_is_applied_by_kubectl_and_takes_nothing_away(plane: ControlPlane) -> None:
    client, target = plane.client, inference_sets.name(2)
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        inference_sets.misconfigure(client, 2)
        before = client.get(inference_sets.path(2))
        printed = run_command(
            plane.kubeconfig(), target, INVALID_REASON, "--until=2099-01-01", "--why=mine"
        )
        plane.kubectl(
            *("apply", "--server-side", "--field-manager=silence", "-f", "-"),
            stdin=printed.stdout,
        )
        until_silenced(reporter, 2)
        after = client.get(inference_sets.path(2))
        assert after["spec"] == before["spec"]
        added = (
            after["metadata"]["annotations"].items() - before["metadata"]["annotations"].items()
        )
        assert {name.removeprefix(SILENCE_PREFIX) for name, _ in added} == {
            "until",
            "reasons",
            "why",
            "by",
        }


def test_who_may_patch_the_inference_set_silences_it_and_ends_it_again(
    plane: ControlPlane, owner: Callable[[Rule], Path]
) -> None:
    target, mine = inference_sets.name(0), owner(MAY_PATCH)
    done = run_command(mine, target, INVALID_REASON, *FOR_AN_HOUR, "--apply")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"InferenceSet model-0 silenced: {INVALID_REASON} until " in done.stdout
    assert silence_of(plane, 0).keys() == {"until", "reasons", "why", "by"}
    until, *others = ("--until=2099-01-01", "--why=longer", "--apply", "--replace")
    done = run_command(mine, target, "all", until, *others)
    assert (done.returncode, done.stderr) == (0, "")
    assert silence_of(plane, 0)["until"] == "2099-01-01T00:00:00Z"
    assert silence_of(plane, 0)["reasons"] == "all"


@pytest.mark.parametrize(
    ("rule", "target", "missing"),
    [
        (MAY_READ, inference_sets.name(0), 'cannot patch resource "inferencesets"'),
        ({**MAY_READ, "verbs": ["list"]}, inference_sets.name(0), "cannot get resource"),
        (MAY_PATCH, TEAM, 'cannot get resource "namespaces"'),
    ],
    ids=["patch", "get", "namespace"],
)
def test_refusal_names_the_missing_permission_and_changes_nothing(
    plane: ControlPlane, owner: Callable[[Rule], Path], rule: Rule, target: str, missing: str
) -> None:
    refused = run_command(owner(rule), target, "all", *FOR_AN_HOUR, "--apply")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert missing in refused.stderr
    assert f"{TEAM}:silencer" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert silence_of(plane, 0) == {}


def test_inference_set_that_is_not_there_is_named(plane: ControlPlane) -> None:
    refused = run_command(plane.kubeconfig(), f"{TEAM}/nobody", "all", *FOR_AN_HOUR, "--apply")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert 'inferencesets.kaito.sh "nobody" not found' in refused.stderr


def test_namespace_is_silenced_with_all_that_is_in_it(plane: ControlPlane) -> None:
    client, admin = plane.client, plane.kubeconfig()
    try:
        done = run_command(admin, TEAM, INVALID_REASON, *FOR_AN_HOUR, "--apply")
        assert (done.returncode, done.stderr) == (0, "")
        with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
            for number in range(2):
                inference_sets.misconfigure(client, number)
            for number in range(2):
                until_silenced(reporter, number)
            assert events.reporter_events(client) == []
    finally:
        fields = dict.fromkeys(silence_fields(plane))
        client.patch(f"/api/v1/namespaces/{TEAM}", {"metadata": {"annotations": fields}})


def silence_fields(plane: ControlPlane) -> list[str]:
    annotations = plane.client.get(f"/api/v1/namespaces/{TEAM}")["metadata"]["annotations"]
    return [name for name in annotations if name.startswith(SILENCE_PREFIX)]


def test_what_is_held_back_is_listed_and_announced_once_the_silence_is_taken_back(
    plane: ControlPlane, owner: Callable[[Rule], Path]
) -> None:
    client, target, mine = plane.client, inference_sets.name(0), owner(MAY_PATCH)
    with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
        done = run_command(mine, target, INVALID_REASON, *FOR_AN_HOUR, "--apply")
        assert (done.returncode, done.stderr) == (0, "")
        inference_sets.misconfigure(client, 0)
        until_silenced(reporter, 0)
        listed = run_command(plane.kubeconfig(), "list", target, "-o", "json")
        (found,) = json.loads(listed.stdout)["silences"]
        assert (found["scope"], found["by"], found["why"]) == (target, "alice", "mine")
        assert found["holdsBack"] == [{"reason": INVALID_REASON, "subject": target}]
        assert events.reporter_events(client) == []
        ended = run_command(mine, "expire", target)
        assert (ended.returncode, silence_of(plane, 0)) == (0, {})
        assert f"InferenceSet {target}: silence ended: {INVALID_REASON} until " in ended.stdout
        inference_sets.wait_for(client, INVALID_REASON, 0, within=PROMPT_TIMEOUT)


def test_the_cluster_is_silenced_in_the_map_that_the_reporter_mounts(plane: ControlPlane) -> None:
    admin = plane.kubeconfig()
    silenced = ("cluster", "clusterKedaNotReady", *FOR_AN_HOUR, "--apply")
    with _mounting_pod(plane):
        refused = run_command(admin, *silenced, "--as=jane")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert 'User "jane" cannot list resource "pods"' in refused.stderr
        done = run_command(admin, *silenced)
        assert done.returncode == 0, done.stderr
        assert "ConfigMap kaito-system/silences changed: cluster silenced" in done.stdout
        again = run_command(admin, "cluster", "clusterBBRNotReady", *FOR_AN_HOUR, "--apply")
        assert again.returncode == 0, again.stderr
        found = json.loads(run_command(admin, "list", "cluster", "-o", "json").stdout)["silences"]
        assert [each["reasons"] for each in found] == ["clusterKedaNotReady", "clusterBBRNotReady"]
        ended = run_command(admin, "expire", "cluster", "clusterKedaNotReady")
        assert ended.returncode == 0, ended.stderr
        text = plane.client.get(MAP)["data"]["silences.yaml"]
        (left,) = parse_silence_file(text, Path("silences.yaml")).silences
        assert (left.reasons, left.by, left.problem) == (("clusterBBRNotReady",), "alice", "")


MAP = "/api/v1/namespaces/kaito-system/configmaps/silences"


@contextmanager
def _mounting_pod(plane: ControlPlane) -> Iterator[None]:
    """The pod of a reporter whose file of silences is a ConfigMap that does not exist yet."""
    pods = "/api/v1/namespaces/kaito-system/pods"
    container = {
        "name": "reporter",
        "image": "example/reporter:1",
        "args": ["--silence-file=/etc/silences/silences.yaml"],
        "volumeMounts": [{"name": "silences", "mountPath": "/etc/silences"}],
    }
    volume = {"name": "silences", "configMap": {"name": "silences", "optional": True}}
    labels = {"app.kubernetes.io/component": "status-reporter"}
    plane.client.create(
        pods,
        {
            "metadata": {"name": "reporter-0", "labels": labels},
            "spec": {"containers": [container], "volumes": [volume]},
        },
    )
    try:
        yield
    finally:
        plane.client.delete(f"{pods}/reporter-0")
        plane.kubectl(
            "delete", "configmap", "silences", "-n", "kaito-system", "--ignore-not-found"
        )
