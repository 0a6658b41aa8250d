"""Six users, each with one question, get the right answer by one command on a real API server."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support.cases.asking import WITHOUT_GRACE, ask, reading_user
from e2e.support.cases.cluster_objects import CaseClusterObjects


pytestmark = pytest.mark.controlplane

ROUTER = "Deployment kaito-system/body-based-router"
PICKER = "Deployment team-m/qwen-inferencepool-epp"
ROUTER_OUT = "Deployment kaito-system/body-based-router is scaled to zero replicas."
PORT_REASON = """\
kinds: [{ kind: InferencePool, group: inference.networking.k8s.io, resource: inferencepools }]
add:
  - reason: modelharnessPoolOfAnotherPort
    layer: modelharness
    type: Warning
    owner: user
    rank: 80
    probe: cel
    parameters:
      kind: InferencePool
      current: object.spec.targetPorts.exists(p, p.number == 8000)
      failed: "true"
    message: "Namespace {namespace}: {object} {state} ({count})."
    remedy: { default: "Set the port of {object} to 8000." }
"""


def test_a_newcomer_sees_what_is_wrong_and_who_must_act(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    stack.change({ROUTER: {"replicas": 0}})
    ended = ask(plane, "status", "--from=cluster", WITHOUT_GRACE)
    assert ended.returncode == 0, ended.stderr
    (note,) = ended.stderr.splitlines()
    assert "only a reporter reads metrics pages" in note
    rows = {line.split()[0]: line for line in ended.stdout.splitlines()}
    assert list(rows["cluster"].split()[:6]) == ["cluster", "Failed", "-", "0/1", "-", "platform"]
    assert rows["cluster"].endswith(f"clusterBBRNotReady     {ROUTER_OUT}")
    assert rows["team-m"].split()[:4] == ["team-m", "Ready", "1/1", "0/1"]
    assert rows["team-m"].endswith(f"platform   ↳ clusterBBRNotReady   {ROUTER_OUT}")


def test_somebody_on_call_sees_the_chain_of_causes_and_what_to_do(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    kaito = "Deployment kaito-system/kaito-workspace"
    stack.change({kaito: {"replicas": 0}, "Pod team-m/qwen-7rk2p-0": {"ready": False}})
    ended = ask(plane, "explain", "team-m/qwen", "--from=cluster", WITHOUT_GRACE)
    assert ended.returncode == 0, ended.stderr
    assert "Blocked by:    clusterKaitoControllerNotReady (ScaledToZero)" in ended.stdout
    assert "Acts:          platform" in ended.stdout
    assert "Remedy:        Scale it back up with kubectl scale" in ended.stdout
    assert "↳ because of clusterKaitoControllerNotReady (the root)" in ended.stdout


def test_the_owner_of_a_model_needs_the_rights_to_its_namespace_alone(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    stack.change({PICKER: {"replicas": 0}})
    words = ("status", "team-m/qwen", "--from=cluster", "--as=owner", WITHOUT_GRACE)
    with reading_user(plane, "owner"):
        until(lambda: ask(plane, *words).returncode == 0, within=60, what="the owner may")
        ended = ask(plane, *words)
    assert "only namespace team-m may be read" in ended.stderr
    assert "Available:     no" in ended.stdout
    assert "Blocked by:    inferencesetEPPNotReady (ScaledToZero)" in ended.stdout
    assert "Object:        deployments.apps team-m/qwen-inferencepool-epp" in ended.stdout


def test_a_pipeline_fails_with_one_case_for_each_subject(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    words = ("check", "-o", "junit", WITHOUT_GRACE)
    assert ask(plane, *words).returncode == 0
    stack.change({ROUTER: {"replicas": 0}})
    ended = ask(plane, *words)
    suite = ET.fromstring(ended.stdout)
    failed = {
        str(case.get("name")): str(failure.get("message"))
        for case in suite.iter("testcase")
        for failure in case.iter("failure")
    }
    assert (ended.returncode, sorted(failed)) == (4, ["cluster", "team-m/qwen"])
    assert all("clusterBBRNotReady" in message for message in failed.values())


def test_an_author_of_reasons_finds_the_misspelled_field_and_sees_the_reason(
    plane: ControlPlane, stack: CaseClusterObjects, tmp_path: Path
) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(PORT_REASON.replace("targetPorts", "targetPort"))
    words = ("lint", str(overlay), "--crds=cluster")
    misspelled = ask(plane, *words)
    assert misspelled.returncode == 1
    assert "there is no field object.spec.targetPort: did you mean `targetPorts`?" in (
        misspelled.stdout
    )
    overlay.write_text(PORT_REASON)
    assert ask(plane, *words).stdout == "0 problems in 1 file\n"
    shown = ask(plane, "status", "team-m", "--from=cluster", f"--catalogue-overlay={overlay}")
    assert "modelharnessPoolOfAnotherPort" in shown.stdout, shown.stderr


def test_a_dump_tells_afterwards_what_was_wrong(
    plane: ControlPlane, stack: CaseClusterObjects, tmp_path: Path
) -> None:
    stack.change({ROUTER: {"replicas": 0}})
    dump = tmp_path / "stack.yaml"
    dump.write_text(ask(plane, "dump").stdout)
    stack.change({ROUTER: {"replicas": 2}})
    told = ask(plane, "explain", "team-m/qwen", f"--from=file:{dump}", WITHOUT_GRACE)
    assert told.returncode == 0, told.stderr
    assert "Available:     no, because of clusterBBRNotReady (ScaledToZero)" in told.stdout
    now = ask(plane, "explain", "team-m/qwen", "--from=cluster", WITHOUT_GRACE)
    assert "Available:     yes" in now.stdout
