"""The chart is installed, upgraded, rolled back and removed by helm on a real control plane."""

from collections.abc import Mapping
from pathlib import Path

from e2e.chart import CHART, golden
from e2e.chart.helm import IMAGE, Helm
from e2e.chart.installed import (
    LEASE,
    NAMESPACE,
    SLOW,
    as_installed,
    deployment,
    umbrella,
    until_all_ready,
    until_no_difference,
    until_owned,
    until_permissions_reviewed,
)
from e2e.chart.leftovers import until_nothing_is_left
from e2e.controlplane import ControlPlane, until
from e2e.support import events
from e2e.support.production_stack import components
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import ReporterProcess
from e2e.support.silences import run_command


HERE = golden.HERE
BBR = "clusterBBRNotReady"
CREATED = {"verb": "create", "code": "201"}
"""The labels of requests that created an object: without Events and reviews, the Lease."""

RENEWED = {"verb": "update", "code": "200"}
"""
The labels of requests that renewed the Lease, which come one after the other with those that create it.
"""

PATIENT = ("--lease-duration-seconds=90", "--renew-deadline-seconds=60")
"""For a test in which a reporter keeps the lead, however long a busy machine stands still."""


def test_umbrella_with_yesterday_s_values_brings_up_what_its_users_expect(
    plane: ControlPlane, installer: Helm, tmp_path: Path
) -> None:
    chart = umbrella(tmp_path)
    values = _nested(tmp_path)
    helm = installer
    helm(
        *("install", "stack", str(chart), f"--namespace={NAMESPACE}", f"--values={values}"),
        "--wait",
        "--timeout=90s",
    )
    until_all_ready(plane)
    manifest = helm("get", "manifest", "stack", f"--namespace={NAMESPACE}")
    until_no_difference(plane, manifest)
    with as_installed(plane) as reporter:
        until_permissions_reviewed(reporter)
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        announced = events.wait_for(plane.client, BBR, within=SLOW)
        assert announced.involved == ("Namespace", BODY_BASED_ROUTER.namespace)
        until_owned(plane)
        helm("uninstall", "stack", f"--namespace={NAMESPACE}", "--wait")
        until_nothing_is_left(plane, NAMESPACE)
    until_nothing_is_left(plane, NAMESPACE)


def test_subchart_that_is_switched_off_installs_nothing(
    plane: ControlPlane, installer: Helm, tmp_path: Path
) -> None:
    off = "--set=productionstack-status-reporter.enabled=false"
    assert installer.render(umbrella(tmp_path), off) == []


def test_the_cluster_is_silenced_with_the_values_that_the_chart_has(
    plane: ControlPlane, installer: Helm
) -> None:
    admin, chart = plane.kubeconfig(), ("stack", str(CHART), f"--namespace={NAMESPACE}", IMAGE)
    silenced = ("cluster", "clusterKedaNotReady", "--until=1h", "--why=upgrade", "--apply")
    installer("install", *chart, "--wait", "--timeout=90s")
    until_all_ready(plane)
    done = run_command(admin, *silenced)
    assert done.returncode == 0, done.stderr
    applied = "stack-status-reporter-applied-silences"
    assert f"ConfigMap {NAMESPACE}/{applied} changed: cluster silenced" in done.stdout
    assert "kubelet" in done.stderr
    again = run_command(admin, *silenced, "--replace", "-q")
    assert (again.returncode, again.stderr) == (0, "")
    # Entries of the chart come without a word of Helm about the object that the command made.
    entry = '{"reasons": ["clusterBBRNotReady"], "until": "2099-01-01"}'
    installer("upgrade", *chart, "--set-json", f"silences=[{entry}]")
    until_all_ready(plane)
    refused = run_command(admin, *silenced)
    assert (refused.returncode, "is rendered by Helm" in refused.stderr) == (1, True)
    installer("upgrade", *chart, "--set-json", "silences=[]")
    notes = installer("get", "notes", "stack", f"--namespace={NAMESPACE}")
    (command,) = [each for each in notes.splitlines() if "kubectl delete configmap" in each]
    installer("uninstall", "stack", f"--namespace={NAMESPACE}", "--wait")
    plane.kubectl(*command.split()[1:])
    until_nothing_is_left(plane, NAMESPACE)


def test_deployment_deleted_by_hand_takes_the_lease_along_and_costs_no_lead(
    plane: ControlPlane, installer: Helm
) -> None:
    """
    The last pod keeps running for a moment after the Deployment is deleted, and creates the Lease again.

    The garbage collector deletes it within milliseconds, so only the request is seen.
    """
    helm, client = installer, plane.client
    words = ("stack", str(CHART), f"--namespace={NAMESPACE}", IMAGE)
    helm("install", *words)
    with as_installed(plane, *PATIENT) as reporter:
        _delete_deployment(plane)
        helm("upgrade", *words)
        until_owned(plane)
        _until_renewed(reporter)
        created = _requests(reporter, CREATED)
        _delete_deployment(plane)
        until(
            lambda: _requests(reporter, CREATED) > created,
            within=2 * SLOW,
            what="the Lease was created again",
        )
        assert reporter.metric("leader") == 1
        assert reporter.lines("no longer leading") == []
    until(lambda: not client.exists(LEASE), within=SLOW, what="the last Lease is gone")
    helm("uninstall", "stack", f"--namespace={NAMESPACE}", "--wait")
    until_nothing_is_left(plane, NAMESPACE)


# ---------------------------------------------------------------- used above


def _nested(folder: Path) -> Path:
    lines = (HERE / "values" / "yesterday.yaml").read_text().splitlines()
    path = folder / "values.yaml"
    path.write_text("\n".join([f"{CHART.name}:", *(f"  {line}" for line in lines), ""]))
    return path


def _until_renewed(reporter: ReporterProcess) -> None:
    """Wait for one more renewal of the Lease: what was created before is counted then."""
    renewed = _requests(reporter, RENEWED)
    until(
        lambda: _requests(reporter, RENEWED) > renewed,
        within=2 * SLOW,
        what="the Lease is renewed",
    )


def _requests(reporter: ReporterProcess, labels: Mapping[str, str]) -> float:
    """Return the number of requests with these labels, whose series begins with the first."""
    try:
        return reporter.metric("api_requests_total", **labels)
    except LookupError:
        return 0.0


def _delete_deployment(plane: ControlPlane) -> None:
    """Delete the Deployment, and wait until the Lease that it owned is deleted too."""
    until_owned(plane)
    lease = plane.client.get(LEASE)["metadata"]["uid"]
    plane.client.delete(plane.client.path(deployment(plane)))

    def collected() -> bool:
        found = plane.client.list(LEASE.rpartition("/")[0])
        return all(each["metadata"]["uid"] != lease for each in found)

    until(collected, within=SLOW, what="the Lease went with its Deployment")
