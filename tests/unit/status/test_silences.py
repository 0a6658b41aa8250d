"""Silences where users look: /status, the log, the metrics, and the status of a subject."""

import logging

from reporter.evaluation.silence_texts import SilenceLog
from reporter.metrics.silences import MAX_SERIES
from reporter.model.enums import Layer
from reporter.model.silences import SilenceFile
from reporter.model.subjects import Subject
from tests.support.builders import HOUR, MINUTE, NOON, a_key, an_active_verdict
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import leading_metrics
from tests.support.replay import Replay
from tests.support.silences import a_silence, silenced
from tests.unit.metrics.metrics_page import PREFIX, MetricsPage
from tests.unit.status.status_fixture import BBR, CATALOGUE, KAITO, PODS_OF, SET, DiagnosisPage


LATER = NOON + HOUR
SILENCE = a_silence("clusterBBR", until=LATER, by="bob", why="maintenance")
OTHER = Subject(Layer.MODELDEPLOYMENT, "team-a", "llama")
PODS_OF_OTHER = a_key("inferencesetPods", OTHER)


def shown(replay: Replay) -> MetricsPage:
    metrics = leading_metrics(CATALOGUE)
    metrics.follow(finished_pass(replay.evaluation))
    return MetricsPage(metrics)


def test_a_silenced_finding_shows_who_silenced_it_and_until_when():
    page = DiagnosisPage()
    silenced(page.replay, SILENCE).set_verdicts(an_active_verdict(BBR), an_active_verdict(KAITO))
    verdict = page.verdict(BBR)
    assert verdict["state"] == "silenced"
    assert verdict["silenced"] == {
        "scope": "cluster",
        "reasons": "clusterBBR",
        "state": "active",
        "until": "2026-05-01T13:00:00Z",
        "by": "bob",
        "why": "maintenance",
        "origin": "silences.yaml:1",
        "problem": "",
    }
    assert page.verdict(KAITO)["silenced"] is None
    assert page.page()["silences"] == [verdict["silenced"]]


def test_a_follower_shows_it_as_silenced_too():
    page = DiagnosisPage()
    page.leading = False
    silenced(page.replay, SILENCE).set_verdicts(an_active_verdict(BBR))
    assert page.verdict(BBR)["state"] == "silenced"


def test_the_page_says_what_is_wrong_with_the_file():
    page = DiagnosisPage()
    assert page.page()["silenceFile"] is None
    for file, problem in (
        (SilenceFile("/s.yaml", problem="line 1: is not YAML"), "line 1: is not YAML"),
        (SilenceFile("/s.yaml", exists=False), "does not exist, so it silences nothing"),
        (SilenceFile("/s.yaml"), ""),
    ):
        page.store.record_silence_file(file)
        assert page.page()["silenceFile"] == {"path": "/s.yaml", "problem": problem}


def test_the_log_has_one_line_for_each_state_of_a_silence(caplog):
    caplog.set_level(logging.DEBUG)
    replay, log = Replay(CATALOGUE), SilenceLog()

    def lines() -> list[tuple[str, str]]:
        caplog.clear()
        log.follow(finished_pass(replay.evaluation))
        return [(record.levelname, record.getMessage()) for record in caplog.records]

    silenced(replay, SILENCE)
    begun = "silence of cluster (silences.yaml:1): clusterBBR until 2026-05-01T13:00:00Z by bob"
    assert lines() == [("INFO", f"{begun}: maintenance")]
    replay.advance(60)
    assert lines() == []
    replay.advance(HOUR)
    (line,) = lines()
    assert line[0] == "WARNING"
    assert "silences nothing, expired: it has ended; remove it" in line[1]
    silenced(replay, a_silence("clusterBRB", until=LATER))
    (line,) = lines()
    assert "silences nothing, malformed: unknown reason `clusterBRB`" in line[1]
    silenced(replay)
    assert lines() == [("INFO", "silence of cluster (silences.yaml:1): removed")]


def test_silences_are_counted_by_state_and_each_shows_its_end():
    replay = silenced(
        Replay(CATALOGUE),
        SILENCE,
        a_silence("clusterBBR", until=NOON - MINUTE, origin="silences.yaml:2"),
        a_silence("clusterBRB", until=LATER, origin="silences.yaml:3"),
        a_silence("all", until=LATER, namespace="team-z", origin="silences.yaml:4"),
    )
    page = shown(replay)
    for state in ("active", "expired", "malformed", "inapplicable"):
        assert page.value("silences", state=state) == 1
    labels = {"workload_namespace": "", "inferenceset": "", "origin": "silences.yaml:1"}
    found = {**labels, "reasons": "clusterBBR", "by": "bob", "state": "active"}
    assert page.value("silence_until_timestamp_seconds", **found) == LATER.timestamp()


def test_the_number_of_series_is_limited():
    many = [a_silence("all", until=LATER, origin=f"s:{number}") for number in range(600)]
    page = shown(silenced(Replay(CATALOGUE), *many))
    series = [s for s in page.samples if s.name.endswith("silence_until_timestamp_seconds")]
    assert len(series) == MAX_SERIES
    assert page.value("silences", state="active") == 600


def alerted(page: MetricsPage) -> list[str]:
    """Return the InferenceSets with a finding on which alerts fire."""
    return [s.labels["inferenceset"] for s in page.samples if s.name == f"{PREFIX}finding"]


def test_alerts_fire_on_those_findings_of_a_namespace_that_are_not_silenced():
    replay = Replay(CATALOGUE, subjects=frozenset({SET, OTHER}))
    place = {"namespace": "team-a", "inferenceset": SET.name}
    silenced(replay, a_silence("all", until=LATER, **place)).set_verdicts(
        an_active_verdict(PODS_OF)
    )
    page = shown(replay)
    assert (page.state("active", PODS_OF), page.state("silenced", PODS_OF)) == (1, 1)
    assert alerted(page) == []
    page = shown(replay.set_verdicts(an_active_verdict(PODS_OF_OTHER)))
    assert (page.state("active", PODS_OF), page.state("silenced", PODS_OF)) == (1, 1)
    assert alerted(page) == [OTHER.name]


def test_a_finding_is_silenced_beside_its_rank():
    replay = silenced(Replay(CATALOGUE), a_silence("clusterKaito", until=LATER))
    page = shown(replay.set_verdicts(an_active_verdict(BBR), an_active_verdict(KAITO)))
    states = {
        (sample.labels["reason"], sample.labels["state"])
        for sample in page.samples
        if sample.name.endswith("_reason_state") and sample.value
    }
    assert states == {
        (BBR.reason, "active"),
        (BBR.reason, "announced"),
        (KAITO.reason, "active"),
        (KAITO.reason, "outranked"),
        (KAITO.reason, "silenced"),
    }
