"""
What each source adds to the kinds that are watched and to the rights that are asked for.
"""

import pytest

from reporter.kube.objects.access_review import Permission
from reporter.kube.wire.paths import name_field_selector
from reporter.model.enums import DetailSource
from reporter.model.kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.model.kinds.core.pods import PODS
from reporter.model.kinds.istio.mesh_config import MESH_CONFIG_MAPS
from reporter.runtime.permissions import crds_to_track, kinds_to_watch, required_permissions
from reporter.stages.probes.specs import SPECS
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


ADDED = {
    DetailSource.KEDA: {"scaledobjects.keda.sh", "horizontalpodautoscalers.autoscaling"},
    DetailSource.KARPENTER: {"nodeclaims.karpenter.sh"},
    DetailSource.ISTIO: {"authorizationpolicies.security.istio.io", "configmaps istio"},
}
REASONS = {
    DetailSource.KEDA: "inferencesetScalingMisconfigured",
    DetailSource.KARPENTER: "inferencesetInfraProvisioningFailed",
    DetailSource.ISTIO: "modelharnessExtAuthzProviderMissing",
}


def asked(*sources: DetailSource) -> dict[Permission, set[str]]:
    found = required_permissions(DEFAULT_CATALOGUE, SPECS, lease=None, sources=sources)
    return {right: set(reasons) for right, reasons in found.items()}


def test_without_a_source_nothing_of_any_is_watched_or_asked_for():
    assert not set(kinds_to_watch(DEFAULT_CATALOGUE, SPECS)) & set(OPTIONAL_KINDS)
    assert set(kinds_to_watch(DEFAULT_CATALOGUE, SPECS)) == set(DEFAULT_KINDS)
    assert asked() == {
        right: set(why)
        for right, why in required_permissions(DEFAULT_CATALOGUE, SPECS, lease=None).items()
    }
    assert not any(right.resource == "configmaps" for right in asked())


@pytest.mark.parametrize("source", DetailSource)
def test_a_source_adds_its_own_kinds_for_its_own_reason_and_nothing_else(source):
    before, after = asked(), asked(source)
    more = after.keys() - before.keys()
    assert {right.target for right in more} == ADDED[source]
    assert {right.verb for right in more} == {"list", "watch"}
    assert all(after[right] == {f"{REASONS[source]} (detail of {source})"} for right in more)
    assert {right: after[right] for right in before} == before


def test_of_configmaps_only_that_of_istio_is_asked_for():
    assert {r.name for r in asked(DetailSource.ISTIO) if r.resource == "configmaps"} == {"istio"}
    assert (name_field_selector(MESH_CONFIG_MAPS), name_field_selector(PODS)) == (
        "metadata.name=istio",
        "",
    )


def test_the_kinds_of_sources_are_listed_after_all_others():
    every = kinds_to_watch(DEFAULT_CATALOGUE, SPECS, DetailSource)
    assert every == (*DEFAULT_KINDS, *OPTIONAL_KINDS)


def test_the_presence_of_built_in_kinds_is_not_followed():
    more = crds_to_track(DEFAULT_CATALOGUE, SPECS, DetailSource) - crds_to_track(
        DEFAULT_CATALOGUE, SPECS
    )
    assert more == {"nodeclaims.karpenter.sh", "authorizationpolicies.security.istio.io"}
