"""The metrics of episodes and of the HealthEvent store."""

from datetime import timedelta

from reporter.kinds.health_events import StoreLimit, StoreWriteResult
from tests.support.health_events import a_health_event
from tests.support.metrics_text import some_metrics
from tests.unit.metrics.metrics_page import MetricsPage
from tests.unit.metrics.test_metrics import BBR, SOME


def test_episodes_are_counted_and_timed_by_reason():
    metrics = some_metrics(SOME)
    assert MetricsPage(metrics).value("episodes_total", reason="clusterBBR") == 0
    metrics.on_episode_begin(BBR)
    metrics.on_episode_end(BBR, timedelta(minutes=5))
    metrics.on_episode_end(BBR, timedelta(seconds=-1))
    page = MetricsPage(metrics)
    assert page.value("episodes_total", reason="clusterBBR") == 1
    assert page.value("episode_duration_seconds_count", reason="clusterBBR") == 2
    assert page.value("episode_duration_seconds_sum", reason="clusterBBR") == 300


def test_store_is_shown_only_while_it_is_switched_on():
    metrics = some_metrics(SOME)
    assert "store_" not in MetricsPage(metrics).text
    objects = [a_health_event(), a_health_event("two", phase="Resolved"), a_health_event("three")]
    is_up = False
    store = metrics.show_store(lambda: objects, lambda: is_up)
    page = MetricsPage(metrics)
    assert page.value("store_up") == 0
    assert page.value("store_objects", phase="Active") == 2
    assert page.value("store_objects", phase="Resolved") == 1
    assert all(page.value("store_writes_total", result=each) == 0 for each in StoreWriteResult)
    assert all(page.value("store_rejected_total", limit=each) == 0 for each in StoreLimit)
    is_up = True
    store.count_store_write(StoreWriteResult.CREATED)
    store.count_rejected(StoreLimit.NODE)
    page = MetricsPage(metrics)
    assert page.value("store_up") == 1
    assert page.value("store_writes_total", result="created") == 1
    assert page.value("store_rejected_total", limit="node") == 1
