"""
Packs on the real API server: the tutorial of docs/packs.md, step by step, and the pack kserve.

The kinds are unknown to the program: their CRDs, rights, subjects and reasons are data.
"""

import contextlib
from collections.abc import Iterator, Mapping
from itertools import product, starmap
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART
from e2e.controlplane import ControlPlane, reporter_rights, until
from e2e.controlplane.client import ApiError
from e2e.support import events
from e2e.support.observer import NO_PAGES
from e2e.support.own_reasons import PACKS_PAGE, Tutorial, run_kubectl
from e2e.support.permission_table import first_columns, missing_permissions
from e2e.support.production_stack import components, restore
from e2e.support.reporter_process import NAMESPACE, ReporterProcess
from e2e.support.reporter_waits import until_metric
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS
from reporter.kube.access_review import Permission
from tests.support.command_line import run_command_line


HOLD, DISCOVERY, BLIND_AFTER = 15, 45, 30
PACK = "--packs=kserve"
APPS = "/apis/apps/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLE = "packs"
TEAM = "packs-team"
NAMESPACES = "/api/v1/namespaces"
SERVICES = "/apis/serving.kserve.io/v1beta1/namespaces/packs-team/inferenceservices"
KSERVE_CRD = "inferenceservices.serving.kserve.io"

Json = dict[str, Any]


@pytest.fixture
def tutorial(tmp_path: Path) -> Tutorial:
    made = Tutorial(tmp_path, TEAM, PACKS_PAGE)
    made.write()
    return made


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        plane.client.create(NAMESPACES, {"metadata": {"name": TEAM}})
        try:
            yield plane
        finally:
            plane.client.delete(f"{NAMESPACES}/{TEAM}")
            gone = f"{NAMESPACES}/{TEAM}"
            until(lambda: not plane.client.exists(gone), within=120, what=f"{TEAM} is gone")
            for crd in ("models.example.com", KSERVE_CRD):
                path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}"
                if plane.client.exists(path):
                    plane.remove_crd(crd)


def test_the_tutorial_leads_from_a_folder_to_an_event_and_to_recovery(
    plane: ControlPlane, tutorial: Tutorial
) -> None:
    check, test = tutorial.commands("productionstack-status-reporter")
    pack = f"--packs={tutorial.folder / 'models'}"
    assert check == ["check-config", "--packs=./models"]
    assert "modelNotServing" in _run("check-config", pack)
    assert test == ["test", "models/stories", "--coverage"]
    assert _run("test", str(tutorial.folder / "models" / "stories")) == "1 passed\n"
    apply_crd, wait, namespace, apply_object, fail, read, recover = tutorial.commands("kubectl")
    assert namespace == ["create", "namespace", TEAM]  # as the fixture does
    values = yaml.safe_load((tutorial.folder / "values.yaml").read_text())
    rights = values["ownPacks"]["models"]["rules"]
    granted = [{**rule, "verbs": ["list", "watch"]} for rule in rights]
    with _rights(plane, granted), _reporter(plane, pack) as reporter:
        for command in (apply_crd, wait, apply_object, fail):
            run_kubectl(plane, command)
        warning = events.wait_for(
            plane.client, "modelNotServing", within=DISCOVERY + HOLD + PROMPT_TIMEOUT
        )
        assert (warning.type, warning.involved) == ("Warning", ("Namespace", TEAM))
        assert warning.message == (
            f"Model {TEAM}/chat does not serve: weights not found."
            " User: Look at it with kubectl describe model."
        )
        assert "modelNotServing" in plane.kubectl(*read)
        named = [each["name"] for each in reporter.status()["subjects"]]
        assert "Model/chat" in named
        plane.kubectl(*recover)
        events.wait_for(plane.client, "modelReady", within=SETTLE + PROMPT_TIMEOUT)
        assert events.reasons(plane.client) == ["modelNotServing", "modelReady"]


def test_a_kind_that_comes_while_the_reporter_runs_is_watched_with_the_rights_of_the_chart(
    plane: ControlPlane, tutorial: Tutorial
) -> None:
    with _rights_of_the_chart(plane, "kserve"), _reporter(plane, PACK, grant=False) as reporter:
        assert missing_permissions(reporter) == []
        assert reporter.metric("missing_rights") == 0
        assert reporter.status()["kinds"][KSERVE_CRD] == "not served"
        assert reporter.metric("reason_state", state="unknown", layer="modeldeployment") == 0, (
            "it does not apply"
        )
        assert _check(plane, 0) == "cluster Ready"
        _apply_crd(plane, tutorial.folder)
        until(lambda: _is_served(plane, SERVICES), within=60, what="InferenceServices are served")
        plane.client.create(f"{APPS}/namespaces/{TEAM}/deployments", _CONTROLLER)
        components.until_ready(plane.client, _KSERVE)
        plane.client.create(SERVICES, _a_service())
        plane.client.patch(f"{SERVICES}/llama/status", {"status": _INVALID})
        warning = events.wait_for(
            plane.client,
            "inferenceserviceSpecInvalid",
            within=DISCOVERY + HOLD + PROMPT_TIMEOUT,
        )
        assert warning.message.startswith(
            f"InferenceService {TEAM}/llama: KServe refuses its spec: No runtime found"
        )
        assert reporter.status()["kinds"][KSERVE_CRD] == "watched"
        state = {"workload_namespace": TEAM, "inferenceset": "InferenceService/llama"}
        until_metric(reporter, 1, "inferenceset_reason_state", state="announced", **state)
        plane.client.delete(f"{SERVICES}/llama")
        until(
            lambda: all("llama" not in s["name"] for s in reporter.status()["subjects"]),
            within=PROMPT_TIMEOUT,
            what="the subject is gone",
        )
        assert events.reasons(plane.client) == ["inferenceserviceSpecInvalid"]


def test_what_a_pack_may_not_read_is_named_at_the_start_and_unknown(
    plane: ControlPlane, tutorial: Tutorial
) -> None:
    _apply_crd(plane, tutorial.folder)
    until(lambda: _is_served(plane, SERVICES), within=60, what="InferenceServices are served")
    reporter_rights.install(plane.client, NAMESPACE)
    for verb in ("list", "watch"):
        right = Permission(verb, "serving.kserve.io", "inferenceservices")
        reporter_rights.until_allowed(plane.client, NAMESPACE, right, allowed=False)
    with _reporter(plane, PACK, grant=False) as reporter:
        table = missing_permissions(reporter)
        assert f"list, watch {KSERVE_CRD}" in first_columns(table)
        assert "inferenceservicePredictorNotReady" in " ".join(table)
        assert reporter.metric("missing_rights", resource=KSERVE_CRD) == 2
        reason = {"reason": "inferenceservicePredictorNotReady", "layer": "modeldeployment"}
        until(
            lambda: reporter.metric("reason_state", state="unknown", **reason) > 0,
            within=BLIND_AFTER + PROMPT_TIMEOUT,
            what="it is unknown",
        )
        assert events.reporter_events(plane.client) == []


_KSERVE = components.StackComponent(TEAM, "kserve-controller-manager", {"of": "kserve"})
_CONTROLLER = components.deployment_manifest(_KSERVE)
_INVALID = {
    "modelStatus": {
        "transitionStatus": "InvalidSpec",
        "lastFailureInfo": {
            "reason": "NoSupportingRuntime",
            "message": "No runtime found to support specified framework/version",
        },
    },
    "conditions": [
        {"type": "PredictorReady", "status": "Unknown"},
        {"type": "IngressReady", "status": "Unknown"},
    ],
}


def _a_service() -> Json:
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "llama", "namespace": TEAM},
        "spec": {"predictor": {"model": {"modelFormat": {"name": "lama"}}}},
    }


# ---------------------------------------------------------------- used above


def _apply_crd(plane: ControlPlane, folder: Path) -> None:
    """Install the CRD of the tutorial under the names of KServe."""
    text = (folder / "crd.yaml").read_text()
    for old, new in (
        ("models.example.com", KSERVE_CRD),
        ("example.com", "serving.kserve.io"),
        ("ModelList", "InferenceServiceList"),
        ("kind: Model", "kind: InferenceService"),
        ("singular: model", "singular: inferenceservice"),
        ("plural: models", "plural: inferenceservices"),
        ("name: v1\n", "name: v1beta1\n"),
    ):
        text = text.replace(old, new)
    (folder / "kserve.yaml").write_text(text)
    plane.kubectl("apply", f"--filename={folder / 'kserve.yaml'}")


def _reporter(plane: ControlPlane, packs: str, *, grant: bool = True) -> ReporterProcess:
    return ReporterProcess(plane, *SHORT_FLAGS, NO_PAGES, packs, grant=grant)


def _check(plane: ControlPlane, code: int) -> str:
    """Return the first row of the table of `check`, which has to end with *code*."""
    config = plane.service_account_kubeconfig(*ReporterProcess.SERVICE_ACCOUNT)
    done = run_command_line("check", f"--kubeconfig={config}", PACK)
    assert done.returncode == code, done.stderr
    return " ".join(done.stdout.splitlines()[1].split()[:2])


@contextlib.contextmanager
def _rights_of_the_chart(plane: ControlPlane, pack: str) -> Iterator[None]:
    """
    Grant what every reporter needs, and for the pack what the chart's value ``packs`` grants.
    """
    reporter_rights.install(plane.client, NAMESPACE, packs=[])
    granted = yaml.safe_load((CHART / "files" / "rights.yaml").read_text())["packs"][pack]
    with _rights(plane, granted):
        yield


@contextlib.contextmanager
def _rights(plane: ControlPlane, granted: list[Json]) -> Iterator[None]:
    account = {"kind": "ServiceAccount", "name": reporter_rights.NAME, "namespace": NAMESPACE}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ROLE}
    meta: Mapping[str, Any] = {"metadata": {"name": ROLE}}
    plane.client.create(f"{RBAC}/clusterroles", {**meta, "rules": granted})
    binding = {**meta, "roleRef": role, "subjects": [account]}
    plane.client.create(f"{RBAC}/clusterrolebindings", binding)
    try:
        for rule in granted:
            every = product(rule["verbs"], rule["apiGroups"], rule["resources"])
            for right in starmap(Permission, every):
                reporter_rights.until_allowed(plane.client, NAMESPACE, right)
        yield
    finally:
        plane.client.delete(f"{RBAC}/clusterrolebindings/{ROLE}")
        plane.client.delete(f"{RBAC}/clusterroles/{ROLE}")


def _is_served(plane: ControlPlane, path: str) -> bool:
    try:
        plane.client.get(path, limit="1")
    except ApiError:
        return False
    return True


def _run(*arguments: str) -> str:
    done = run_command_line(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout
