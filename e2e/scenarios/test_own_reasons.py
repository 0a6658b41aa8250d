"""
Reasons of one's own on the real API server: the tutorial of docs/own-reasons.md, step by step.

The kind is unknown to the program: its CRD, its rights, its reason and its objects come from the page.
"""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.controlplane import ControlPlane, until
from e2e.support import events
from e2e.support.granted_rules import granted
from e2e.support.own_reasons import Tutorial, run_kubectl
from e2e.support.reporter_process import ReporterProcess
from reporter.model.enums import Layer
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.command_line import run_command_line


REASON, READY = "modelharnessInferenceServiceNotReady", "modelharnessReady"
CRD = "inferenceservices.serving.kserve.io"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLE = "own-reasons"
WITHIN = 120
"""
The time limit of each step, in seconds: a hold, two discoveries and a pause of a refused watch.
"""

CONDITION = {name: {"type": "string"} for name in ("type", "status", "reason", "message")}
FLAGS = (
    "--scrape=off",
    "--startup-grace-seconds=1",
    "--settle-seconds=1",
    "--leader-elect=false",
    "--heartbeat-seconds=3600",
)
OTHERS = {
    str(entry.reason): {"enabled": False}
    for entry in DEFAULT_CATALOGUE.evaluated_entries(Layer.MODELHARNESS)
}
"""The shipped reasons of the layer, off: the namespace of the test has no Gateway."""


@pytest.fixture
def tutorial(stack: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Tutorial]:
    """The files of the tutorial, for a workload namespace of this test alone."""
    labels = {"productionstack.kaito.sh/managed-by": "modelharness"}
    stack.client.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}})
    made = Tutorial(tmp_path, namespace)
    made.write()
    _write_overlay(made, yaml.safe_load(made.files["overlay.yaml"]))
    events.clear(stack.client)
    try:
        yield made
    finally:
        if stack.client.exists(f"{CRDS}/{CRD}"):
            stack.remove_crd(CRD)
        events.clear(stack.client)


def test_the_tutorial_leads_to_an_event_and_to_recovery(
    stack: ControlPlane, tutorial: Tutorial
) -> None:
    check, _ = tutorial.commands("productionstack-status-reporter")
    assert run_command_line(*check).returncode == 0
    *_, read, recover = tutorial.commands("kubectl")
    with _rights(stack, tutorial), _reporter(stack, tutorial) as reporter:
        assert _state(reporter, tutorial) == "clear"
        _fail(stack, tutorial)
        warning = events.wait_for(stack.client, REASON, within=WITHIN)
        assert (warning.type, warning.involved) == ("Warning", ("Namespace", tutorial.namespace))
        name = f"{tutorial.namespace}/chat"
        assert warning.message.startswith(
            f"Namespace {tutorial.namespace}: InferenceService {name} has failed (1 of 1): image"
            f" chat:2 not found. User: Correct the image or the resources of InferenceService {name}."
        )
        assert REASON in stack.kubectl(*read)
        stack.kubectl(*recover)
        events.wait_for(stack.client, READY, within=WITHIN, containing=tutorial.namespace)
        assert events.reasons(stack.client) == [REASON, READY]


def test_a_misspelled_field_is_found_by_the_crds_of_the_cluster(
    stack: ControlPlane, tutorial: Tutorial
) -> None:
    crd = yaml.safe_load(tutorial.files["crd.yaml"])
    conditions = {"type": "array", "items": {"type": "object", "properties": CONDITION}}
    status = {"type": "object", "properties": {"conditions": conditions}}
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {
        "type": "object",
        "properties": {"status": status},
    }
    (tutorial.folder / "crd.yaml").write_text(yaml.safe_dump(crd), "utf-8")
    run_kubectl(stack, ["apply", f"--filename={tutorial.folder / 'crd.yaml'}"])
    overlay = tutorial.folder / "overlay.yaml"
    overlay.write_text(tutorial.files["overlay.yaml"].replace("c.reason in", "c.raeson in"))
    given = ("lint", str(overlay), "--crds=cluster")
    found = run_command_line(*given, KUBECONFIG=str(stack.kubeconfig()))
    assert (found.returncode, found.stderr) == (1, "")
    assert (
        "there is no field object.status.conditions[].raeson: did you mean `reason`?"
        in found.stdout
    )
    assert "1 problem in 1 file" in found.stdout
    stack.remove_crd(CRD)
    missing = run_command_line(*given, KUBECONFIG=str(stack.kubeconfig()))
    assert (missing.returncode, f"fields of {CRD} are not checked" in missing.stderr) == (0, True)


def test_the_crd_is_deleted_and_made_anew(stack: ControlPlane, tutorial: Tutorial) -> None:
    _fail(stack, tutorial)
    with _rights(stack, tutorial), _reporter(stack, tutorial) as reporter:
        first = events.wait_for(stack.client, REASON, within=WITHIN)
        stack.remove_crd(CRD)
        events.wait_for(stack.client, READY, within=WITHIN, containing=tutorial.namespace)
        assert _state(reporter, tutorial) == "clear"
        _fail(stack, tutorial)
        events.wait_for(stack.client, REASON, within=WITHIN, besides=[first])


def test_without_the_right_it_is_unknown_and_named(
    stack: ControlPlane, tutorial: Tutorial
) -> None:
    _fail(stack, tutorial)
    with _reporter(stack, tutorial) as reporter:
        until(
            lambda: _state(reporter, tutorial) == "unknown",
            within=WITHIN,
            what="the reason is unknown",
        )
        unread = reporter.status()["unread"][CRD]
        assert unread["why"] == f"may not list {CRD}"
        assert unread["unknown"] == [REASON]
        assert events.reporter_events(stack.client, REASON) == []
        with _rights(stack, tutorial):
            events.wait_for(stack.client, REASON, within=WITHIN)


SETTINGS: dict[str, Any] = {
    "kinds": [
        {
            "kind": "ConfigMap",
            "resource": "configmaps",
            "label-selector": "checked=yes",
            "field-selector": "metadata.name!=b",
        }
    ],
    "add": [
        {
            "reason": "modelharnessSettingWrong",
            "layer": "modelharness",
            "type": "Warning",
            "owner": "user",
            "rank": 80,
            "probe": "cel",
            "hold": {"starting": "1s"},
            "parameters": {
                "kind": "ConfigMap",
                "current": 'object.kind == "ConfigMap" && object.?data.?ok.orValue("") == "yes"',
            },
            "message": "Namespace {namespace}: {object} {state} ({count}).",
            "remedy": {"default": "Correct it."},
        }
    ],
}


def test_a_built_in_kind_is_read_as_far_as_its_selectors_go(
    stack: ControlPlane, tutorial: Tutorial
) -> None:
    where = tutorial.namespace
    maps = f"/api/v1/namespaces/{where}/configmaps"
    _write_overlay(tutorial, SETTINGS)
    rule = {"apiGroups": [""], "resources": ["configmaps"]}
    (tutorial.folder / "values.yaml").write_text(json.dumps({"extraRules": [rule]}))
    for name, checked in (("a", "yes"), ("b", "yes"), ("c", "no"), ("d", "yes")):
        meta = {"name": name, "labels": {"checked": checked}}
        data = {"ok": "yes"} if name == "d" else {}
        stack.client.create(maps, {"metadata": meta, "data": data})
    with _rights(stack, tutorial), _reporter(stack, tutorial):
        warning = events.wait_for(stack.client, "modelharnessSettingWrong", within=WITHIN)
        wrong = f"Namespace {where}: ConfigMap {where}/a is not current yet (1 of 2) "
        assert warning.message.startswith(wrong)
        stack.client.patch(f"{maps}/a", {"data": {"ok": "yes"}})
        events.wait_for(stack.client, READY, within=WITHIN, containing=where)


# ---------------------------------------------------------------- used above


def _write_overlay(tutorial: Tutorial, overlay: dict[str, Any]) -> None:
    text = json.dumps({**overlay, "reasons": OTHERS})
    (tutorial.folder / "overlay.yaml").write_text(text)


def _reporter(plane: ControlPlane, tutorial: Tutorial) -> ReporterProcess:
    return ReporterProcess(
        plane, *FLAGS, f"--catalogue-overlay={tutorial.folder / 'overlay.yaml'}"
    )


def _fail(plane: ControlPlane, tutorial: Tutorial) -> None:
    """Install the kind, make an object of it and let that fail, as the page does."""
    for command in tutorial.commands("kubectl")[:4]:
        run_kubectl(plane, command)


def _state(reporter: ReporterProcess, tutorial: Tutorial) -> str:
    """Return the state of the reason for the namespace of the test."""
    found = [
        verdict["state"]
        for subject in reporter.status()["subjects"]
        if (subject["layer"], subject.get("namespace")) == ("modelharness", tutorial.namespace)
        for verdict in subject["verdicts"]
        if verdict["reason"] == REASON
    ]
    return found[0] if found else "clear"


def _rights(plane: ControlPlane, tutorial: Tutorial) -> AbstractContextManager[None]:
    """Grant what the chart grants for the values of the tutorial."""
    values = yaml.safe_load((tutorial.folder / "values.yaml").read_text())
    return granted(plane.client, ROLE, values["extraRules"])
