"""Selection of the pods that are read."""

import msgspec
import pytest

from reporter.catalogue.subject_definitions import NO_SUBJECTS
from reporter.kinds.core import NAMESPACES, PODS, Pod
from reporter.scrape.samples import ScrapedMetrics
from reporter.scrape.scrapes import MetricsPage, PodSelector, Scrape
from reporter.snapshot.scrape_targets import (
    READY,
    SCAN_BATCH,
    TargetFinder,
    find_scrape_targets,
)
from reporter.store.store import Store
from tests.support.builders import NOON
from tests.support.loading_pods import (
    REASON,
    SCRAPE,
    TEAM,
    a_loading_pod,
    a_loading_store,
    a_team,
)


def read(*objects) -> list[str]:
    return names(a_loading_store(*objects))


def names(store, *scrapes: Scrape) -> list[str]:
    found = find_scrape_targets(store.snapshot(), scrapes or (SCRAPE,))
    return sorted(each[0].pod for each in found if each is not None)


def test_a_model_pod_that_is_not_ready_is_read():
    assert read(a_loading_pod()) == ["qwen-7rk2p-0"]


@pytest.mark.parametrize(
    "changes",
    [
        {"ready": True},
        {"deleted": NOON},
        {"ip": ""},
        {"ip": None},
        {"labels": {"apps.kubernetes.io/pod-index": "1"}},
        {"labels": {"inferenceset.kaito.sh/created-by": ""}},
        {"waiting": True},
        {"host_network": True},
        {"phase": "Failed"},
        {"phase": "Succeeded"},
        {"namespace": "elsewhere"},
    ],
)
def test_no_other_pod_is_read(changes):
    assert read(a_loading_pod(**changes)) == []


@pytest.mark.parametrize(
    "changes",
    [{"labels": {"apps.kubernetes.io/pod-index": ""}}, {"containers": False}],
)
def test_missing_fields_of_a_pod_do_not_prevent_scraping(changes):
    assert read(a_loading_pod(**changes)) == ["qwen-7rk2p-0"]


def test_no_page_is_read_in_a_namespace_that_is_not_evaluated_or_is_being_deleted():
    assert read(a_loading_pod(), a_team(labelled=False)) == []
    assert read(a_loading_pod(), a_team(deleted=NOON)) == []


def test_a_namespace_that_gains_the_label_is_read_from_then_on():
    store = a_loading_store(a_loading_pod(), a_team(labelled=False))
    assert names(store) == []
    store.upsert(NAMESPACES, a_team())
    assert len(names(store)) == 1


def test_the_address_is_that_of_the_pods_status():
    raw = b'{"metadata": {"name": "p"}, "status": {"podIP": "10.0.0.9", "podIPs": []}}'
    assert msgspec.json.decode(raw, type=Pod).status.pod_ip == "10.0.0.9"
    store = a_loading_store()
    assert store.get_pod(TEAM, "p") is None
    store.upsert(PODS, a_loading_pod("p"))
    assert store.get_pod(TEAM, "p") == a_loading_pod("p")


SERVING = Scrape(families=("vllm:num_requests_waiting",), pods=READY, port=8000)


def test_ready_pods_are_read_at_the_port_of_the_scrape_that_selects_them():
    ready = a_loading_pod("ready-0", ready=True)
    store = a_loading_store(a_loading_pod("loading-0"), ready)
    assert names(store, SERVING) == ["ready-0"]
    found = find_scrape_targets(store.snapshot(), (SCRAPE, SERVING))
    assert list(found) == [
        (MetricsPage(TEAM, "loading-0", SCRAPE.port), "uid-loading-0"),
        (MetricsPage(TEAM, "ready-0", 8000), "uid-ready-0"),
    ]


def test_the_scrapes_of_several_reasons_that_read_the_same_pages_find_each_page_once():
    store = a_loading_store(a_loading_pod("ready-0", ready=True))
    other = Scrape(families=("vllm:kv_cache_usage_perc",), pods=READY, port=8000)
    assert names(store, SERVING, other) == ["ready-0"]


@pytest.mark.parametrize(
    "changes",
    [
        {"deleted": NOON},
        {"ip": ""},
        {"labels": {"apps.kubernetes.io/pod-index": "1"}},
        {"labels": {"inferenceset.kaito.sh/created-by": ""}},
        {"host_network": True},
        {"phase": "Failed"},
        {"namespace": "elsewhere"},
    ],
)
def test_ready_pods_that_serve_no_model_are_not_read(changes):
    assert names(a_loading_store(a_loading_pod(**{"ready": True, **changes})), SERVING) == []


def test_a_predicate_selects_pods_without_an_index():
    by_name = PodSelector(lambda pod: pod.metadata.name.startswith("b"))
    store = a_loading_store(a_loading_pod("a-0"), a_loading_pod("b-0", ready=True))
    assert names(store, Scrape(("up",), by_name, 9090)) == ["b-0"]


def test_a_scan_of_all_pods_pauses_between_batches():
    pods = [a_loading_pod(f"p{number}-0", ready=True) for number in range(2 * SCAN_BATCH)]
    found = list(find_scrape_targets(a_loading_store(*pods).snapshot(), (SERVING,)))
    assert (found.count(None), len(found)) == (2, 2 * SCAN_BATCH + 2)


def test_targets_are_found_again_only_after_a_change_of_pods_or_namespaces():
    store = a_loading_store(a_loading_pod())
    finder = TargetFinder((SCRAPE,), store.snapshot)
    first = finder.find_if_changed()
    assert first is not None
    assert len(list(first)) == 1
    store.record_scrape(a_loading_pod(), REASON, ScrapedMetrics(NOON))
    assert finder.find_if_changed() is None
    store.upsert(PODS, a_loading_pod("other-0"))
    second = finder.find_if_changed()
    assert second is not None
    assert len(list(second)) == 2


def test_without_a_scrape_no_pods_have_to_be_watched():
    finder = TargetFinder((), Store((), subjects=NO_SUBJECTS).snapshot)
    assert [*(finder.find_if_changed() or ())] == []
    assert finder.find_if_changed() is None
