"""Suppression of findings by an upstream that is out."""

from datetime import timedelta

from msgspec.structs import replace

from reporter.catalogue.entries import Scope
from reporter.evaluation.clocks import ZERO
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.evaluation.suppression import next_suppression_deadline, suppressible_reasons
from reporter.model.enums import Emission, Layer, SuppressionMode, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Cause, ObjectRef
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay
from tests.support.replay_builders import (
    ISTIO,
    KAITO,
    MODELS,
    PODS,
    ROUTE,
    SET,
    out,
    stack_replay,
    team_replay,
)


def test_a_suppressed_finding_is_not_announced_and_is_named_by_its_root():
    replay = stack_replay().set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS))
    assert replay.new_writes == ["clusterKaito x1"]
    assert replay.last_message.endswith(
        " (suppressing downstream reasons: inferencesetPods in 1 namespace(s))"
    )
    assert replay.state(PODS) == "suppressed"


def test_a_primary_names_what_its_outranked_reasons_suppress():
    replay = stack_replay()
    replay.verdicts = {
        ISTIO: an_active_verdict(ISTIO),
        KAITO: out(KAITO, "kaito"),
        PODS: an_active_verdict(PODS),
    }
    assert replay.run_pass().new_writes == ["clusterIstio x1"]
    assert replay.last_message.endswith(
        "(also: clusterKaito) (suppressing downstream reasons: inferencesetPods in 1 namespace(s))"
    )


def test_a_held_upstream_suppresses_too():
    replay = stack_replay().set_verdicts(
        out(KAITO, "kaito", kind=TroubleKind.LOST), an_active_verdict(PODS)
    )
    assert (replay.new_writes, replay.state(KAITO), replay.state(PODS)) == (
        [],
        "held",
        "suppressed",
    )


def test_a_degraded_upstream_suppresses_nothing():
    replay = stack_replay().set_verdicts(an_active_verdict(KAITO), an_active_verdict(PODS))
    assert replay.new_writes == ["clusterKaito x1", "inferencesetPods x1"]


def test_on_recovery_ready_comes_first_and_downstream_has_the_settle_left():
    replay = stack_replay().set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS)).advance(100)
    assert replay.new_writes == ["clusterKaito x1"]
    replay.set_clear(KAITO).advance(31)
    assert replay.new_writes == ["clusterReady x1"]
    assert replay.advance(27).new_writes == []
    assert replay.advance(3).new_writes == ["inferencesetPods x1"]


def test_downstream_that_recovered_meanwhile_is_not_announced():
    replay = stack_replay().set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS)).advance(100)
    replay.set_clear(KAITO).advance(31).set_clear(PODS).advance(timedelta(hours=1))
    assert replay.new_writes == ["clusterKaito x1", "clusterReady x1"]


def test_an_upstream_that_became_unknown_goes_on_suppressing():
    replay = (
        stack_replay()
        .set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS))
        .set_unknown(KAITO)
    )
    assert replay.advance(timedelta(minutes=59, seconds=59)).state(PODS) == "suppressed"


def test_an_upstream_that_is_unknown_for_longer_than_its_event_lives_suppresses_no_more():
    replay = stack_replay().set_verdicts(out(KAITO), an_active_verdict(PODS)).set_unknown(KAITO)
    replay.advance(timedelta(hours=1))
    assert replay.state(PODS) == "held"
    assert replay.advance(30).new_writes == ["clusterKaito x1", "inferencesetPods x1"]
    # It has been out all along, and what follows from it is again told by its own Event.
    assert replay.set_verdicts(out(KAITO)).state(PODS) == "suppressed"


def test_the_moment_at_which_an_unknown_upstream_lets_go_is_known():
    replay = stack_replay().set_verdicts(out(KAITO)).set_unknown(KAITO)
    deadline = replay.now + timedelta(hours=1)
    suppressions = replay.evaluation.suppressions
    assert next_suppression_deadline(suppressions, settle=ZERO) == deadline
    suppressions = replay.advance(timedelta(hours=1)).evaluation.suppressions
    assert next_suppression_deadline(suppressions, settle=ZERO) is None
    assert suppressions.outages[KAITO].is_out


def test_unknown_time_of_an_upstream_lifts_no_suppression():
    replay = (
        stack_replay()
        .set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS))
        .set_clear(KAITO)
        .advance(10)
        .set_unknown(KAITO)
    )
    replay.now += timedelta(seconds=25)
    assert replay.set_clear(KAITO).advance(19).state(PODS) == "suppressed"
    assert replay.advance(2).state(PODS) == "held"


def test_an_upstream_that_becomes_unknown_while_it_recovers_goes_on_suppressing():
    replay = (
        stack_replay()
        .set_verdicts(out(KAITO, kind=TroubleKind.LOST))
        .set_verdicts(an_active_verdict(PODS))
    )
    replay.set_clear(KAITO).advance(10).set_unknown(KAITO).advance(600)
    assert replay.state(PODS) == "suppressed"
    assert replay.set_clear(KAITO).advance(19).state(PODS) == "suppressed"
    assert replay.advance(2).state(PODS) != "suppressed"


def test_time_before_the_first_pass_without_the_outage_is_no_recovery():
    replay = stack_replay().set_verdicts(out(KAITO)).set_verdicts(an_active_verdict(PODS))
    replay.now += timedelta(seconds=25)
    replay.set_clear(KAITO)
    assert replay.advance(29).state(PODS) == "suppressed"
    assert replay.advance(2).state(PODS) != "suppressed"


def test_a_suppression_lifts_at_the_very_end_of_the_settle():
    replay = (
        stack_replay()
        .set_verdicts(out(KAITO))
        .set_verdicts(an_active_verdict(PODS))
        .set_clear(KAITO)
    )
    assert replay.advance(29).state(PODS) == "suppressed"
    assert replay.advance(1).state(PODS) != "suppressed"


def test_the_moment_at_which_a_suppression_lifts_is_known():
    replay = stack_replay().set_verdicts(out(KAITO)).set_clear(KAITO)
    settle = replay.settings.delays.settle
    assert (
        next_suppression_deadline(replay.evaluation.suppressions, settle=settle)
        == replay.now + settle
    )


def test_a_key_that_was_never_known_stays_unknown_when_its_suppression_next_suppression_deadline():
    replay = stack_replay().set_unknown(PODS).set_verdicts(out(KAITO)).set_clear(KAITO).advance(60)
    assert replay.state(PODS) == "unknown"


def test_the_sibling_of_a_suppressed_primary_is_announced():
    replay = stack_replay().set_verdicts(
        out(KAITO, "kaito"), an_active_verdict(PODS), an_active_verdict(ROUTE)
    )
    assert "inferencesetRoute x1" in replay.new_writes
    assert "inferencesetPods" not in replay.writes[-1].message


def test_a_namespace_row_reaches_its_own_namespace_only():
    harness = [Subject(Layer.MODELHARNESS, f"team-{x}") for x in "ab"]
    sets = [Subject(Layer.MODELDEPLOYMENT, f"team-{x}", "qwen") for x in "ab"]
    gateway = an_entry("modelharnessGateway", 10, layer=Layer.MODELHARNESS)
    row = a_suppression("modelharnessGateway", "inferencesetRoute", Scope.NAMESPACE)
    replay = Replay(
        a_catalogue(gateway, *MODELS, rows=(row,)), subjects=frozenset({*harness, *sets})
    )
    routes = [a_key("inferencesetRoute", s) for s in sets]
    replay.set_verdicts(
        out(a_key("modelharnessGateway", harness[0])), *(an_active_verdict(r) for r in routes)
    )
    assert [replay.state(r) for r in routes] == ["suppressed", "announced"]


def test_with_suppression_off_each_finding_is_announced():
    settings = EvaluationSettings(suppression=SuppressionMode.OFF)
    replay = stack_replay(settings=settings)
    replay.set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS))
    assert sorted(replay.new_writes) == ["clusterKaito x1", "inferencesetPods x1"]
    assert "suppressing" not in replay.writes[0].message
    assert replay.evaluation.suppressions.outages[KAITO].is_out


def test_a_row_that_is_switched_off_suppresses_nothing_and_the_others_go_on():
    rows = (
        replace(a_suppression("clusterKaito", "inferencesetPods"), enabled=False),
        a_suppression("clusterKaito", "inferencesetRoute"),
    )
    catalogue = a_catalogue(an_entry("clusterKaito", 30), *MODELS, rows=rows)
    replay = Replay(
        catalogue,
        EvaluationSettings(emission=Emission.ALL),
        subjects=frozenset({CLUSTER_SUBJECT, SET}),
    )
    replay.set_verdicts(out(KAITO, "kaito"), an_active_verdict(PODS), an_active_verdict(ROUTE))
    assert sorted(replay.new_writes) == ["clusterKaito x1", "inferencesetPods x1"]
    assert replay.state(ROUTE) == "suppressed"


def test_a_missing_crd_whose_row_is_switched_off_suppresses_nothing():
    missing = a_key("clusterCRD", item="crd-0")
    base = a_catalogue(an_entry("clusterCRD", 10), *MODELS)
    catalogue = replace(
        base,
        missing_crd_reason=missing.reason,
        required_crds_by_reason={PODS.reason: frozenset({"crd-0"})},
        is_missing_crd_enabled=False,
    )
    replay = Replay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, SET}))
    replay.set_verdicts(out(missing, "crd-0"), an_active_verdict(PODS))
    assert sorted(replay.new_writes) == ["clusterCRD x1", "inferencesetPods x1"]


def test_an_upstream_may_suppress_the_targets_of_rows_and_what_needs_a_crd():
    base = a_catalogue(
        *(an_entry(each, 10) for each in ("clusterA", "clusterB", "clusterC", "clusterD")),
        rows=(a_suppression("clusterA", "clusterB"),),
    )
    of_crds = {"clusterC": frozenset({"crd-0"}), "clusterD": frozenset[str]()}
    catalogue = replace(base, missing_crd_reason="clusterA", required_crds_by_reason=of_crds)
    switched_off = replace(catalogue, is_missing_crd_enabled=False)
    on = EvaluationSettings().suppression
    assert suppressible_reasons(catalogue, on) == {"clusterB", "clusterC"}
    assert suppressible_reasons(switched_off, on) == {"clusterB"}
    assert suppressible_reasons(catalogue, SuppressionMode.OFF) == frozenset()


# ---------------------------------------------------------------- Nodes

LOST_NODE = Cause(ObjectRef("nodes", "", ""), "NotReady")


def test_lost_nodes_suppress_only_what_runs_on_them():
    other = Subject(Layer.MODELDEPLOYMENT, "team-a", "other")
    replay = team_replay(SET, other)
    nodes = replace(a_trouble(is_out=True), cause=LOST_NODE, nodes=frozenset({"a", "b"}))
    of_other = a_key(PODS.reason, other)
    replay.set_verdicts(
        an_active_verdict(KAITO, nodes),
        an_active_verdict(PODS, a_trouble(nodes=frozenset({"a"}))),
        an_active_verdict(of_other, a_trouble()),
    )
    assert (replay.state(PODS), replay.state(of_other)) == ("suppressed", "announced")


def test_a_component_on_a_lost_node_suppresses_all_that_depends_on_it():
    replay = stack_replay().set_verdicts(
        out(KAITO, "kaito", nodes=frozenset({"a"})), an_active_verdict(PODS)
    )
    assert replay.state(PODS) == "suppressed"
