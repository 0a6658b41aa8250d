"""
The reading of a package's status by kubectl and kstatus, from its creation to a new revision.
"""

import contextlib
import subprocess
from collections.abc import Iterator

import pytest

from e2e.controlplane import ApiError, Client, ControlPlane
from e2e.support import status_objects
from e2e.support.production_stack import components, inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.status_objects import FLAGS
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS
from tests.support import kstatus
from tests.support.status_objects import condition


pytestmark = pytest.mark.controlplane

TEAM, RELEASE = "team-0", "kube-system"
KAITO = components.path(components.KAITO_WORKSPACE)
SLOW = 2 * PROMPT_TIMEOUT
"""A new generation waits for five seconds more."""


def test_package_is_ready_only_once_it_is_and_stalled_with_its_cause(plane: ControlPlane) -> None:
    client = plane.client
    created = status_objects.create(client, TEAM)
    assert created["status"] == {"observedGeneration": -1}
    assert status_objects.computed(client, TEAM) == kstatus.IN_PROGRESS
    assert not _waits(plane, "Ready", seconds=1)
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS) as reporter:
        assert _waits(plane, "Ready", seconds=SLOW)
        assert status_objects.computed(client, TEAM) == kstatus.CURRENT
        assert _waits(plane, "Available", seconds=SLOW)
        healthy = status_objects.read(client, TEAM)
        assert {k: v for k, v in healthy["metadata"].items() if k not in _SERVERS} == {
            k: v for k, v in created["metadata"].items() if k not in _SERVERS
        }
        assert healthy["spec"] == created["spec"] == {"scope": "Namespace"}
        assert healthy["status"]["inferenceSets"] == {"total": 4, "current": 4}

        inference_sets.misconfigure(client, 0)
        assert _waits(plane, "Stalled", seconds=SLOW)
        assert not _waits(plane, "Ready", seconds=1)
        assert status_objects.computed(client, TEAM) == kstatus.FAILED
        failed = status_objects.read(client, TEAM)
        assert status_objects.reason(failed) == INVALID_REASON
        assert failed["status"]["blocking"]["actionability"] == "user"
        assert failed["status"]["inferenceSets"] == {"total": 4, "current": 3, "failed": 1}
        assert _waits(plane, "Available", seconds=SLOW), "the other models serve"
        _, row = plane.kubectl("get", "pss", "--namespace", TEAM).splitlines()
        assert row.split()[:5] == ["package", "Failed", "False", "True", INVALID_REASON]

        inference_sets.repair(client, 0)
        assert _waits(plane, "Ready", seconds=SLOW)
        assert reporter.metric("status_object_writes_total", result="written") >= 2
        assert reporter.metric("status_objects_failing") == 0
        assert "Traceback" not in reporter.log()


_SERVERS = {"resourceVersion", "managedFields"}


def test_new_revision_is_in_progress_and_then_current(plane: ControlPlane) -> None:
    client = plane.client
    status_objects.create(client, TEAM, package={"name": "shop", "revision": "v1"})
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS):
        before = status_objects.until_state(client, TEAM, "Current", within=SLOW)
        changed = status_objects.change_spec(client, TEAM, package={"revision": "v2"})
        assert kstatus.compute(changed) == kstatus.IN_PROGRESS
        assert changed["status"]["packageRevision"] == "v1"
        after = status_objects.until_state(client, TEAM, "Current", within=SLOW)
        assert after["metadata"]["generation"] == 2
        assert after["status"]["packageRevision"] == "v2"
        assert _waits(plane, "Ready", seconds=SLOW)
        ready = [condition(each["status"], "Ready") for each in (before, after)]
        assert ready[0]["lastTransitionTime"] == ready[1]["lastTransitionTime"]
        assert [each["observedGeneration"] for each in ready] == [1, 2]


def test_questions_about_sets_and_about_the_cluster(plane: ControlPlane) -> None:
    client = plane.client
    inference_sets.misconfigure(client, 0)
    status_objects.create(client, TEAM, "whole")
    status_objects.create(client, TEAM, "others", inferenceSets=["model-1", "model-2"])
    status_objects.create(client, TEAM, "missing", inferenceSets=["model-1", "model-9"])
    status_objects.create(client, TEAM, "cluster", scope="Cluster")
    status_objects.create(client, RELEASE, "cluster", scope="Cluster")
    status_objects.create(client, "default", "nothing")
    with ReporterProcess(plane, *SHORT_FLAGS, *FLAGS):
        expected = [
            (TEAM, "whole", "Failed", INVALID_REASON),
            (TEAM, "others", "Current", "Current"),
            (TEAM, "missing", "NotFound", "NotFound"),
            (TEAM, "cluster", "Failed", "InvalidScope"),
            (RELEASE, "cluster", "Current", "Current"),
            ("default", "nothing", "NotFound", "NotFound"),
        ]
        for namespace, name, state, reason in expected:
            found = status_objects.until_state(client, namespace, state, name, within=SLOW)
            assert (name, status_objects.reason(found)) == (name, reason)
        for name in ("missing", "cluster", "whole"):
            assert status_objects.computed(client, TEAM, name) == kstatus.FAILED


def test_unknown_and_terminating_are_in_progress(plane: ControlPlane) -> None:
    client = plane.client
    status_objects.create(client, RELEASE, "cluster", scope="Cluster")
    status_objects.create(client, TEAM, "going", inferenceSets=["going"])
    with (
        _stale_control_plane(client),
        _ending_set(client),
        ReporterProcess(plane, *SHORT_FLAGS, *FLAGS),
    ):
        expected = [
            (RELEASE, "cluster", "Unknown", "Unknown"),
            (TEAM, "going", "Terminating", "False"),
        ]
        for namespace, name, state, ready in expected:
            found = status_objects.until_state(client, namespace, state, name, within=SLOW)
            assert condition(found["status"], "Ready")["status"] == ready
            assert condition(found["status"], "Reconciling")["status"] == "True"
            assert condition(found["status"], "Stalled")["status"] == "False"
            assert kstatus.compute(found) == kstatus.IN_PROGRESS


@contextlib.contextmanager
def _stale_control_plane(client: Client) -> Iterator[None]:
    """Change a Deployment, whose controller does not act on it."""
    changed = client.patch(KAITO, {"spec": {"minReadySeconds": 1}})
    try:
        yield
    finally:
        observed = {"observedGeneration": changed["metadata"]["generation"]}
        client.patch(f"{KAITO}/status", {"status": observed})


@contextlib.contextmanager
def _ending_set(client: Client) -> Iterator[None]:
    """Delete an InferenceSet that a finalizer keeps."""
    going = inference_sets.manifest(client, 0)
    going["metadata"] |= {"name": "going", "finalizers": ["example.com/keep"]}
    folder = inference_sets.path(0).rpartition("/")[0]
    client.create(folder, going)
    client.delete(f"{folder}/going")
    try:
        yield
    finally:
        client.patch(f"{folder}/going", {"metadata": {"finalizers": None}})


@pytest.mark.parametrize(
    "spec",
    [
        {"scope": "Galaxy"},
        {"scope": "Cluster", "inferenceSets": ["model-0"]},
        {"inferenceSets": [""]},
        {"inferenceSets": ["x" * 254]},
        {"inferenceSets": ["model-0", "model-0"]},
        {"inferenceSets": [f"model-{number}" for number in range(257)]},
        {"package": {"name": "x" * 254}},
    ],
)
def test_question_without_a_meaning_is_refused(
    plane: ControlPlane, spec: dict[str, object]
) -> None:
    with pytest.raises(ApiError) as refused:
        status_objects.create(plane.client, TEAM, **spec)
    assert refused.value.status == 422


def test_longest_question_is_accepted(plane: ControlPlane) -> None:
    names = [f"{number:03}{'x' * 250}" for number in range(256)]
    status_objects.create(plane.client, TEAM, inferenceSets=names)
    assert len(status_objects.read(plane.client, TEAM)["spec"]["inferenceSets"]) == 256


def _waits(plane: ControlPlane, kind: str, *, seconds: float) -> bool:
    """Return whether `kubectl wait` for a condition succeeds in time."""
    words = ("wait", f"--for=condition={kind}", "pss/package", f"--timeout={seconds}s")
    try:
        plane.kubectl(*words, "--namespace", TEAM)
    except subprocess.CalledProcessError as err:
        if "timed out" in err.stderr:
            return False
        raise
    return True
