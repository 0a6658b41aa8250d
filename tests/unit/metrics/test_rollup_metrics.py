"""The series of the status on the metrics page."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from reporter.controller.enabled_scrapes import scraping_reasons
from reporter.evaluation.registry import SPECS
from reporter.metrics import declarations
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.settings import RollUpScope
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import metrics_text, some_metrics
from tests.support.rollups import BAD_IMAGE, model_outage, show_rollup, stack_after
from tests.unit.metrics.metrics_page import MetricsPage


PREFIX = "productionstack_status_reporter_rollup_"


def series(replay, scope=RollUpScope.NAMESPACE, *, leading: bool = True) -> dict:
    metrics = some_metrics(DEFAULT_CATALOGUE, leads=leading)
    show_rollup(metrics, replay.rollup, scope)
    return {
        (sample.name.removeprefix(PREFIX), *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics_text(metrics))
        for sample in family.samples
        if sample.name.startswith(PREFIX)
    }


def labelled(found: dict, name: str, **labels: str) -> float:
    return found[name, *sorted(labels.items())]


def test_the_cluster_has_nineteen_series():
    change = {"Deployment kaito-system/kaito-workspace": {"replicas": 0}}
    replay = stack_after(
        change, given={"InferenceSet team-m/qwen": {"status": {"autoUpgrade": {}}}}
    )
    found = series(replay, RollUpScope.CLUSTER)
    assert len(found) == 19
    assert labelled(found, "state", scope="cluster", workload_namespace="", state="failed") == 1
    assert labelled(found, "state", scope="cluster", workload_namespace="", state="current") == 0
    assert (
        labelled(
            found,
            "blocking_info",
            scope="cluster",
            workload_namespace="",
            reason="clusterKaitoControllerNotReady",
            code="ScaledToZero",
            actionability="platform",
            stalled="false",
        )
        == 1
    )
    assert labelled(found, "cluster_info", version="1.2.3") == 1


def test_a_namespace_has_at_most_fifteen_more():
    change, before = model_outage(), stack_after()
    found = series(change)
    team = [each for each in found if ("workload_namespace", "team-m") in each]
    assert len(team) == 15
    assert labelled(found, "inferencesets", workload_namespace="team-m", state="failed") == 1
    assert labelled(found, "inferencesets", workload_namespace="", state="failed") == 1
    assert labelled(found, "replicas", workload_namespace="team-m", count="desired") == 1
    assert labelled(found, "replicas", workload_namespace="team-m", count="ready") == 0
    info = {"package": "modelharness", "revision": "0.2.2", "state": "failed"}
    assert labelled(found, "package_info", workload_namespace="team-m", **info) == 1
    assert not [each for each in series(before) if each[0] == "blocking_info"]


def test_what_blocks_and_is_silenced_has_the_end_of_its_silence():
    name = "blocking_silenced_until_timestamp_seconds"
    until = datetime(2026, 5, 1, 15, tzinfo=UTC)
    silence = {"namespace": "team-m", "reasons": ["all"], "until": until.isoformat()}
    found = series(model_outage(silences=[silence]))
    assert {each: value for each, value in found.items() if each[0] == name} == {
        (name, ("scope", "namespace"), ("workload_namespace", "team-m")): until.timestamp()
    }
    assert not [each for each in series(model_outage()) if each[0] == name]


BBR_OUT = {"Deployment kaito-system/body-based-router": {"replicas": 0}}
KAITO_OUT = {"Deployment kaito-system/kaito-workspace": {"replicas": 0}}
ANOTHER = {"Pod team-m/qwen-7rk2p-0": {"model": "qwen", "ready": False}}
OF_BBR = ("cluster", "clusterBBRNotReady", "", "platform", "")


def stalled(replay) -> set[tuple[str, ...]]:
    found = (dict(each[1:]) for each in series(replay) if each[0] == "stalled")
    names = ("layer", "reason", "code", "owner", "workload_namespace")
    return {tuple(each[name] for name in names) for each in found}


STALLED_COMPLETE = f"{PREFIX}stalled_complete "


def stalled_complete(replay, *, knows_episodes: bool = True, leading: bool = True) -> dict:
    metrics = some_metrics(DEFAULT_CATALOGUE, leads=leading)
    show_rollup(metrics, replay.rollup)
    metrics.show_findings(
        dict,
        knows_episodes=lambda: knows_episodes,
        reading=scraping_reasons(DEFAULT_CATALOGUE, SPECS),
    )
    metrics.follow(finished_pass(replay.evaluation))
    page = metrics_text(metrics)
    return dict(
        line.removeprefix(PREFIX).split()
        for line in page.splitlines()
        if line.startswith(STALLED_COMPLETE)
    )


@pytest.mark.parametrize(
    ("until", "how", "shown"),
    [
        ("44m", {}, "0.0"),
        ("46m", {}, "1.0"),
        ("46m", {"knows_episodes": False}, "0.0"),
        ("46m", {"leading": False}, None),
    ],
)
def test_what_is_stalled_is_known_after_the_longest_window(until, how, shown):
    found = stalled_complete(stack_after({}, until=until), **how)
    assert found.get("stalled_complete") == shown


def test_after_a_fault_of_the_status_what_is_stalled_has_to_be_found_again():
    replay = stack_after({}, until="2h")
    replay.rollup = RollUp(revision=9)
    assert stalled_complete(replay) == {}
    replay.rollup = fold(replay.rollup, replay.rollup_input(), replay.rollup_rules)
    assert stalled_complete(replay) == {"stalled_complete": "0.0"}


def test_what_takes_longer_than_it_may_is_shown_with_its_owner():
    assert stalled(stack_after(BBR_OUT, until="1m")) == set(), "it may take as long"
    assert stalled(stack_after(BBR_OUT, until="1h")) == {OF_BBR}


def test_what_blocks_the_cluster_is_not_repeated_for_its_namespaces():
    replay = stack_after({**KAITO_OUT, **ANOTHER}, until="1h")
    blocked = {
        dict(each[1:])["workload_namespace"]
        for each in series(replay)
        if each[0] == "blocking_info" and ("reason", "clusterKaitoControllerNotReady") in each
    }
    assert blocked == {"", "team-m"}
    of_kaito = ("cluster", "clusterKaitoControllerNotReady", "", "platform", "")
    assert stalled(replay) == {of_kaito}


def test_what_is_silenced_stalls_nothing():
    silence = {"reasons": ["clusterBBRNotReady"], "until": "2026-12-01"}
    assert stalled(stack_after(BBR_OUT, until="1h", silences=[silence])) == set()


def test_what_is_not_reported_has_no_series():
    found = series(stack_after())
    counts = {
        dict(each[1:])["count"]
        for each in found
        if each[0] == "replicas" and ("workload_namespace", "team-m") in each
    }
    assert counts == {"desired", "ready"}


def test_subjects_of_other_packs_are_counted_and_have_no_replicas():
    invalid = {"status": {"modelStatus": {"transitionStatus": "InvalidSpec"}}}
    replay = stack_after(
        given={"InferenceService team-m/llama": invalid}, packs=["kaito", "kserve"]
    )
    found = series(replay)
    for namespace in ("team-m", ""):
        assert labelled(found, "inferencesets", workload_namespace=namespace, state="failed") == 1
        assert labelled(found, "inferencesets", workload_namespace=namespace, state="current") == 1
        assert labelled(found, "replicas", workload_namespace=namespace, count="desired") == 1
        assert labelled(found, "replicas", workload_namespace=namespace, count="ready") == 1


def test_inference_sets_that_cannot_be_listed_are_not_shown_as_none():
    gone, lost = {"InferenceSet team-m/qwen": None}, {"inferencesets": "lost"}
    for watch, unknown in (({}, 0), (lost, 1)):
        found = series(stack_after(gone, watch=watch, until="5m"), RollUpScope.CLUSTER)
        count = labelled(found, "inferencesets", workload_namespace="", state="unknown")
        assert count == unknown


@pytest.mark.parametrize(("given", "known"), [({"InferenceSet team-m/qwen": None}, 0), ({}, 1)])
def test_a_number_of_inference_sets_that_is_not_known_is_absent(given, known):
    replay = stack_after(given, watch={"inferencesets": "lost"}, until="5m")
    found = {each: value for each, value in series(replay).items() if each[0] == "inferencesets"}
    team = {
        each: value for each, value in found.items() if ("workload_namespace", "team-m") in each
    }
    assert list(team.values()) == [1] * known
    assert all(("state", "unknown") in each for each in found)
    assert list(found.values()) == [1] * (1 + known)


def test_subjects_that_cannot_be_listed_are_not_counted_as_zero():
    numbers = {}
    for watch in ({}, {"inferencesets": "lost"}):
        metrics = some_metrics(DEFAULT_CATALOGUE)
        replay = stack_after({"InferenceSet team-m/qwen": None}, watch=watch, until="5m")
        metrics.follow(finished_pass(replay.evaluation))
        page = MetricsPage(metrics)
        numbers[bool(watch)] = {
            sample.labels["state"]: sample.value
            for sample in page.samples
            if sample.name.endswith("_subjects") and sample.labels["layer"] == "modeldeployment"
        }
    assert set(numbers[False].values()) == {0}
    assert numbers[True] == {"unknown": 1}


@pytest.mark.parametrize(
    "how", [{"leading": False}, {"scope": RollUpScope.OFF}], ids=["a follower", "off"]
)
def test_a_follower_and_a_reporter_told_so_have_none(how):
    assert series(model_outage(), **how) == {}


def test_what_is_unknown_below_the_cluster_is_counted_and_zeros_say_that_nothing_is():
    found = series(stack_after())
    assert [labelled(found, "unobserved", what=what) for what in ("namespaces", "layers")] == [
        0,
        0,
    ]
    found = series(stack_after(watch={"gateways": "lost"}, until="5m"), RollUpScope.CLUSTER)
    assert labelled(found, "unobserved", what="namespaces") == 2
    found = series(stack_after(watch={"inferencesets": "lost"}, until="5m"), RollUpScope.CLUSTER)
    assert labelled(found, "unobserved", what="layers") == 1
    state = {"scope": "cluster", "workload_namespace": "", "state": "current"}
    assert labelled(found, "state", **state) == 1, "the control plane is well"
    assert not [each for each in found if each[0] == "replicas"], "a sum of some is none of all"


def test_missing_permissions_are_those_of_the_roll_up():
    replay = stack_after()
    replay.rollup = replace(replay.rollup, missing_rights=("list pods", "watch pods"))
    found = series(replay, RollUpScope.CLUSTER)
    assert {each[1:] for each in found if each[0] == "missing_rights"} == {
        (("right", "list pods"),),
        (("right", "watch pods"),),
    }
    assert not [each for each in series(replay, leading=False) if each[0] == "missing_rights"]


def models(replay, *, leading: bool = True) -> dict[str, dict[str, float]]:
    """Return the numbers of each InferenceSet, by its name."""
    metrics = some_metrics(DEFAULT_CATALOGUE, leads=leading)
    found: dict[str, dict[str, float]] = {}
    show_rollup(metrics, replay.rollup, RollUpScope.CLUSTER)
    for family in text_string_to_metric_families(metrics_text(metrics)):
        for sample in family.samples:
            if "_inferenceset_" in sample.name and "workload_namespace" in sample.labels:
                what = sample.labels.get("count", "available")
                found.setdefault(sample.labels["inferenceset"], {})[what] = sample.value
    return found


def test_each_model_has_its_replicas_and_whether_it_is_available():
    well = {"desired": 1, "ready": 1, "available": 1}
    assert models(stack_after())["qwen"] == well
    assert models(model_outage())["qwen"] == {"desired": 1, "ready": 0, "available": 0}
    assert models(model_outage(), leading=False) == {}


def test_what_is_not_known_of_a_model_has_no_series():
    assert "ready" not in models(stack_after(watch={"pods": "lost"}, until="5m")).get("qwen", {})


def test_the_models_that_are_not_available_are_shown_first(monkeypatch):
    monkeypatch.setattr(declarations, "MODEL_LIMIT", 1)
    another: dict[str, dict] = {"InferenceSet team-a/aaa": {}}
    assert [*models(stack_after(given=another))] != ["qwen"], "by name"
    assert [*models(stack_after(BAD_IMAGE))] == ["qwen"]


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({}, {"available": 1, "desired": 1, "ready": 1}),
        (BAD_IMAGE, {"available": 0, "desired": 1, "ready": 0}),
        ({"InferenceSet team-m/qwen": {"metadata": {"deletionTimestamp": "now"}}}, {}),
    ],
    ids=["well", "out", "being deleted"],
)
def test_a_model_has_its_replicas_and_whether_it_is_available(change, lines):
    metrics = some_metrics(DEFAULT_CATALOGUE, leads=True)
    show_rollup(metrics, stack_after(change).rollup, RollUpScope.CLUSTER)
    assert {
        sample.labels.get("count", "available"): sample.value
        for family in text_string_to_metric_families(metrics_text(metrics))
        for sample in family.samples
        if sample.labels.get("inferenceset") == "qwen"
    } == lines
