"""
Which pods are read.
"""

import msgspec
import pytest

from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.stages.snapshot.scrape_targets import find_scrape_targets
from tests.support.builders import NOON
from tests.support.loading_pods import TEAM, a_loading_pod, a_loading_store, a_team


def read(*objects) -> list[str]:
    return sorted(
        pod.metadata.name for pod in find_scrape_targets(a_loading_store(*objects).snapshot())
    )


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
def test_what_is_not_told_of_a_pod_does_not_keep_it_from_being_read(changes):
    assert read(a_loading_pod(**changes)) == ["qwen-7rk2p-0"]


def test_nothing_is_read_in_a_namespace_that_is_not_judged_or_on_its_way_out():
    assert read(a_loading_pod(), a_team(labelled=False)) == []
    assert read(a_loading_pod(), a_team(deleted=NOON)) == []


def test_a_namespace_that_gains_the_label_is_read_from_then_on():
    store = a_loading_store(a_loading_pod(), a_team(labelled=False))
    assert list(find_scrape_targets(store.snapshot())) == []
    store.upsert(NAMESPACES, a_team())
    assert len(list(find_scrape_targets(store.snapshot()))) == 1


def test_the_address_is_that_of_the_pods_status():
    raw = b'{"metadata": {"name": "p"}, "status": {"podIP": "10.0.0.9", "podIPs": []}}'
    assert msgspec.json.decode(raw, type=Pod).status.pod_ip == "10.0.0.9"
    store = a_loading_store()
    assert store.get_pod(TEAM, "p") is None
    store.upsert(PODS, a_loading_pod("p"))
    assert store.get_pod(TEAM, "p") == a_loading_pod("p")
