"""Samples in the store: whose they are, when they are judged, and when they go."""

from msgspec.structs import replace

from reporter.kinds.core import PODS
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.scrape.samples import FailedScrape, ScrapeResult
from tests.support.builders import NOON
from tests.support.downloads import a_scrape_result
from tests.support.loading_pods import (
    MODEL,
    REASON,
    SCRAPE,
    TEAM,
    a_loading_pod,
    a_loading_store,
    add_failed_scrape,
    add_samples,
)


POD = a_loading_pod()
SUBJECT = Subject(Layer.MODELDEPLOYMENT, TEAM, MODEL)


def kept(store, pod=POD) -> list[int]:
    """Return the times of a pod's samples, in seconds after noon."""
    window = store.snapshot().scrape_history(pod, REASON)
    return [] if window is None else [(each.scraped_at - NOON).seconds for each in window.scrapes]


def test_a_scrape_is_in_the_next_snapshot():
    store = a_loading_store(POD)
    before = store.snapshot()
    add_samples(store, POD, 3, 3)
    assert (kept(store), before.scrape_history(POD, REASON)) == ([0, 15], None)


def test_only_the_first_page_and_a_changed_gist_cause_an_evaluation():
    store = a_loading_store(POD)
    dirty = []
    for at in range(0, 105, 15):
        store.record_scrape(POD, REASON, a_scrape_result(at, 3))
        dirty.append(store.take_dirty())
    slow = frozenset({SUBJECT})
    none: frozenset[Subject] = frozenset()
    assert dirty == [slow, none, none, none, slow, none, none]


def test_an_unreadable_page_causes_one_evaluation():
    store = a_loading_store(POD)
    calls = []
    store.changes.subscribe(lambda: calls.append(1))
    add_samples(store, POD, 3)
    add_failed_scrape(store, POD, 15)
    add_failed_scrape(store, POD, 30)
    add_samples(store, POD, 3, begin=45)
    assert len(calls) == 3


def test_a_pod_that_is_deleted_takes_its_window_with_it():
    store = a_loading_store(POD)
    add_samples(store, POD, 3, 3)
    store.delete(PODS, TEAM, POD.metadata.name)
    assert len(store.snapshot().scrape_histories) == 0
    store.upsert(PODS, POD)
    assert kept(store) == []


def test_a_pod_that_is_replaced_under_its_name_has_no_past():
    store = a_loading_store(POD)
    add_samples(store, POD, 3, 3)
    new = a_loading_pod(uid="uid-2")
    store.upsert(PODS, new)
    assert (kept(store, new), len(store.snapshot().scrape_histories)) == ([], 0)


def test_a_container_that_restarted_has_no_past():
    store = a_loading_store(POD)
    add_samples(store, POD, 3, 3)
    restarted = a_loading_pod(restarts=1)
    store.upsert(PODS, restarted)
    add_samples(store, restarted, 0, begin=30)
    assert kept(store, restarted) == [30]


def test_an_answer_that_comes_after_a_restart_is_of_the_life_before_and_is_left_out():
    store = a_loading_store(POD)
    store.upsert(PODS, a_loading_pod(restarts=1))
    add_samples(store, POD, 3)
    add_failed_scrape(store, POD)
    assert len(store.snapshot().scrape_histories) == 0


def test_a_scrape_of_a_deleted_pod_is_dropped():
    store = a_loading_store()
    add_samples(store, POD, 3)
    assert len(store.snapshot().scrape_histories) == 0


def test_a_pod_that_became_ready_is_forgotten():
    store = a_loading_store(POD)
    add_samples(store, POD, 3)
    store.upsert(PODS, a_loading_pod(ready=True))
    add_samples(store, POD, 3)
    assert len(store.snapshot().scrape_histories) == 0


def test_a_change_of_a_pod_that_is_no_restart_keeps_its_window():
    store = a_loading_store(POD)
    add_samples(store, POD, 3, 3)
    moved = a_loading_pod(ip="10.244.0.8")
    store.upsert(PODS, moved)
    assert kept(store, moved) == [0, 15]


def test_a_list_that_lacks_the_pod_takes_its_window():
    store = a_loading_store(POD)
    add_samples(store, POD, 3)
    store.replace(PODS, [])
    assert len(store.snapshot().scrape_histories) == 0


def test_scrapes_that_stay_keep_their_histories_and_others_lose_them():
    store = a_loading_store(POD)
    add_samples(store, POD, 3, 3)
    store.samples.set_scrapes({REASON: SCRAPE})
    assert kept(store) == [0, 15]
    store.samples.set_scrapes({REASON: replace(SCRAPE)})
    assert kept(store) == []


def test_a_page_that_arrives_late_for_a_scrape_that_is_gone_is_left_out():
    store = a_loading_store(POD)
    store.samples.set_scrapes({})
    store.record_scrape(POD, REASON, a_scrape_result(0, 3))
    store.record_scrape_failure(POD, REASON, FailedScrape(NOON, "HTTP 500", ScrapeResult.FAILED))
    assert kept(store) == []
