"""
The earlier reporter is replaced in place, by itself and in the umbrella chart, and comes back.
"""

from pathlib import Path

import pytest

from e2e.chart import CHART
from e2e.chart.helm import IMAGE, IN_UMBRELLA, Helm, HelmFailed, Json
from e2e.chart.installed import (
    EARLIER,
    LEASE,
    NAMESPACE,
    SLOW,
    as_installed,
    deployment,
    umbrella,
    until_all_ready,
    until_no_difference,
    until_owned,
)
from e2e.chart.leftovers import until_nothing_is_left
from e2e.controlplane import ControlPlane, until
from e2e.support import events
from e2e.support.production_stack import components
from e2e.support.production_stack.components import BODY_BASED_ROUTER


WHERE = f"--namespace={NAMESPACE}"
BBR = "clusterBBRNotReady"


def test_upgrade_from_the_earlier_reporter_takes_over_and_can_be_rolled_back(
    plane: ControlPlane, installer: Helm
) -> None:
    helm, client = installer, plane.client
    helm("install", "stack", str(EARLIER), WHERE, "--wait")
    before = deployment(plane)
    client.create(LEASE.rpartition("/")[0], _held_by_the_earlier())
    client.create(events.PATH, _event_of_the_earlier())
    (old,) = events.reporter_events(client)

    helm("upgrade", "stack", str(CHART), WHERE, IMAGE, "--wait", "--timeout=90s")
    after = deployment(plane)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["spec"]["selector"] == before["spec"]["selector"]
    with as_installed(plane) as reporter:
        assert client.get(LEASE)["spec"]["holderIdentity"].startswith(reporter.name)
        components.scale(client, BODY_BASED_ROUTER, 0)
        until(
            lambda: len(events.reporter_events(client, BBR)) == 2,
            within=SLOW,
            what="our own Event",
        )
        assert [each for each in events.reporter_events(client) if each.uid == old.uid] == [old]
        until_owned(plane)

    helm("rollback", "stack", "1", WHERE, "--wait", "--timeout=90s")
    assert deployment(plane)["spec"]["template"] == before["spec"]["template"]
    assert client.get(LEASE)["spec"]["leaseTransitions"] == 5
    helm("uninstall", "stack", WHERE, "--wait")
    until_nothing_is_left(plane, NAMESPACE)


UMBRELLA_VALUES = f"""\
global: {{region: nowhere}}
{CHART.name}:
  startupGraceSeconds: 30
  x-note: kept
  controlPlane:
    kaitoNamespace: kaito-system
    kaitoRevision: canary
    gatewayAuthDeployment: ""
    weightDownload: {{minMBps: 0}}
"""
"""
Values of an installation of the earlier chart: some that ours has, one that no chart has, and some that
switch a check off. None of them is about the image.
"""


REGISTRY_NAMED = rf"{CHART.name}\.image\.registry has no value: set it to the registry"
"""The value that is missing, by its path in the umbrella chart."""


@pytest.mark.slow
def test_umbrella_is_upgraded_rolled_back_and_removed_with_the_registry_as_the_only_new_value(
    plane: ControlPlane, installer: Helm, tmp_path: Path
) -> None:
    helm = installer
    before, after = umbrella(tmp_path / "before", EARLIER), umbrella(tmp_path / "after")
    values = tmp_path / "values.yaml"
    values.write_text(UMBRELLA_VALUES)
    wait = ("--wait", "--timeout=90s")
    helm("install", "stack", str(before), WHERE, f"--values={values}", *wait)
    earlier = deployment(plane)

    upgrade = ("upgrade", "stack", str(after), WHERE, f"--values={values}")
    with pytest.raises(HelmFailed, match=REGISTRY_NAMED):
        helm(*upgrade)
    assert deployment(plane)["spec"] == earlier["spec"]

    helm(*upgrade, IN_UMBRELLA, *wait)
    assert deployment(plane)["metadata"]["uid"] == earlier["metadata"]["uid"]
    until_all_ready(plane)
    until_no_difference(plane, helm("get", "manifest", "stack", WHERE))
    with as_installed(plane) as reporter:
        for taken in (
            "the chart has no value controlPlane.kaitoRevision",
            "--gateway-auth-deployment is empty: gateway auth is not checked",
            "--weight-download-min-mbps=0: weight downloads are not checked",
        ):
            assert reporter.lines(taken), taken
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, BBR, within=SLOW)
        until_owned(plane)

    helm("rollback", "stack", "1", WHERE, *wait)
    assert deployment(plane)["spec"] == earlier["spec"]
    helm(*upgrade, "--reset-then-reuse-values", IN_UMBRELLA, *wait)
    assert deployment(plane)["spec"] != earlier["spec"]
    helm("uninstall", "stack", WHERE, "--wait")
    until_nothing_is_left(plane, NAMESPACE)


@pytest.mark.slow
def test_without_the_role_in_kube_system_all_runs_and_the_notes_make_up_for_it(
    plane: ControlPlane, installer: Helm
) -> None:
    """
    An Argo CD project may forbid objects there. What is lost is named, and found again once it is granted.
    """
    off = "--set=rbac.eventsRole=false"
    installer("install", "stack", str(CHART), WHERE, IMAGE, off, "--wait", "--timeout=90s")
    manifest = installer("get", "manifest", "stack", WHERE)
    assert "namespace: kube-system" not in manifest
    notes = installer("get", "notes", "stack", WHERE)
    assert "no Event is written until the Role in kube-system is there" in notes
    commands = [line.split() for line in notes.splitlines() if "kubectl create role" in line]
    with as_installed(plane) as reporter:
        until(
            lambda: reporter.lines("events in kube-system", "every reason: no Event can"),
            within=SLOW,
            what="the missing permissions are logged",
        )
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        until(
            lambda: BBR in reporter.states(),
            within=SLOW,
            what="the finding is in the status",
        )
        assert events.reporter_events(plane.client, BBR) == []
        for _, *words in commands:
            plane.kubectl(*words)
        events.wait_for(plane.client, BBR, within=2 * SLOW)
        until_owned(plane)
    for kind in ("rolebinding", "role"):
        plane.kubectl("delete", kind, "stack-status-reporter-events", "--namespace=kube-system")
    installer("uninstall", "stack", WHERE, "--wait")
    until_nothing_is_left(plane, NAMESPACE)


# ---------------------------------------------------------------- used above


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
    """Return an Event as client-go's recorder writes it, without this program's labels."""
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
