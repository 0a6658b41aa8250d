"""Whoever may read one namespace alone gets the answers about its models, on a real API server."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import msgspec
import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support.cases.asking import WITHOUT_GRACE, ask, reading_user, shown_states
from e2e.support.cases.cluster_objects import CaseClusterObjects
from reporter.model.status_document import StatusDocument


pytestmark = pytest.mark.controlplane

JOAN = ("--from=cluster", "--as=joan", WITHOUT_GRACE)
PICKER = "Deployment team-m/qwen-inferencepool-epp"


@contextmanager
def _rights_of_joan(plane: ControlPlane) -> Iterator[None]:
    with reading_user(plane, "joan"):
        asked = ("status", "team-m", *JOAN)
        until(lambda: ask(plane, *asked).returncode == 0, within=60, what="she may")
        yield


def test_rights_in_one_namespace_are_enough_for_its_models(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    words = ("status", "team-m", "-o", "json", *JOAN)
    with _rights_of_joan(plane):
        ended = ask(plane, *words)
        assert "only namespace team-m may be read; not seen: " in ended.stderr
        assert all(len(line) <= 100 for line in ended.stderr.splitlines())
        assert ask(plane, *words, "-q").stderr == ""
        found = msgspec.json.decode(ended.stdout, type=StatusDocument)
        ((model,),) = (each.inference_sets for each in found.namespaces)
        assert (model.state, model.available) == ("Current", None)
        assert model.replicas is not None
        assert model.replicas.ready == 1
        stack.change({PICKER: {"replicas": 0}})
        ended = ask(plane, *words)
        found = msgspec.json.decode(ended.stdout, type=StatusDocument)
        ((model,),) = (each.inference_sets for each in found.namespaces)
        assert model.blocking is not None
        # An upstream that is not seen may explain it, so it is held at a single reading.
        assert (model.state, model.blocking.reason) == ("InProgress", "inferencesetEPPNotReady")
        assert model.available is False


def test_rights_in_one_namespace_are_enough_to_wait_and_to_watch(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    with _rights_of_joan(plane):
        ended = ask(plane, "wait", "team-m/qwen", "--for=ready", *JOAN, "--timeout=60s")
        assert (ended.returncode, ended.stdout) == (0, "team-m/qwen is ready\n"), ended.stderr
        command = (sys.executable, "-m", "reporter.cli", "status", "team-m", "--watch", *JOAN)
        env = {**os.environ, "KUBECONFIG": str(plane.kubeconfig())}
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as watching:
            assert watching.stdout is not None
            hanging = threading.Timer(120, watching.kill)
            hanging.start()
            before = next(shown_states(watching.stdout, "InferenceSet", "qwen"))
            stack.change({PICKER: {"replicas": 0}})
            states = shown_states(watching.stdout, "InferenceSet", "qwen")
            seen = [next(states)]
            while seen[-1] != "Failed":
                seen.append(next(states))
            hanging.cancel()
            watching.terminate()
        assert before == "Ready"
        assert {*seen[:-1]} <= {"Progressing"}, "its status follows its spec a moment later"


def test_the_causes_elsewhere_are_told_by_what_a_reporter_wrote_into_the_namespace(
    plane: ControlPlane, stack: CaseClusterObjects
) -> None:
    events = "/api/v1/namespaces/team-m/events"
    event = {
        "metadata": {"name": "gateway.1"},
        "type": "Warning",
        "reason": "modelharnessGatewayDataPlaneNotReady",
        "message": "Namespace team-m: the proxy is out.",
        "source": {"component": "productionstack-status-reporter"},
        "involvedObject": {"kind": "Gateway", "name": "team-m-gw", "namespace": "team-m"},
        "lastTimestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    plane.client.create(events, event)
    try:
        with _rights_of_joan(plane):
            told = "by an Event of a reporter: modelharnessGatewayDataPlaneNotReady of Gateway team-m-gw"
            assert told in ask(plane, "status", "team-m", "-o", "wide", *JOAN).stderr
            ended = ask(plane, "wait", "team-m/qwen", *JOAN, "--timeout=3s")
            assert (ended.returncode, "note: by an Event of a reporter: " in ended.stderr) == (
                3,
                True,
            )
    finally:
        plane.client.delete(f"{events}/gateway.1")
