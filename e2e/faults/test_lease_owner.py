"""The Deployment cannot be made the owner of the Lease: that costs the owner, and nothing else."""

from collections.abc import Callable
from dataclasses import replace

from e2e.controlplane import ControlPlane, Options, until
from e2e.support.elections import STEADY_LEASE
from e2e.support.production_stack import workload
from e2e.support.reporter_process import LEASE, NAMESPACE, ReporterProcess


DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
NAME = "stack-status-reporter"
LABELS = {"app": NAME}
SOON = 60
"""Seconds, on a busy machine."""

ENFORCED = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"
"""
The plugin requires the permission to delete an object of the client that sets its owner, except at
creation.
"""


def test_owner_that_admission_refuses_costs_no_lead_and_is_given_at_the_next_creation(
    new_control_plane: Callable[[Options], ControlPlane],
) -> None:
    plane = new_control_plane(replace(workload.MINIMAL_OPTIONS, apiserver_flags=(ENFORCED,)))
    client = plane.client
    with ReporterProcess(plane, *STEADY_LEASE, env={"DEPLOYMENT_NAME": NAME}) as reporter:
        uid = client.create(DEPLOYMENTS, _deployment())["metadata"]["uid"]
        refusals = lambda: reporter.lines("is not deleted with deployment")  # noqa: E731
        until(refusals, within=SOON, what="the refusal is logged")
        renewed = _renewed(plane)
        until(lambda: _renewed(plane) > renewed, within=SOON, what="the Lease is renewed")
        assert "ownerReferences" not in client.get(LEASE)["metadata"]

        client.delete(LEASE)
        until(lambda: client.exists(LEASE), within=SOON, what="the Lease is there again")
        (owner,) = client.get(LEASE)["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["uid"]) == ("Deployment", NAME, uid)
        assert reporter.metric("leader") == 1
        assert reporter.lines("no longer leading") == []
        assert len(refusals()) == 1


def _renewed(plane: ControlPlane) -> str:
    return str(plane.client.get(LEASE)["spec"]["renewTime"])


def _deployment() -> dict[str, object]:
    containers = [{"name": "reporter", "image": "registry.example/reporter"}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": {"containers": containers}},
        },
    }
