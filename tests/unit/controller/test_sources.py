"""The kinds and permissions that each source adds."""

import pytest

from reporter.controller.permissions import PermissionNeeds, required_permissions
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.kinds.core import PODS
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.kinds.istio import MESH_CONFIG_MAPS
from reporter.kube.access_review import Permission
from reporter.kube.paths import name_field_selector
from reporter.model.enums import DetailSource
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


ADDED = {
    DetailSource.KEDA: {"scaledobjects.keda.sh", "horizontalpodautoscalers.autoscaling"},
    DetailSource.KARPENTER: {"nodeclaims.karpenter.sh", "nodepools.karpenter.sh"},
    DetailSource.ISTIO: {"authorizationpolicies.security.istio.io", "configmaps istio"},
    DetailSource.JOBS: {"jobs.batch"},
}
CHECKS = {"clusterCheckFailed", "modelharnessCheckFailed", "inferencesetCheckFailed"}
REASONS = {
    DetailSource.KEDA: "inferencesetScalingMisconfigured",
    DetailSource.KARPENTER: "inferencesetInfraProvisioningFailed",
    DetailSource.ISTIO: "modelharnessExtAuthzProviderMissing",
}


def needed(*sources: DetailSource) -> dict[Permission, set[str]]:
    found = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds(sources=sources))
    return {permission: set(reasons) for permission, reasons in found.items()}


def test_without_a_source_nothing_of_any_is_watched_or_needed():
    assert not set(kinds_to_watch(DEFAULT_CATALOGUE)) & set(OPTIONAL_KINDS)
    assert set(kinds_to_watch(DEFAULT_CATALOGUE)) == set(DEFAULT_KINDS)
    assert needed() == {
        permission: set(why)
        for permission, why in required_permissions(DEFAULT_CATALOGUE, PermissionNeeds()).items()
    }
    assert not any(permission.resource == "configmaps" for permission in needed())


@pytest.mark.parametrize("source", REASONS)
def test_a_source_adds_its_own_kinds_for_its_own_reason_and_nothing_else(source):
    before, after = needed(), needed(source)
    more = after.keys() - before.keys()
    assert {permission.target for permission in more} == ADDED[source]
    assert {permission.verb for permission in more} == {"list", "watch"}
    assert all(
        after[permission] == {f"{REASONS[source]} (detail of {source})"} for permission in more
    )
    assert {permission: after[permission] for permission in before} == before


def test_jobs_are_needed_by_reasons_of_their_own_and_by_nothing_else():
    before, after = needed(), needed(DetailSource.JOBS)
    more = after.keys() - before.keys()
    assert {permission.target for permission in more} == ADDED[DetailSource.JOBS]
    assert {permission.verb for permission in more} == {"list", "watch"}
    assert all(after[permission] == CHECKS for permission in more)
    for permission, purposes in before.items():
        added = {each.partition(" ")[0] for each in after[permission] - purposes}
        assert added <= CHECKS, permission


def test_every_source_is_tested_here():
    assert set(ADDED) == set(DetailSource) == {*REASONS, DetailSource.JOBS}


def test_of_configmaps_only_that_of_istio_is_read():
    assert {r.name for r in needed(DetailSource.ISTIO) if r.resource == "configmaps"} == {"istio"}
    assert (name_field_selector(MESH_CONFIG_MAPS), name_field_selector(PODS)) == (
        "metadata.name=istio",
        "",
    )


def test_the_kinds_of_sources_are_listed_after_all_others():
    every = kinds_to_watch(DEFAULT_CATALOGUE, DetailSource)
    assert every == (*DEFAULT_KINDS, *OPTIONAL_KINDS)


def test_the_presence_of_built_in_kinds_is_not_tracked():
    more = crds_to_track(DEFAULT_CATALOGUE, DetailSource) - crds_to_track(DEFAULT_CATALOGUE)
    assert more == {
        "nodeclaims.karpenter.sh",
        "nodepools.karpenter.sh",
        "authorizationpolicies.security.istio.io",
    }
