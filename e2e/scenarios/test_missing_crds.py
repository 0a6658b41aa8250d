"""
CustomResourceDefinitions that are missing, from the start or later, and discovery that fails.

The reporter runs discovery twice a minute, and a loss counts once a second answer agrees, ten
seconds later. Hence the long waits.
"""

import contextlib
from collections.abc import Iterator
from functools import partial

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support import events
from e2e.support.aggregated_discovery import served_versions, stale_versions
from e2e.support.production_stack import restore
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS, short_holds_flag


ROUTES = "httproutes.gateway.networking.k8s.io"
POOLS = "inferencepools.inference.networking.k8s.io"
OPTIONAL = ("ciliumnetworkpolicies.cilium.io", "nodeclaims.karpenter.sh", "nodepools.karpenter.sh")
MISSING, READY = "clusterCRDMissing", "clusterReady"
SECOND_LOOK, LOOK = 12, 32
APISERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


def test_crd_is_missed_from_the_start_and_later_and_seen_to_come(plane: ControlPlane) -> None:
    """Optional CRDs are not reported as missing, which would keep the stack from being Ready."""
    with contextlib.ExitStack() as removed:
        for name in (*OPTIONAL, POOLS):
            removed.enter_context(_without(plane, name))
        removed.enter_context(ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)))
        removed.enter_context(_without(plane, ROUTES))
        never = events.wait_for(
            plane.client,
            MISSING,
            within=SECOND_LOOK + PROMPT_TIMEOUT,
            containing=f"Required CRD {POOLS} is",
        )
        assert (never.type, never.involved) == ("Warning", ("CustomResourceDefinition", POOLS))
        assert never.message.startswith(f"Required CRD {POOLS} is not installed; it comes with ")
        lost = events.wait_for(
            plane.client, MISSING, within=LOOK + SECOND_LOOK + PROMPT_TIMEOUT, besides=[never]
        )
        assert (lost.type, lost.involved) == ("Warning", ("CustomResourceDefinition", ROUTES))
        assert lost.message.startswith(f"Required CRD {ROUTES} was removed; it comes with ")
        plane.install_crds(POOLS, ROUTES)
        events.wait_for(plane.client, READY, within=LOOK + SETTLE + PROMPT_TIMEOUT)
        assert events.reasons(plane.client) == [MISSING, MISSING, READY]


def test_version_that_is_not_served_is_named_and_kubectl_shows_it_of_the_crd(
    plane: ControlPlane,
) -> None:
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{ROUTES}"
    versions = plane.client.get(path)["spec"]["versions"]
    unserved = [{**each, "served": each["name"] != "v1"} for each in versions]
    plane.client.patch(path, {"spec": {"versions": unserved}})
    discovered = partial(served_versions, plane.client, *ROUTES.split(".", 1))
    try:
        until(lambda: discovered() == {"v1beta1"}, within=60, what="v1beta1 alone is discovered")
        with ReporterProcess(plane, *SHORT_FLAGS, short_holds_flag(plane)):
            warning = events.wait_for(
                plane.client, MISSING, within=SECOND_LOOK + 2 * PROMPT_TIMEOUT
            )
            state = f"Required CRD {ROUTES} is served as v1beta1 only, needed is v1; "
            assert warning.message.startswith(state)
            of_it = ("events", f"--for=crd/{ROUTES}", "--namespace=kube-system")
            assert MISSING in plane.kubectl(*of_it)
    finally:
        plane.client.patch(path, {"spec": {"versions": versions}})
        until(lambda: "v1" in discovered(), within=60, what="v1 is discovered again")


def test_discovery_that_fails_in_part_raises_nothing(plane: ControlPlane) -> None:
    """An API group of our own and another one each have a version whose server does not exist."""
    dead = [("v9", "kaito.sh"), ("v1beta1", "external.metrics.k8s.io")]
    with contextlib.ExitStack() as gone:
        for version, group in dead:
            gone.enter_context(_dead_server(plane, version, group))
        with ReporterProcess(plane, *SHORT_FLAGS) as reporter:
            crds = reporter.status()["crds"]
            assert crds["workspaces.kaito.sh"].startswith("unknown: ")
            assert crds["scaledobjects.keda.sh"] == "v1alpha1"
            unknown = {f"{MISSING} {name}.kaito.sh": "unknown" for name in _of_kaito(crds)}
            assert reporter.states() == unknown
            assert reporter.metric("reason_state", state="unknown", reason=MISSING) == 1
            assert events.reporter_events(plane.client) == []


# ---------------------------------------------------------------- used above


@contextlib.contextmanager
def _without(plane: ControlPlane, name: str) -> Iterator[None]:
    """
    Remove a CRD, and install it again at the end if the test has not. Discovery knows it before
    and after.
    """
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
    discovered = partial(served_versions, plane.client, *name.split(".", 1))
    plane.remove_crd(name)
    try:
        until(lambda: not discovered(), within=60, what=f"{name} is not discovered")
        yield
    finally:
        if not plane.client.exists(path):
            plane.install_crds(name)
        until(discovered, within=60, what=f"{name} is discovered")


def _of_kaito(crds: dict[str, str]) -> list[str]:
    return [name.partition(".")[0] for name in crds if name.endswith(".kaito.sh")]


@contextlib.contextmanager
def _dead_server(plane: ControlPlane, version: str, group: str) -> Iterator[None]:
    """
    Register an API service without a server. Returns when discovery reports that version as
    unavailable.
    """
    name = f"{version}.{group}"
    spec = {
        "group": group,
        "version": version,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {"namespace": "keda", "name": "nobody"},
    }
    manifest = {"metadata": {"name": name}, "spec": spec}
    plane.client.create(APISERVICES, manifest)
    try:
        until(
            lambda: version in stale_versions(plane.client, group),
            within=60,
            what=f"{name} is stale",
        )
        yield
    finally:
        plane.client.delete(f"{APISERVICES}/{name}")
        until(
            lambda: not stale_versions(plane.client, group), within=60, what=f"{name} is forgotten"
        )
