"""
Releases on the control plane: their charts, their objects, and the process that their pods would run.
"""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from e2e.chart import CHART, golden
from e2e.chart.helm import Json
from e2e.controlplane import ControlPlane, WaitTimeout, crds, until
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS


NAMESPACE = "kaito-stack"
EARLIER = golden.HERE / "earlier"
LEASE = (
    f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/productionstack-status-reporter"
)
SLOW = 60


def until_no_difference(plane: ControlPlane, manifest: str) -> None:
    """
    Wait until `kubectl diff` prints nothing. A status that changes while it reads is a difference too.
    """
    last = ""

    def is_empty() -> bool:
        nonlocal last
        last = answer(plane, "diff", manifest)
        return not last

    try:
        until(is_empty, within=SLOW, what="kubectl diff prints nothing")
    except WaitTimeout as err:
        raise AssertionError(f"{err}\n{last}") from None


def answer(plane: ControlPlane, command: str, manifest: str, *flags: str) -> str:
    """Return the output of kubectl, also if it fails."""
    try:
        return plane.kubectl(command, *flags, "-f", "-", stdin=manifest)
    except subprocess.CalledProcessError as err:
        return str(err.stdout) + str(err.stderr)


def install_crds(plane: ControlPlane, wanted: Iterable[Json]) -> None:
    """
    Install CRDs. Returns when helm and kubectl find them.

    Each kind is served before it is in discovery, which a queue of its own publishes
    (apiextensions-apiserver, customresource_discovery_controller.go).
    """
    found = list(wanted)
    crds.install(plane.client, found)
    names = {crds.name(each) for each in found}

    def discovered() -> bool:
        return names <= set(plane.kubectl("api-resources", "--output=name").split())

    until(discovered, within=SLOW, what=f"{', '.join(sorted(names))} are in discovery")


def umbrella(folder: Path, subchart: Path = CHART) -> Path:
    """Return the folder of an umbrella chart with *subchart* in it."""
    made = folder / "umbrella"
    shutil.copytree(golden.HERE / "umbrella", made)
    shutil.copytree(subchart, made / "charts" / CHART.name)
    return made


def until_permissions_reviewed(reporter: ReporterProcess) -> None:
    """
    Wait until the reporter logs that it lacks no permission; it reviews them beside its start.
    """
    until(
        lambda: reporter.lines("permissions that are needed are granted"),
        within=SLOW,
        what="all permissions are granted",
    )


def as_installed(plane: ControlPlane, *further: str) -> ReporterProcess:
    """
    Return the process that the pods would run: flags of the Deployment, ServiceAccount of the chart.
    """
    container = deployment(plane)["spec"]["template"]["spec"]["containers"][0]
    flags = [each for each in container["args"] if "bind-address" not in each]
    kubeconfig = plane.service_account_kubeconfig(NAMESPACE, "stack-status-reporter")
    given = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    return ReporterProcess(
        plane,
        *flags,
        *SHORT_FLAGS,
        "--kaito-namespace=kaito-system",
        f"--kubeconfig={kubeconfig}",
        *further,
        env={"POD_NAMESPACE": NAMESPACE, **given},
        name="stack-status-reporter-0",
    )


def deployment(plane: ControlPlane) -> Json:
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/stack-status-reporter"
    found: Json = plane.client.get(path)
    return found


def ready_pods(plane: ControlPlane) -> list[Json]:
    """List the Ready pods by the label that operators use with `kubectl wait`."""
    selector = "app.kubernetes.io/name=productionstack-status-reporter"
    pods = plane.client.list(f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector=selector)
    ready = {"type": "Ready", "status": "True"}.items()
    # A pod that was just created has no conditions.
    return [p for p in pods if any(ready <= c.items() for c in p["status"].get("conditions", ()))]


def until_all_ready(plane: ControlPlane) -> None:
    """Wait until both pods are Ready: helm waits only for as many as its rollout needs."""
    until(lambda: len(ready_pods(plane)) == 2, within=SLOW, what="both pods are Ready")


def until_owned(plane: ControlPlane) -> None:
    """Wait until the present Deployment owns the Lease."""
    found = deployment(plane)["metadata"]
    owner = {"apiVersion": "apps/v1", "kind": "Deployment"}
    owner |= {"name": found["name"], "uid": found["uid"]}

    def owned() -> bool:
        if not plane.client.exists(LEASE):
            return False
        return plane.client.get(LEASE)["metadata"].get("ownerReferences") == [owner]

    until(owned, within=SLOW, what="the Lease belongs to the Deployment")
