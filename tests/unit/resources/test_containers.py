"""
The container of a pod that is not ready, and pods that are not Ready although their containers are.
"""

from reporter.kinds.core import (
    ContainerState,
    ContainerStateRunning,
    ContainerStatus,
)
from reporter.model.enums import TroubleKind
from reporter.resources.pods import find_pod_problem
from tests.support.builders import LONG_AGO, NOON, SECOND, a_pod


EVER_UNREADY = {"ready": False, "started": NOON, "since": NOON + SECOND}
WAS_READY = {"ready": False, "started": LONG_AGO, "since": NOON}
RUNS = ContainerStatus(
    name="init", state=ContainerState(running=ContainerStateRunning(started_at=NOON))
)


def test_a_sidecar_that_is_not_ready_is_named():
    found = find_pod_problem(
        a_pod(container_ready=True, sidecars={"istio-proxy": False}, **WAS_READY)
    )
    assert (found.code, found.text) == ("ContainerNotReady", "container istio-proxy not ready")
    assert found.kind is TroubleKind.LOST


def test_several_containers_that_are_not_ready_are_named():
    pod = a_pod(sidecars={"b": True, "a": False}, **WAS_READY)
    assert find_pod_problem(pod).text == "containers a, main not ready"


def test_a_sidecar_that_is_an_init_container_is_named():
    found = find_pod_problem(a_pod(container_ready=True, init=(RUNS,), **WAS_READY))
    assert found.text == "container init not ready"


def test_an_init_container_that_runs_is_a_start_and_no_sidecar():
    pod = a_pod(waiting="PodInitializing", init=(RUNS,), **EVER_UNREADY)
    assert find_pod_problem(pod).text == "PodInitializing"


def test_a_crash_names_the_container_of_several():
    crash = {"waiting": "CrashLoopBackOff", "last_exit": 1, "restarts": 2}
    pod = a_pod(sidecars={"istio-proxy": True}, **crash, **WAS_READY)
    assert (
        find_pod_problem(pod).text == "container main: CrashLoopBackOff (exit code 1, 2 restarts)"
    )
    image = a_pod(container_ready=True, sidecars={"proxy": "ImagePullBackOff"}, **WAS_READY)
    assert find_pod_problem(image).text == "container proxy: ImagePullBackOff"


def test_a_readiness_gate_is_reported_with_its_reason():
    gate = 'the status of pod readiness gate "x" is not "True", but False'
    pod = a_pod(container_ready=True, why="ReadinessGatesNotReady", details=gate, **WAS_READY)
    found = find_pod_problem(pod)
    assert (found.code, found.text) == ("AllContainersReady", "ReadinessGatesNotReady")
    assert found.foreign_text == gate


def test_a_component_pod_of_a_lost_node_is_reported_with_its_ready_containers():
    found = find_pod_problem(a_pod(container_ready=True, **WAS_READY))
    assert (found.code, found.text) == (
        "AllContainersReady",
        "not Ready, though all its containers are",
    )


def test_a_pod_that_is_evicted_is_no_problem_of_a_container():
    disrupted = [("DisruptionTarget", "True", "EvictionByEvictionAPI")]
    found = find_pod_problem(
        a_pod(
            container_ready=True,
            sidecars={"istio-proxy": False},
            conditions=disrupted,
            **WAS_READY,
        )
    )
    assert (found.code, found.kind) == ("Disrupted", TroubleKind.STARTING)
