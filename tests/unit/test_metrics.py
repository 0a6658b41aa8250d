"""
The metrics page, as a Prometheus server reads it.
"""

import re
from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from reporter.model.subjects import CLUSTER, Subject
from reporter.model.words import Kind, Layer
from reporter.sinks.metrics import RESULTS, Metrics, WatchReport
from reporter.stages.judgement import Judgement
from tests.builders import a_catalogue, a_key, a_row, a_trouble, active, an_entry
from tests.play import Play
from tests.shipped import CATALOGUE


PREFIX = "productionstack_status_reporter_"
STATES = ("finding", "held", "suppressed", "unknown")
SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
KAITO, BBR, PODS = a_key("clusterKaito"), a_key("clusterBBR"), a_key("inferencesetPods", SET)
SOME = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    rows=(a_row("clusterKaito", "inferencesetPods"),),
)
MILLISECOND = timedelta(milliseconds=1)


def a_watch(**changes) -> WatchReport:
    given = {"kind": "pods", "watching": True, "silence": 1.5, "objects": 3, "relists": 1}
    return WatchReport(**{**given, "restarts": 2, "undecodable": 4, **changes})


class Page:
    """
    One scrape.
    """

    def __init__(self, metrics: Metrics) -> None:
        self.text = metrics.page().decode()
        self.families = list(text_string_to_metric_families(self.text))
        self.samples = [sample for family in self.families for sample in family.samples]

    def value(self, metric: str, **labels: str) -> float:
        (found,) = (
            s.value for s in self.samples if (s.name, s.labels) == (PREFIX + metric, labels)
        )
        return found

    def state(self, metric: str, key) -> float:
        subject = key.subject
        return self.value(
            metric, layer=subject.layer, reason=key.reason, namespace=subject.namespace
        )

    def high(self, metric: str) -> set[tuple[str, str]]:
        return {
            (s.labels["reason"], s.labels["namespace"])
            for s in self.samples
            if s.name == PREFIX + metric and s.value
        }


def after(play: Play, metrics: Metrics) -> Page:
    metrics.passed(Judgement(), play.judged, MILLISECOND)
    return Page(metrics)


def a_play() -> Play:
    return Play(SOME, subjects=frozenset({CLUSTER, SET}))


@pytest.mark.parametrize("name", STATES)
def test_every_reason_that_is_shipped_is_there_from_the_start_and_zero(name):
    page = Page(Metrics(CATALOGUE, list))
    found = [s for s in page.samples if s.name == PREFIX + name]
    wanted = {e.reason for e in CATALOGUE.entries.values() if not e.ready}
    assert {s.labels["reason"] for s in found} == wanted
    assert len(wanted) == 22
    assert {s.value for s in found} == {0.0}


def test_every_result_of_a_write_is_there_from_the_start_and_counted():
    metrics = Metrics(SOME, list)
    page = Page(metrics)
    assert all(page.value("event_writes_total", result=result) == 0 for result in RESULTS)
    metrics.wrote("created")
    metrics.wrote("created")
    assert Page(metrics).value("event_writes_total", result="created") == 2


def test_each_state_of_a_reason_is_a_one_in_its_own_metric():
    play, metrics = a_play(), Metrics(SOME, list)
    play.say(active(KAITO, a_trouble(out=True)), active(BBR, a_trouble(kind=Kind.LOST)))
    page = after(play.say(active(PODS)), metrics)
    assert page.high("finding") == {("clusterKaito", ""), ("inferencesetPods", "team-a")}
    assert page.high("held") == {("clusterBBR", "")}
    assert page.high("suppressed") == {("inferencesetPods", "team-a")}
    assert page.high("unknown") == set()
    page = after(play.unknown(BBR), metrics)
    assert (page.high("held"), page.high("unknown")) == (set(), {("clusterBBR", "")})


def test_a_finding_that_cannot_be_seen_any_more_stays_one():
    play, metrics = a_play(), Metrics(SOME, list)
    play.say(active(BBR)).unknown(BBR)
    page = after(play.after(600), metrics)
    assert page.high("finding") == page.high("unknown") == {("clusterBBR", "")}


def test_what_has_gone_reads_zero_and_does_not_vanish():
    play, metrics = a_play(), Metrics(SOME, list)
    assert after(play.say(active(PODS)), metrics).state("finding", PODS) == 1
    assert after(play.clear(PODS).after(31), metrics).state("finding", PODS) == 0
    play.subjects = frozenset({CLUSTER})
    assert after(play.step(), metrics).state("finding", PODS) == 0


def test_many_of_one_namespace_are_one_series():
    sets = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i}") for i in range(30)]
    play = Play(SOME, subjects=frozenset({CLUSTER, *sets}))
    play.say(*(active(a_key("inferencesetPods", each)) for each in sets))
    page = after(play, Metrics(SOME, list))
    assert page.state("finding", PODS) == 1
    assert "model-" not in page.text


def test_labels_come_from_closed_sets_and_namespaces_alone():
    play, metrics = a_play(), Metrics(SOME, lambda: [a_watch()])
    page = after(play.say(active(PODS, a_trouble("pod-6c9f-x2"))), metrics)
    names = {name for sample in page.samples for name in sample.labels}
    assert names <= {"layer", "reason", "namespace", "kind", "result", "le"}
    assert "6c9f" not in page.text
    assert "qwen" not in page.text


def test_passes_are_timed_and_the_last_is_dated():
    metrics = Metrics(SOME, list)
    for number in (1, 3, 700):
        metrics.passed(Judgement(), Judgement(), number * MILLISECOND)
    page = Page(metrics)
    assert page.value("pass_duration_seconds_count") == 3
    assert page.value("pass_duration_seconds_sum") == pytest.approx(0.704)
    assert page.value("pass_duration_seconds_bucket", le="0.005") == 2
    assert page.value("last_pass_timestamp_seconds") > 1e9


def test_holds_of_the_loop_are_counted_by_their_length():
    metrics = Metrics(SOME, list)
    for seconds in (0.001, 0.02, 0.3):
        metrics.held(seconds)
    page = Page(metrics)
    assert page.value("loop_hold_seconds_bucket", le="0.05") == 2
    assert page.value("loop_hold_seconds_count") == 3


def test_who_leads_is_asked_at_each_scrape():
    metrics, leading = Metrics(SOME, list), [True]
    metrics.leads(lambda: leading[-1])
    assert Page(metrics).value("leader") == 1
    leading.append(False)
    assert Page(metrics).value("leader") == 0


def test_watches_tell_how_they_fare():
    lost = a_watch(kind="deployments.apps", watching=False, silence=None)
    page = Page(Metrics(SOME, lambda: [a_watch(), lost]))
    assert page.value("watching", kind="pods") == 1
    assert page.value("watching", kind="deployments.apps") == 0
    assert page.value("watch_silence_seconds", kind="pods") == 1.5
    assert page.value("objects", kind="pods") == 3
    assert page.value("relists_total", kind="pods") == 1
    assert page.value("watch_restarts_total", kind="pods") == 2
    assert page.value("undecodable_total", kind="pods") == 4
    assert 'watch_silence_seconds{kind="deployments.apps"}' not in page.text


def test_names_follow_the_conventions():
    metrics = Metrics(CATALOGUE, lambda: [a_watch()])
    for family in Page(metrics).families:
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
            assert not re.search(r"_(?:count|sum|bucket|total|info)$", family.name)


def test_each_series_is_there_once():
    page = after(a_play().say(active(PODS)), Metrics(SOME, lambda: [a_watch()]))
    series = [(s.name, tuple(sorted(s.labels.items()))) for s in page.samples]
    assert len(series) == len(set(series))


def test_the_reasons_without_a_probe_are_counted():
    assert Page(Metrics(CATALOGUE, list)).value("pending_reasons") == len(CATALOGUE.pending)
