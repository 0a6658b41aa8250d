"""The metrics page names subjects and reasons; it carries no texts, which /status has."""

from datetime import timedelta

from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import some_metrics
from tests.support.rollups import show_rollup, stack_after
from tests.unit.metrics.metrics_page import PREFIX, MetricsPage


TEXT, WHY, WHO = "no-such-certificate", "we-move-the-weights", "alice-of-team-m"
ACCEPTED = {"type": "Accepted", "status": "True", "reason": "Accepted", "observedGeneration": 1}
FAILED = {
    "type": "Programmed",
    "status": "False",
    "reason": "Invalid",
    "message": TEXT,
    "observedGeneration": 1,
}
SILENCE = {
    "namespace": "team-m",
    "reasons": ["inferencesetModelPodsNotReady"],
    "until": (NOON + timedelta(hours=1)).isoformat(),
    "why": WHY,
    "by": WHO,
}
CHANGE = {
    "Gateway team-m/team-m-gw": {"status": {"conditions": [ACCEPTED, FAILED]}},
    "Pod team-m/qwen-7rk2p-0": {"model": "qwen", "ready": False, "waiting": "ErrImagePull"},
}


def test_texts_of_components_and_reasons_of_silences_are_not_on_the_page():
    replay = stack_after(CHANGE, silences=[SILENCE], until="5m")
    assert any(TEXT in each for each in replay.announced)
    assert [each.why for each in replay.evaluation.silences.all] == [WHY]
    metrics = some_metrics(DEFAULT_CATALOGUE, leads=True)
    show_rollup(metrics, replay.rollup)
    metrics.follow(finished_pass(replay.evaluation))
    page = MetricsPage(metrics)
    assert page.high("silenced") == {("inferencesetModelPodsNotReady", "team-m")}
    assert [each for each in (TEXT, WHY, "7rk2p", "ErrImagePull") if each in page.text] == []
    named = {s.name for s in page.samples if WHO in s.labels.values()}
    assert named == {f"{PREFIX}silence_until_timestamp_seconds"}
