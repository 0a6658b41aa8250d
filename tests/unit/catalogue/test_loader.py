from datetime import timedelta

from reporter.catalogue.entries import Scope, Suppression
from reporter.model.enums import EventType, Layer, Owner, Reason


def test_an_entry_has_the_values_of_its_file(loading):
    entry = loading()["clusterScalerNotReady"]
    assert (entry.layer, entry.type, entry.owner) == (
        Layer.CLUSTER,
        EventType.WARNING,
        Owner.PLATFORM,
    )
    assert (entry.rank, entry.probe, entry.settle) == (20, "things", timedelta(minutes=5))
    assert entry.holds.lost == timedelta(minutes=1)
    assert entry.holds.starting is None
    assert entry.remedies == {"default": "Mend it."}


def test_absent_holds_have_their_default(loading):
    holds = loading()["clusterRouterNotReady"].holds
    assert holds.declared == timedelta(0)
    assert holds.failed == timedelta(seconds=15)
    assert holds.lost == timedelta(seconds=30)


def test_parameters_are_those_of_the_probe(loading):
    parameters = loading()["clusterRouterNotReady"].parameters
    assert (parameters.name_flag, parameters.sizes) == ("router-deployment", (1, 2))


def test_a_row_is_kept_with_its_why(loading):
    assert loading().suppressions == (
        Suppression(
            Reason("clusterRouterNotReady"),
            Reason("modelharnessGateNotReady"),
            Scope.CLUSTER,
            "It is what the gate is made of.",
        ),
    )


def test_the_crds_that_a_probe_requires_are_known_by_reason(loading):
    catalogue = loading()
    assert catalogue.required_crds("clusterRouterNotReady") == {"things.test"}
    assert catalogue.required_crds("clusterScalerNotReady") == frozenset()


def test_the_row_of_missing_crds_names_its_source_alone(loading):
    catalogue = loading(
        "reason: modelharnessGateNotReady\n        scope", "crd-of: true\n        scope"
    )
    assert catalogue.missing_crd_reason == "clusterRouterNotReady"
    assert catalogue.suppressions == ()


def test_reasons_are_ordered_by_layer_and_rank_with_the_ready_last(loading):
    assert list(loading().entries) == [
        "clusterRouterNotReady",
        "clusterScalerNotReady",
        "clusterReady",
        "modelharnessGateNotReady",
        "modelharnessDoorNotReady",
        "modelharnessReady",
        "inferencesetSlow",
        "inferencesetReady",
    ]
