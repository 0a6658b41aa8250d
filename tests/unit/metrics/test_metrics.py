"""The metrics page, as a Prometheus server reads it, and the declarations behind it."""

import platform
import re
from datetime import timedelta
from itertools import product

import pytest
from msgspec import structs

from reporter.evaluation.evaluation import Evaluation
from reporter.kube.event_record import WriteResult
from reporter.metrics.declarations import FINDING_LABELS, METRICS
from reporter.metrics.input_collectors import InputReport, PageReport, PermissionReport
from reporter.metrics.page import Metrics
from reporter.metrics.state_collector import ALWAYS_SHOWN
from reporter.model.enums import ClosedConnection, Layer, TroubleKind
from reporter.model.status_document import UnlistedLayer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.process.clock import Clock
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import ToldLeadership, leading_metrics, some_metrics
from tests.support.replay import Replay
from tests.support.rollups import BAD_IMAGE, FULLY_REPORTED, show_rollup, stack_after
from tests.support.silences import a_silence, silenced
from tests.unit.metrics.metrics_page import PREFIX, MetricsPage, a_watch


SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
KAITO, BBR, PODS = a_key("clusterKaito"), a_key("clusterBBR"), a_key("inferencesetPods", SET)
SOME = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    rows=(a_suppression("clusterKaito", "inferencesetPods"),),
)
MILLISECOND = timedelta(milliseconds=1)


def watching() -> InputReport:
    return InputReport([a_watch()])


def after(play: Replay, metrics: Metrics) -> MetricsPage:
    metrics.follow(finished_pass(play.evaluation, took=MILLISECOND))
    return MetricsPage(metrics)


def a_play() -> Replay:
    return Replay(SOME, subjects=frozenset({CLUSTER_SUBJECT, SET}))


def test_every_reason_of_the_catalogue_is_zero_from_the_start():
    page = MetricsPage(some_metrics(DEFAULT_CATALOGUE))
    found = [s for s in page.samples if s.name == f"{PREFIX}reason_state"]
    wanted = {e.reason for e in DEFAULT_CATALOGUE.entries.values() if not e.is_ready_reason}
    shown = sorted((s.labels["reason"], s.labels["state"]) for s in found)
    assert shown == sorted(product(wanted, ALWAYS_SHOWN))
    assert {s.value for s in found} == {0.0}


def test_every_write_result_is_zero_from_the_start_and_counted():
    metrics = some_metrics(SOME)
    page = MetricsPage(metrics)
    assert all(page.value("event_writes_total", result=result) == 0 for result in WriteResult)
    metrics.count_write(WriteResult.CREATED)
    metrics.count_write(WriteResult.CREATED)
    assert MetricsPage(metrics).value("event_writes_total", result="created") == 2


def test_every_cause_of_a_closed_connection_is_zero_from_the_start_and_counted():
    metrics = some_metrics(SOME)
    name = "http_connections_closed_total"
    page = MetricsPage(metrics)
    assert all(page.value(name, cause=cause) == 0 for cause in ClosedConnection)
    metrics.count_closed_connection(ClosedConnection.MALFORMED)
    assert MetricsPage(metrics).value(name, cause="malformed") == 1


def test_each_state_of_a_reason_is_a_one_of_its_own():
    play, metrics = a_play(), some_metrics(SOME)
    play.set_verdicts(
        an_active_verdict(KAITO, a_trouble(is_out=True)),
        an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST)),
    )
    page = after(play.set_verdicts(an_active_verdict(PODS)), metrics)
    assert page.high("active") == {("clusterKaito", ""), ("inferencesetPods", "team-a")}
    assert page.high("held") == {("clusterBBR", "")}
    assert page.high("suppressed") == {("inferencesetPods", "team-a")}
    assert page.high("unknown") == set()
    page = after(play.set_unknown(BBR), metrics)
    assert (page.high("held"), page.high("unknown")) == (set(), {("clusterBBR", "")})


def test_series_go_with_the_last_subject_of_their_layer_in_a_namespace():
    other = Subject(Layer.MODELDEPLOYMENT, "team-b", "qwen")
    play = Replay(SOME, subjects=frozenset({CLUSTER_SUBJECT, SET, other}))
    metrics = some_metrics(SOME)
    elsewhere = a_key("inferencesetPods", other)
    play.set_verdicts(an_active_verdict(PODS), an_active_verdict(elsewhere))
    assert after(play, metrics).namespaces() == {"", "team-a", "team-b"}
    page = after(play.set_clear(PODS).advance(60), metrics)
    assert page.state("active", PODS) == 0, "settled, and still there for an alert to resolve"
    play.subjects = frozenset({CLUSTER_SUBJECT, other})
    play.set_clear(PODS).run_pass()
    assert after(play, metrics).namespaces() == {"", "team-b"}
    play.subjects = frozenset({CLUSTER_SUBJECT})
    play.run_pass()
    assert after(play, metrics).namespaces() == {""}


def test_a_finding_that_becomes_unknown_stays_one():
    play, metrics = a_play(), some_metrics(SOME)
    play.set_verdicts(an_active_verdict(BBR)).set_unknown(BBR)
    page = after(play.advance(600), metrics)
    assert page.high("active") == page.high("unknown") == {("clusterBBR", "")}


def test_trouble_that_ended_reads_zero_and_its_series_stays():
    play, metrics = a_play(), some_metrics(SOME)
    assert after(play.set_verdicts(an_active_verdict(PODS)), metrics).state("active", PODS) == 1
    assert after(play.set_clear(PODS).advance(31), metrics).state("active", PODS) == 0


def test_many_inference_sets_of_one_namespace_are_one_series():
    sets = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i}") for i in range(30)]
    play = Replay(SOME, subjects=frozenset({CLUSTER_SUBJECT, *sets}))
    play.set_verdicts(*(an_active_verdict(a_key("inferencesetPods", each)) for each in sets))
    page = after(play, some_metrics(SOME))
    assert page.state("active", PODS) == 1


def test_labels_come_from_closed_sets_and_from_names_of_namespaces_and_inference_sets():
    play, metrics = a_play(), some_metrics(SOME, watching)
    page = after(play.set_verdicts(an_active_verdict(PODS, a_trouble("pod-6c9f-x2"))), metrics)
    names = {name for sample in page.samples for name in sample.labels}
    of_subjects = {"layer", "reason", "owner", "workload_namespace", "inferenceset", "state"}
    of_subjects |= {"severity", "reads"}
    of_process = {"kind", "result", "cause", "le", "version", "python_version"}
    assert names <= of_subjects | of_process
    assert "6c9f" not in page.text


def test_passes_are_timed_and_the_last_has_its_timestamp():
    metrics = some_metrics(SOME)
    for number in (1, 3, 700):
        metrics.follow(finished_pass(Evaluation(), took=number * MILLISECOND))
    page = MetricsPage(metrics)
    assert page.value("pass_duration_seconds_count") == 3
    assert page.value("pass_duration_seconds_sum") == pytest.approx(0.704)
    assert page.value("pass_duration_seconds_bucket", le="0.005") == 2
    assert page.value("last_pass_timestamp_seconds") > 1e9


def test_event_loop_lag_is_counted_by_its_length():
    metrics = some_metrics(SOME)
    for seconds in (0.001, 0.02, 0.3):
        metrics.observe_loop_lag(seconds)
    page = MetricsPage(metrics)
    assert page.value("event_loop_lag_seconds_bucket", le="0.05") == 2
    assert page.value("event_loop_lag_seconds_count") == 3


def test_the_leader_is_looked_up_at_each_scrape():
    leadership = ToldLeadership(is_leader=True)
    metrics = Metrics(SOME, InputReport, leadership, Clock())
    assert MetricsPage(metrics).value("leader") == 1
    leadership.is_leader = False
    assert MetricsPage(metrics).value("leader") == 0


def test_the_pages_to_be_read_are_counted_at_each_scrape():
    counts = {"read": 2, "failed": 0, "new": 1}
    metrics = some_metrics(SOME, lambda: InputReport(pages=PageReport(counts)))
    for _ in range(2):
        page = MetricsPage(metrics)
        for outcome, number in counts.items():
            assert page.value("scrape_pages", outcome=outcome) == number
        counts["failed"] += 3


def test_the_state_of_every_watch_is_shown():
    lost = a_watch(kind="deployments.apps", watching=False, last_event_age=None, served=False)
    page = MetricsPage(some_metrics(SOME, lambda: InputReport([a_watch(), lost])))
    assert page.value("watch_up", kind="pods") == 1
    assert page.value("watch_up", kind="deployments.apps") == 0
    assert page.value("watch_last_event_age_seconds", kind="pods") == 1.5
    assert page.value("objects", kind="pods") == 3
    assert page.value("relists_total", kind="pods") == 1
    assert page.value("watch_restarts_total", kind="pods") == 2
    assert page.value("watch_missed_total", kind="pods") == 5
    assert page.value("decode_errors_total", kind="pods") == 4
    assert page.value("undecodable_objects", kind="pods") == 6
    assert page.value("kind_served", kind="pods") == 1
    assert page.value("kind_served", kind="deployments.apps") == 0
    assert 'watch_last_event_age_seconds{kind="deployments.apps"}' not in page.text


def test_requests_to_the_api_server_are_counted_by_verb_and_code():
    metrics = some_metrics(SOME)
    for verb, status in (
        ("list", 200),
        ("list", 200),
        ("patch", 409),
        ("get", None),
        ("get", 799),
    ):
        metrics.count_api_request(verb, status)
    page = MetricsPage(metrics)
    assert page.value("api_requests_total", verb="list", code="200") == 2
    assert page.value("api_requests_total", verb="patch", code="409") == 1
    assert page.value("api_requests_total", verb="get", code="error") == 1
    assert page.value("api_requests_total", verb="get", code="other") == 1


def test_the_program_and_its_python_have_a_version():
    (found,) = (
        s for s in MetricsPage(some_metrics(SOME)).samples if s.name == PREFIX + "build_info"
    )
    assert found.value == 1
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", found.labels["version"])
    assert found.labels["python_version"] == platform.python_version()


def test_names_follow_the_conventions():
    metrics = some_metrics(DEFAULT_CATALOGUE, watching)
    for family in MetricsPage(metrics).families:
        ours = family.name.startswith(PREFIX)
        assert ours or family.name.startswith("process_")
        assert re.fullmatch(r"[a-z][a-z0-9_]*", family.name)
        assert family.documentation.strip()
        assert not re.search(r"_(?:ms|milliseconds|minutes|kb|mb|percent)$", family.name)
        names = {sample.name for sample in family.samples}
        if family.type == "counter":
            assert all(name.endswith("_total") for name in names)
        elif ours:
            assert not any(name.endswith("_total") for name in names)
        if ours and "duration" in family.name:
            assert "_seconds" in family.name
        # Words of the exposition format in the name of a gauge would be taken for its parts.
        if family.type == "gauge":
            assert not re.search(r"_(?:count|sum|bucket|total)$", family.name)


def test_each_series_is_there_once():
    page = after(a_play().set_verdicts(an_active_verdict(PODS)), some_metrics(SOME, watching))
    series = [(s.name, tuple(sorted(s.labels.items()))) for s in page.samples]
    assert len(series) == len(set(series))


def test_the_age_of_pages_is_shown_by_path_and_only_of_paths_that_are_used():
    ages: dict[str, timedelta] = {}
    metrics = some_metrics(SOME, lambda: InputReport(pages=PageReport(ages=ages)))
    name = "scrape_page_max_age_seconds"
    assert not [s for s in MetricsPage(metrics).samples if s.name.endswith(name)]
    ages.update(direct=timedelta(seconds=15), proxy=timedelta(minutes=33))
    page = MetricsPage(metrics)
    assert [page.value(name, path=path) for path in ages] == [15, 1980]


def test_the_page_shows_exactly_the_declared_metrics():
    inputs = InputReport(
        [a_watch()],
        PermissionReport({("list", "pods"): False}),
        PageReport({"new": 0}, {"proxy": timedelta(minutes=33)}),
    )
    metrics = leading_metrics(SOME, lambda: inputs)
    everything = {"namespace": "team-m", "reasons": ["all"], "until": "2026-12-01"}
    out = BAD_IMAGE | {"Deployment kaito-system/body-based-router": {"replicas": 0}}
    replay = stack_after(out, given=FULLY_REPORTED, silences=[everything], until="1h")
    unlisted = (UnlistedLayer(layer=Layer.MODELDEPLOYMENT, why="forbidden"),)
    assert replay.rollup.cluster is not None
    cluster = structs.replace(replay.rollup.cluster, unlisted=unlisted)
    rights = ("list pods",)
    show_rollup(metrics, structs.replace(replay.rollup, cluster=cluster, missing_rights=rights))
    metrics.show_store(list, lambda: True)
    metrics.on_episode_end(PODS, MILLISECOND)
    metrics.count_api_request("list", 200)
    silence = a_silence("clusterBBR", until="2026-12-01")
    play = silenced(a_play(), silence)
    play.set_verdicts(an_active_verdict(KAITO, a_trouble(is_out=True)))
    page = after(play.set_verdicts(an_active_verdict(PODS)), metrics)
    shown = {
        (
            family.name + ("_total" if family.type == "counter" else ""),
            family.type,
            family.documentation,
            tuple(sorted({name for sample in family.samples for name in sample.labels} - {"le"})),
        )
        for family in page.families
        if family.name.startswith(PREFIX)
    }
    assert shown == {
        (each.full_name, each.type, each.help, tuple(sorted(each.labels))) for each in METRICS
    }


def test_a_help_text_is_one_sentence_and_all_differ():
    helps = [each.help for each in METRICS]
    assert all(re.fullmatch(r"[A-Z0-9].*\.", text) for text in helps)
    assert len(set(helps)) == len(helps)


def test_what_is_about_a_subject_has_the_same_labels_in_every_metric():
    for each in METRICS:
        if "reason" in each.labels and not each.name.startswith(("rollup_", "episode")):
            assert set(FINDING_LABELS) <= set(each.labels)
        # A ServiceMonitor would rename these to exported_…
        assert not {"namespace", "pod", "container", "service", "job"} & set(each.labels)
