"""
What each source adds to the kinds that are watched and to the rights that are asked for.
"""

import pytest

from reporter.kube.access import Right
from reporter.kube.paths import named
from reporter.model.kinds import KINDS, KINDS_OF_SOURCES, MESH_CONFIGS, PODS
from reporter.model.words import Source
from reporter.runtime.rights import crds_of, kinds_of, rights
from reporter.stages.probes.specs import SPECS
from tests.shipped import CATALOGUE


ADDED = {
    Source.KEDA: {"scaledobjects.keda.sh", "horizontalpodautoscalers.autoscaling"},
    Source.KARPENTER: {"nodeclaims.karpenter.sh"},
    Source.ISTIO: {"authorizationpolicies.security.istio.io", "configmaps istio"},
}
REASONS = {
    Source.KEDA: "inferencesetScalingMisconfigured",
    Source.KARPENTER: "inferencesetInfraProvisioningFailed",
    Source.ISTIO: "modelharnessExtAuthzProviderMissing",
}


def asked(*sources: Source) -> dict[Right, set[str]]:
    found = rights(CATALOGUE, SPECS, lease=None, sources=sources)
    return {right: set(reasons) for right, reasons in found.items()}


def test_without_a_source_nothing_of_any_is_watched_or_asked_for():
    assert not set(kinds_of(CATALOGUE, SPECS)) & set(KINDS_OF_SOURCES)
    assert set(kinds_of(CATALOGUE, SPECS)) == set(KINDS)
    assert asked() == {
        right: set(why) for right, why in rights(CATALOGUE, SPECS, lease=None).items()
    }
    assert not any(right.resource == "configmaps" for right in asked())


@pytest.mark.parametrize("source", Source)
def test_a_source_adds_its_own_kinds_for_its_own_reason_and_nothing_else(source):
    before, after = asked(), asked(source)
    more = after.keys() - before.keys()
    assert {right.target for right in more} == ADDED[source]
    assert {right.verb for right in more} == {"list", "watch"}
    assert all(after[right] == {f"{REASONS[source]} (detail of {source})"} for right in more)
    assert {right: after[right] for right in before} == before


def test_of_configmaps_only_that_of_istio_is_asked_for():
    assert {r.name for r in asked(Source.ISTIO) if r.resource == "configmaps"} == {"istio"}
    assert (named(MESH_CONFIGS), named(PODS)) == ("metadata.name=istio", "")


def test_the_kinds_of_sources_are_listed_after_all_others():
    every = kinds_of(CATALOGUE, SPECS, Source)
    assert every == (*KINDS, *KINDS_OF_SOURCES)


def test_the_presence_of_built_in_kinds_is_not_followed():
    more = crds_of(CATALOGUE, SPECS, Source) - crds_of(CATALOGUE, SPECS)
    assert more == {"nodeclaims.karpenter.sh", "authorizationpolicies.security.istio.io"}
