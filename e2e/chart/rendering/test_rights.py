"""The chart grants what the program needs, and nothing else."""

import itertools
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from e2e.chart import CHART
from e2e.chart.helm import Helm
from e2e.chart.rendering.objects import (
    READER,
    arguments_of,
    granted_by,
    namespace_of,
    object_of,
)
from e2e.controlplane.rules import lease, needed
from reporter.controller.permissions import PermissionNeeds
from reporter.kinds.api_names import NVSENTINEL_RESOURCE
from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.kinds.nvsentinel import node_health_events
from reporter.model.enums import DetailSource, ScrapeScope
from reporter.settings import ScrapeMode, StatusAuthorization, StoreBackend, load_settings


pytestmark = pytest.mark.controlplane
"""The helm program is built together with the control plane."""

LEASE = lease("kaito-system", "productionstack-status-reporter")


@pytest.mark.parametrize(
    ("sources", "mode", "elect"),
    [
        *itertools.product(
            [(), ("keda",), ("karpenter", "istio"), tuple(DetailSource)], ScrapeMode, [True, False]
        ),
    ],
)
def test_chart_grants_exactly_what_the_program_asks_for(
    helm: Helm, sources: tuple[str, ...], mode: ScrapeMode, elect: bool
) -> None:
    objects = helm.render(
        CHART,
        f"--set=sources={{{','.join(sources)}}}" if sources else f"--set=scrape.mode={mode}",
        f"--set=scrape.mode={mode},leaderElection.enabled={str(elect).lower()}",
        f"--set=replicas={1 + elect}",
    )
    needs = PermissionNeeds(
        sources=[DetailSource(each) for each in sources],
        mode=mode,
        lease=LEASE if elect else None,
    )
    assert granted_by(objects) == needed(needs)


def test_extra_rules_grant_reading_alone(helm: Helm) -> None:
    rule = (
        "extraRules[0].apiGroups={serving.kserve.io},extraRules[0].resources={inferenceservices}"
    )
    added = granted_by(helm.render(CHART, f"--set={rule}")) - granted_by(helm.render(CHART))
    assert {(each.verb, each.group, each.resource) for each in added} == {
        ("list", "serving.kserve.io", "inferenceservices"),
        ("watch", "serving.kserve.io", "inferenceservices"),
    }


def test_status_objects_have_rights_of_their_own_and_nobody_may_create_them(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=statusObjects.enabled=true,scrape.mode=direct")
    granted = granted_by(objects)
    assert granted == needed(PermissionNeeds(lease=LEASE, status_objects=True))
    added = granted - needed(PermissionNeeds(lease=LEASE))
    assert {(each.verb, each.resource) for each in added} == {
        ("list", "productionstackstatuses"),
        ("watch", "productionstackstatuses"),
        ("patch", "productionstackstatuses/status"),
    }
    assert load_settings(arguments_of(objects), {}).status_objects


def test_store_has_rights_of_its_own_in_the_namespace_of_the_release(helm: Helm) -> None:
    values = "--set=store.backend=healthevents,scrape.mode=direct,namespaceOverride=elsewhere"
    flags = "--set=extraArgs={--store-max-per-node=7,--store-retention-seconds=600}"
    objects = helm.render(CHART, values, flags)
    elsewhere = lease("elsewhere", LEASE.name)
    where = "kaito-system"
    kind = replace(HEALTH_EVENTS, namespace=where)
    assert granted_by(objects) == needed(PermissionNeeds(lease=elsewhere, store=kind))
    settings = load_settings(arguments_of(objects), {})
    assert (settings.store, settings.release_namespace) == (StoreBackend.HEALTH_EVENTS, where)
    found = (settings.store_max, settings.store_max_per_node, settings.store_retention)
    assert found == (1000, 7, timedelta(minutes=10))


@pytest.mark.parametrize(
    "resource", [NVSENTINEL_RESOURCE, "healthevents.nvsentinel.dgxc.nvidia.com"]
)
def test_rights_for_objects_of_nvsentinel_are_for_the_resource_that_is_set(
    helm: Helm, resource: str
) -> None:
    given = (
        []
        if resource == NVSENTINEL_RESOURCE
        else [f"--set=extraArgs={{--store-resource={resource}}}"]
    )
    flags = ("--set=store.backend=nvsentinel,scrape.mode=direct", *given)
    objects = helm.render(CHART, *flags)
    kind = node_health_events(resource, "kaito-system")
    assert granted_by(objects) == needed(PermissionNeeds(lease=LEASE, store=kind))
    settings = load_settings(arguments_of(objects), {})
    assert (settings.store, settings.store_resource) == (StoreBackend.NVSENTINEL, resource)


def test_reviews_of_readers_have_rights_of_their_own(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=statusAuthorization=kubernetes,scrape.mode=direct")
    granted = granted_by(objects)
    assert granted == needed(PermissionNeeds(lease=LEASE, reviews=True))
    added = granted - needed(PermissionNeeds(lease=LEASE))
    assert {(each.verb, each.resource, each.namespace) for each in added} == {
        ("create", "tokenreviews", ""),
        ("create", "subjectaccessreviews", ""),
    }
    settings = load_settings(arguments_of(objects), {})
    assert settings.status_authorization is StatusAuthorization.KUBERNETES
    (rule,) = object_of(objects, "ClusterRole", f"stack-status-reporter{READER}")["rules"]
    assert rule == {"nonResourceURLs": ["/", "/page/*", "/status", "/status/*"], "verbs": ["get"]}


def test_the_role_in_kube_system_may_be_left_to_others(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=rbac.eventsRole=false,scrape.mode=direct")
    assert [each for each in objects if namespace_of(each) == "kube-system"] == []
    everything = needed(PermissionNeeds(lease=LEASE))
    left = everything - granted_by(objects)
    assert {(each.resource, each.namespace) for each in left} == {("events", "kube-system")}


@pytest.mark.parametrize("written", ["off", '"off"', "false"])
def test_nothing_is_read_from_pods_and_granted_for_it_with_scrape_off(
    helm: Helm, tmp_path: Path, written: str
) -> None:
    """Helm reads off without quotes as false."""
    values = tmp_path / "values.yaml"
    values.write_text(f"scrape: {{pods: {written}}}\n")
    objects = helm.render(CHART, f"--values={values}")
    assert load_settings(arguments_of(objects), {}).scrape is ScrapeScope.OFF
    assert granted_by(objects) == needed(PermissionNeeds(lease=LEASE))
