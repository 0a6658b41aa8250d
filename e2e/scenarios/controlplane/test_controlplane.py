"""The control plane does what the tests rely on. What these show anyway is slow here."""

from collections.abc import Callable

import pytest

from e2e.controlplane import (
    ApiError,
    ControlPlane,
    Json,
    Options,
    faults,
    nodes,
    pins,
    reporter_rights,
    until,
)
from e2e.support.production_stack import components as example
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD, KEDA_OPERATOR


DEPLOYMENTS = "/apis/apps/v1/deployments"
HTTPROUTES = "httproutes.gateway.networking.k8s.io"


def test_server_and_kubectl_name_the_pinned_version(control_plane: ControlPlane) -> None:
    version = control_plane.client.get("/version")["gitVersion"]
    assert version == pins.version("kubernetes", "k8s.io/kubernetes")
    assert f"Server Version: {version}" in control_plane.kubectl("version")


@pytest.mark.parametrize(
    ("group_version", "kind"),
    [
        ("gateway.networking.k8s.io/v1", "HTTPRoute"),
        ("inference.networking.k8s.io/v1", "InferencePool"),
        ("kaito.sh/v1beta1", "InferenceSet"),
        ("kaito.sh/v1beta1", "Workspace"),
        ("kaito.sh/v1alpha1", "APIKey"),
        ("keda.sh/v1alpha1", "ScaledObject"),
        ("karpenter.sh/v1", "NodeClaim"),
        ("networking.istio.io/v1alpha3", "EnvoyFilter"),
        ("security.istio.io/v1", "AuthorizationPolicy"),
        ("cilium.io/v2", "CiliumNetworkPolicy"),
    ],
)
def test_crd_of_every_component_is_served(
    control_plane: ControlPlane, group_version: str, kind: str
) -> None:
    resources = control_plane.client.get(f"/apis/{group_version}")["resources"]
    assert kind in {each["kind"] for each in resources}


def test_crd_is_removed_and_served_again(control_plane: ControlPlane) -> None:
    path = "/apis/gateway.networking.k8s.io/v1/httproutes"
    with control_plane.crd_removed(HTTPROUTES):
        until(lambda: not control_plane.client.exists(path), within=60, what="it is not served")
    assert control_plane.client.list(path) == []


@pytest.mark.slow
def test_options_leave_out_crds_and_servers_and_log_every_request(
    new_control_plane: Callable[[Options], ControlPlane],
) -> None:
    left_out = frozenset({HTTPROUTES, "cilium.io", "karpenter.sh"})
    bare = Options(
        controllers=False, scheduler=False, kwok=False, without_crds=left_out, audit=True
    )
    plane = new_control_plane(bare)
    assert set(plane.pids) == {"etcd", "kube-apiserver"}
    groups = {each["name"] for each in plane.client.get("/apis")["groups"]}
    assert {"gateway.networking.k8s.io", "kaito.sh"} <= groups
    assert not {"cilium.io", "karpenter.sh"} & groups
    assert not plane.client.exists("/apis/gateway.networking.k8s.io/v1/httproutes")
    plane.client.get("/version")
    until(
        lambda: (
            ("admin", "/version")
            in {(each["user"]["username"], each["requestURI"]) for each in plane.audit()}
        ),
        within=60,
        what="the request is in the log",
    )


def test_example_stack_becomes_ready(stack: ControlPlane) -> None:
    found = [example.deployment(stack.client, each) for each in example.COMPONENTS]
    assert len(found) == 10
    assert all(example.is_ready(each) for each in found)
    assert nodes.ready(stack.client, "node-0")


@pytest.mark.slow
def test_deployment_scales_to_zero_and_back(stack: ControlPlane) -> None:
    example.scale(stack.client, BODY_BASED_ROUTER, 0)
    scaled = example.until_ready(stack.client, BODY_BASED_ROUTER)
    assert scaled["status"].get("readyReplicas", 0) == 0
    assert example.pods(stack.client, BODY_BASED_ROUTER) == []
    example.scale(stack.client, BODY_BASED_ROUTER, 2)
    assert example.until_ready(stack.client, BODY_BASED_ROUTER)["status"]["readyReplicas"] == 2


@pytest.mark.slow
def test_restart_replaces_every_pod(stack: ControlPlane) -> None:
    before = _names(example.pods(stack.client, ISTIOD))
    example.restart(stack.client, ISTIOD)
    example.until_ready(stack.client, ISTIOD)
    after = _names(example.pods(stack.client, ISTIOD))
    assert len(after) == 1
    assert not before & after


@pytest.mark.slow
@pytest.mark.parametrize("fault", [faults.CRASH_LOOP, faults.OUT_OF_MEMORY, faults.IMAGE_PULL])
def test_broken_pod_stays_unready_until_mended(
    stack: ControlPlane, fault: faults.PodFault
) -> None:
    pod = example.pods(stack.client, BODY_BASED_ROUTER)[0]
    faults.set_pod_fault(stack.client, pod, fault)
    _until_ready_replicas(stack, BODY_BASED_ROUTER, 1)
    container = stack.client.get(stack.client.path(pod))["status"]["containerStatuses"][0]
    assert container["state"]["waiting"]["reason"] == fault.waiting
    assert container["restartCount"] == fault.restarts
    ended = container["lastState"].get("terminated", {})
    assert ended.get("exitCode") == fault.exit_code
    faults.clear_pod_fault(stack.client, pod)
    example.until_ready(stack.client, BODY_BASED_ROUTER)
    mended = stack.client.get(stack.client.path(pod))["status"]["containerStatuses"][0]
    assert "running" in mended["state"]
    assert mended["restartCount"] == fault.restarts


@pytest.mark.slow
def test_broken_rollout_keeps_the_old_pod_until_mended(stack: ControlPlane) -> None:
    old = _names(example.pods(stack.client, KEDA_OPERATOR))
    deployment = example.deployment(stack.client, KEDA_OPERATOR)
    faults.set_rollout_fault(stack.client, deployment, faults.IMAGE_PULL)
    waiting = until(
        lambda: [each for each in example.pods(stack.client, KEDA_OPERATOR) if _waits(each)],
        within=60,
        what="a pod of the new version waits",
    )
    assert len(waiting) == 1
    assert old < _names(example.pods(stack.client, KEDA_OPERATOR))
    faults.clear_rollout_fault(stack.client, deployment)
    example.until_ready(stack.client, KEDA_OPERATOR)
    assert _names(example.pods(stack.client, KEDA_OPERATOR)) == old


@pytest.mark.slow
def test_written_status_stays_as_the_test_wrote_it(stack: ControlPlane) -> None:
    pod = example.pods(stack.client, BODY_BASED_ROUTER)[0]
    unready: Json = {"conditions": [{"type": "Ready", "status": "False", "reason": "ByHand"}]}
    faults.write_status(stack.client, pod, unready)
    _until_ready_replicas(stack, BODY_BASED_ROUTER, 1)
    conditions = stack.client.get(stack.client.path(pod))["status"]["conditions"]
    assert "ByHand" in {each.get("reason") for each in conditions}
    faults.clear_pod_fault(stack.client, pod)
    assert example.until_ready(stack.client, BODY_BASED_ROUTER)["status"]["readyReplicas"] == 2


@pytest.mark.slow
def test_api_server_comes_back_on_its_port_with_its_data(stack: ControlPlane) -> None:
    port, pod = stack.client.port, _names(example.pods(stack.client, ISTIOD))
    with stack.api_server_down(), pytest.raises(ConnectionRefusedError):
        stack.client.get("/version")
    assert stack.client.port == port
    assert _names(example.pods(stack.client, ISTIOD)) == pod
    example.scale(stack.client, ISTIOD, 2)
    assert example.until_ready(stack.client, ISTIOD)["status"]["readyReplicas"] == 2
    example.scale(stack.client, ISTIOD, 1)
    example.until_ready(stack.client, ISTIOD)


def test_reporter_may_do_what_it_is_granted_and_nothing_else(
    control_plane: ControlPlane, namespace: str
) -> None:
    reporter_rights.install(control_plane.client, namespace)
    token = control_plane.service_account_token(namespace, reporter_rights.NAME)
    reporter = control_plane.client_of(token)
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
    reporter.create(leases, _lease(reporter_rights.NAME))
    assert reporter.exists(f"{leases}/{reporter_rights.NAME}")
    assert reporter.list("/api/v1/namespaces/kube-system/events") is not None
    for path in (f"{leases}/other", leases, "/api/v1/secrets", "/api/v1/events"):
        with pytest.raises(ApiError) as refused:
            reporter.get(path)
        assert refused.value.status == 403


def test_single_right_is_taken_away_and_given_back(
    control_plane: ControlPlane, namespace: str
) -> None:
    reporter_rights.install(control_plane.client, namespace)
    token = control_plane.service_account_token(namespace, reporter_rights.NAME)
    reporter = control_plane.client_of(token)
    with reporter_rights.revoked(control_plane.client, namespace, "deployments"):
        with pytest.raises(ApiError) as refused:
            reporter.list(DEPLOYMENTS)
        assert reporter.list("/api/v1/namespaces")
    assert refused.value.status == 403
    assert isinstance(reporter.list(DEPLOYMENTS), list)


def test_service_account_kubeconfig_works_for_others_programs(
    control_plane: ControlPlane, namespace: str
) -> None:
    reporter_rights.install(control_plane.client, namespace)
    config = control_plane.service_account_kubeconfig(namespace, reporter_rights.NAME)
    user = f"system:serviceaccount:{namespace}:{reporter_rights.NAME}"
    output = control_plane.kubectl(f"--kubeconfig={config}", "auth", "whoami")
    assert user in output


def _names(pods: list[Json]) -> set[str]:
    return {each["metadata"]["name"] for each in pods}


def _waits(pod: Json) -> bool:
    return any("waiting" in each["state"] for each in pod["status"].get("containerStatuses", []))


def _until_ready_replicas(
    plane: ControlPlane, component: example.StackComponent, count: int
) -> None:
    until(
        lambda: (
            example.deployment(plane.client, component)["status"].get("readyReplicas", 0) == count
        ),
        within=60,
        what=f"{component.name} has {count} ready replicas",
    )


def _lease(name: str) -> Json:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name},
        "spec": {"holderIdentity": "e2e"},
    }
