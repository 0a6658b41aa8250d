"""
The chart is installed, upgraded, rolled back and removed by helm on a real control plane.
"""

import shutil
from pathlib import Path

from e2e.chart import CHART, golden
from e2e.chart.helm import Helm, Json
from e2e.chart.installed import NAMESPACE, difference
from e2e.chart.leftovers import until_nothing_is_left
from e2e.controlplane import ControlPlane, crds, until
from e2e.support import events, status_objects
from e2e.support.production_stack import components
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS
from tests.support.health_events import RESOURCE as HEALTH_EVENTS
from tests.support.status_objects import CRD, STATUSES


HERE = golden.HERE
LEASE = (
    f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/productionstack-status-reporter"
)
BBR = "clusterBBRNotReady"
SLOW = 60


def test_umbrella_with_yesterday_s_values_brings_up_what_its_users_expect(
    plane: ControlPlane, installer: Helm, tmp_path: Path
) -> None:
    umbrella = _umbrella(tmp_path)
    values = _nested(tmp_path)
    helm = installer
    helm(
        *("install", "stack", str(umbrella), f"--namespace={NAMESPACE}", f"--values={values}"),
        "--wait",
        "--timeout=90s",
    )
    assert len(_ready_pods(plane)) == 2
    manifest = helm("get", "manifest", "stack", f"--namespace={NAMESPACE}")
    assert difference(plane, manifest) == ""
    with _as_installed(plane) as reporter:
        assert reporter.lines("permissions that are needed are granted")
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        announced = events.wait_for(plane.client, BBR, within=SLOW)
        assert announced.involved == ("Namespace", BODY_BASED_ROUTER.namespace)
        _until_owned(plane)
        helm("uninstall", "stack", f"--namespace={NAMESPACE}", "--wait")
        until_nothing_is_left(plane, NAMESPACE)
    until_nothing_is_left(plane, NAMESPACE)


def test_subchart_that_is_switched_off_installs_nothing(
    plane: ControlPlane, installer: Helm, tmp_path: Path
) -> None:
    off = "--set=productionstack-status-reporter.enabled=false"
    assert installer.render(_umbrella(tmp_path), off) == []


def test_upgrade_from_the_earlier_reporter_takes_over_and_can_be_rolled_back(
    plane: ControlPlane, installer: Helm
) -> None:
    helm, client = installer, plane.client
    helm("install", "stack", str(HERE / "earlier"), f"--namespace={NAMESPACE}", "--wait")
    before = _deployment(plane)
    client.create(LEASE.rpartition("/")[0], _held_by_the_earlier())
    client.create(events.PATH, _event_of_the_earlier())
    (old,) = events.reporter_events(client)

    helm("upgrade", "stack", str(CHART), f"--namespace={NAMESPACE}", "--wait", "--timeout=90s")
    after = _deployment(plane)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"]["selector"] == before["spec"]["selector"]
    with _as_installed(plane) as reporter:
        assert client.get(LEASE)["spec"]["holderIdentity"].startswith(reporter.name)
        components.scale(client, BODY_BASED_ROUTER, 0)
        until(
            lambda: len(events.reporter_events(client, BBR)) == 2,
            within=SLOW,
            what="our own Event",
        )
        assert [each for each in events.reporter_events(client) if each.uid == old.uid] == [old]
        _until_owned(plane)

    helm("rollback", "stack", "1", f"--namespace={NAMESPACE}", "--wait", "--timeout=90s")
    assert _deployment(plane)["spec"]["template"] == before["spec"]["template"]
    assert client.get(LEASE)["spec"]["leaseTransitions"] == 5
    helm("uninstall", "stack", f"--namespace={NAMESPACE}", "--wait")
    until_nothing_is_left(plane, NAMESPACE)


def test_deployment_deleted_by_hand_takes_the_lease_along_and_costs_no_lead(
    plane: ControlPlane, installer: Helm
) -> None:
    """
    The last pod keeps running for a moment after the Deployment is deleted, and creates the Lease again.
    """
    helm, client = installer, plane.client
    words = ("stack", str(CHART), f"--namespace={NAMESPACE}")
    helm("install", *words)
    with _as_installed(plane) as reporter:
        _delete_deployment(plane)
        helm("upgrade", *words)
        _until_owned(plane)
        _delete_deployment(plane)
        until(lambda: client.exists(LEASE), within=2 * SLOW, what="the Lease is there again")
        assert reporter.metric("leader") == 1
        assert reporter.lines("no longer leading") == []
    until(lambda: not client.exists(LEASE), within=SLOW, what="the last Lease is gone")
    helm("uninstall", "stack", f"--namespace={NAMESPACE}", "--wait")
    until_nothing_is_left(plane, NAMESPACE)


def test_crd_and_the_objects_of_users_outlive_the_release_and_its_next_one_takes_them_over(
    plane: ControlPlane, installer: Helm
) -> None:
    where = f"--namespace={NAMESPACE}"
    words = ("stack", str(CHART), where, "--set=crds.install=true,statusObjects.enabled=true")
    installer("install", *words)
    until(lambda: crds.served(plane.client, CRD), within=SLOW, what="the CRD is served")
    try:
        status_objects.create(plane.client, NAMESPACE)
        installer("uninstall", "stack", where, "--wait")
        until_nothing_is_left(plane, NAMESPACE)
        assert status_objects.read(plane.client, NAMESPACE)["spec"] == {"scope": "Namespace"}
        installer("install", *words)
        installer("uninstall", "stack", where, "--wait")
        until_nothing_is_left(plane, NAMESPACE)
    finally:
        for each in (STATUSES, HEALTH_EVENTS):
            crds.remove(plane.client, each)


# ---------------------------------------------------------------- used above


def _umbrella(folder: Path) -> Path:
    """
    Return the folder of an umbrella chart with this chart as its subchart.
    """
    umbrella = folder / "umbrella"
    shutil.copytree(HERE / "umbrella", umbrella)
    shutil.copytree(CHART, umbrella / "charts" / CHART.name)
    return umbrella


def _nested(folder: Path) -> Path:
    lines = (HERE / "values" / "yesterday.yaml").read_text().splitlines()
    path = folder / "values.yaml"
    path.write_text("\n".join([f"{CHART.name}:", *(f"  {line}" for line in lines), ""]))
    return path


def _as_installed(plane: ControlPlane) -> ReporterProcess:
    """
    Return the process that the pods would run: flags of the Deployment, ServiceAccount of the chart.
    """
    container = _deployment(plane)["spec"]["template"]["spec"]["containers"][0]
    flags = [each for each in container["args"] if "bind-address" not in each]
    kubeconfig = plane.service_account_kubeconfig(NAMESPACE, "stack-status-reporter")
    given = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    return ReporterProcess(
        plane,
        *flags,
        *SHORT_FLAGS,
        "--kaito-namespace=kaito-system",
        f"--kubeconfig={kubeconfig}",
        env={"POD_NAMESPACE": NAMESPACE, **given},
        name="stack-status-reporter-0",
    )


def _deployment(plane: ControlPlane) -> Json:
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/stack-status-reporter"
    found: Json = plane.client.get(path)
    return found


def _ready_pods(plane: ControlPlane) -> list[Json]:
    """
    List the Ready pods by the label that operators use with `kubectl wait`.
    """
    selector = "app.kubernetes.io/name=productionstack-status-reporter"
    pods = plane.client.list(f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector=selector)
    ready = {"type": "Ready", "status": "True"}.items()
    return [p for p in pods if any(ready <= c.items() for c in p["status"]["conditions"])]


def _delete_deployment(plane: ControlPlane) -> None:
    """
    Delete the Deployment, and wait until the Lease that it owned is deleted too.
    """
    _until_owned(plane)
    lease = plane.client.get(LEASE)["metadata"]["uid"]
    plane.client.delete(plane.client.path(_deployment(plane)))

    def collected() -> bool:
        found = plane.client.list(LEASE.rpartition("/")[0])
        return all(each["metadata"]["uid"] != lease for each in found)

    until(collected, within=SLOW, what="the Lease went with its Deployment")


def _until_owned(plane: ControlPlane) -> None:
    """
    Wait until the present Deployment owns the Lease.
    """
    found = _deployment(plane)["metadata"]
    owner = {"apiVersion": "apps/v1", "kind": "Deployment"}
    owner |= {"name": found["name"], "uid": found["uid"]}

    def owned() -> bool:
        if not plane.client.exists(LEASE):
            return False
        return plane.client.get(LEASE)["metadata"].get("ownerReferences") == [owner]

    until(owned, within=SLOW, what="the Lease belongs to the Deployment")


def _held_by_the_earlier() -> Json:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": LEASE.rpartition("/")[2], "namespace": NAMESPACE},
        "spec": {
            "holderIdentity": "stack-status-reporter-6f7c9d-x2k4q_0b9c",
            "leaseDurationSeconds": 3,
            "acquireTime": "2026-01-01T00:00:00.000000Z",
            "renewTime": "2026-01-01T01:00:00.000000Z",
            "leaseTransitions": 4,
        },
    }


def _event_of_the_earlier() -> Json:
    """
    Return an Event as client-go's recorder writes it, without this program's labels.
    """
    involved = {"apiVersion": "v1", "kind": "Namespace", "name": BODY_BASED_ROUTER.namespace}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "kaito-system.17f0c0ffee", "namespace": "kube-system"},
        "involvedObject": {**involved, "namespace": "kube-system"},
        "type": "Warning",
        "reason": BBR,
        "message": "body-based-router is not ready",
        "source": {"component": events.SOURCE},
        "reportingComponent": events.SOURCE,
        "reportingInstance": "",
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T01:00:00Z",
        "count": 61,
    }
