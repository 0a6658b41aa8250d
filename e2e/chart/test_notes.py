"""
The notes after an installation have commands for what the values install, and for nothing else.
"""

from pathlib import Path

import pytest

from e2e.chart import CHART, HUB_CHART
from e2e.chart.helm import IMAGE, Helm
from e2e.chart.hub.rendered import ON


AUTHORIZED, OPEN = "statusAuthorization=kubernetes", "statusBindAddress=:8090"


def notes(installer: Helm, *words: str, chart: Path = CHART) -> str:
    dry = ("--dry-run=client", "--namespace=kaito-system", IMAGE)
    return installer("install", "stack", str(chart), *dry, *words).partition("NOTES:\n")[2]


def test_a_reporter_has_events_a_log_and_a_status(installer: Helm) -> None:
    shown = notes(installer)
    for command in (
        "kubectl get events -n kube-system --field-selector source=productionstack-status-reporter",
        "kubectl rollout status -n kaito-system deployment/stack-status-reporter",
        "kubectl port-forward -n kaito-system deployment/stack-status-reporter 8082",
        "curl -s localhost:8082/status",
    ):
        assert f"  {command}\n" in shown
    assert "hub" not in shown
    assert "WARNING" not in shown


def test_where_no_reporter_runs_there_is_nothing_of_it(installer: Helm) -> None:
    shown = notes(installer, "--set=replicas=0,rbac.eventsRole=false,controlPlane.bbrNamespace=")
    (line,) = shown.strip().splitlines()
    assert line.startswith("No reporter runs here, as replicas is 0")
    assert "no value" not in shown


def test_a_hub_has_its_own_and_nothing_of_a_reporter(installer: Helm) -> None:
    shown = notes(installer, ON, chart=HUB_CHART)
    assert "rollout status -n kaito-system deployment/stack-status-hub\n" in shown
    assert "kubectl get productionstackclusters -n kaito-system\n" in shown
    assert "port-forward -n kaito-system deployment/stack-status-hub 8082\n" in shown
    assert "status-reporter" not in shown


LEAVES = "helm uninstall leaves"


@pytest.mark.parametrize("engage", ["listed", "seen"])
@pytest.mark.parametrize("elects", [True, False])
def test_what_an_uninstallation_leaves_is_what_there_is(
    installer: Helm, engage: str, elects: bool
) -> None:
    one = f",leaderElection.enabled={str(elects).lower()},replicas=1"
    shown = notes(installer, f"{ON},engage={engage}{one}", chart=HUB_CHART)
    assert ("the Lease of the hub" in shown) is ("kubectl delete lease" in shown) is elects
    listed = engage == "listed"
    objects = "kubectl delete productionstackclusters"
    assert ("the objects of the clusters" in shown) is (objects in shown) is listed
    assert (LEAVES in shown) is (elects or listed)


def test_clusters_that_are_only_seen_have_no_objects(installer: Helm) -> None:
    shown = notes(installer, f"{ON},engage=seen", chart=HUB_CHART)
    assert "productionstackclusters" not in shown


@pytest.mark.parametrize("repository", ["a.example/own", "localhost:5000/own", "localhost/own"])
def test_a_registry_in_the_repository_is_one(installer: Helm, repository: str) -> None:
    shown = notes(installer, f"--set=image.registry=,image.repository={repository}")
    assert "The image has no registry" not in shown
    shown = notes(installer, "--set=image.registry=,image.repository=team/own")
    assert "The image has no registry" in shown


@pytest.mark.parametrize(
    ("chart", "words", "reader"),
    [
        (CHART, (), "stack-status-reporter-status-reader"),
        (HUB_CHART, (ON,), "stack-status-hub-status-reader"),
    ],
    ids=["reporter", "hub"],
)
def test_a_status_that_is_open_is_warned_of_unless_readers_are_authorized(
    installer: Helm, chart: Path, words: tuple[str, ...], reader: str
) -> None:
    is_open = f"--set={OPEN}"
    assert "- statusBindAddress opens /status" in notes(installer, *words, is_open, chart=chart)
    authorized = notes(installer, *words, is_open, f"--set={AUTHORIZED}", chart=chart)
    assert "WARNING" not in authorized
    assert f"ClusterRole\n{reader} may" in authorized
    assert 'curl -s -H "Authorization: Bearer $TOKEN" localhost:8090/status' in authorized
    for off in ("--set", "--set-string"):
        is_off = (off, "statusBindAddress=0")
        assert "port-forward" not in notes(installer, *words, *is_off, chart=chart)


@pytest.mark.parametrize(
    ("mirror", "lost"),
    [
        ("false", "no Event is written until the Role in kube-system is there"),
        ("true", "what lasts is announced again after a restart"),
    ],
)
def test_what_is_lost_without_the_role_in_kube_system_is_named(
    installer: Helm, mirror: str, lost: str
) -> None:
    shown = notes(installer, f"--set=rbac.eventsRole=false,mirrorEvents={mirror}")
    assert lost in shown
    role, binding = (each.split() for each in shown.splitlines() if "kubectl create role" in each)
    assert role[:4] == ["kubectl", "create", "role", "stack-status-reporter-events"]
    assert "--serviceaccount=kaito-system:stack-status-reporter" in binding
