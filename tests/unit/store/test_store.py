"""The store of observations and its snapshots."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import NAMESPACES, PODS, Pod, PodStatus
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.objects import Condition, label_key, name_key, workload_key
from reporter.kinds.shared_values import shared_time
from reporter.model.enums import Layer
from reporter.model.observations import DiscoveryResult, NotSynced, Watching, WatchLost
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import ObjectRef
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store import table
from reporter.store.store import Store
from tests.support.builders import NOON, SECOND, a_deployment, a_namespace, a_pod, a_store
from tests.support.catalogue_fixture import SUBJECTS


BBR = ("kaito-system", "body-based-router")
REF = ObjectRef("deployments.apps", *BBR)
CRD = "inferencesets.kaito.sh"


def deployment(snapshot):
    return snapshot.get(DEPLOYMENTS, Deployment, *BBR)


def test_a_snapshot_never_changes():
    store = a_store(a_deployment())
    before = store.snapshot()
    store.upsert(DEPLOYMENTS, a_deployment(replicas=0))
    store.delete(DEPLOYMENTS, "other", "other")
    assert deployment(before).desired_replicas == 2
    assert deployment(store.snapshot()).desired_replicas == 0


def test_objects_are_found_by_workload_name_and_label():
    labels = {"app": "istiod", "team": "mesh"}
    store = a_store(a_deployment(), a_deployment("istiod", "istio", labels=labels), a_pod())
    snapshot = store.snapshot()
    assert snapshot.by_index(PODS, Pod, workload_key(*BBR)) == (a_pod(),)
    assert len(snapshot.by_index(DEPLOYMENTS, Deployment, name_key("istiod"))) == 1
    assert len(snapshot.by_index(DEPLOYMENTS, Deployment, label_key("app", "istiod"))) == 1
    assert snapshot.by_index(DEPLOYMENTS, Deployment, label_key("team", "mesh")) == ()


def test_an_object_that_changes_its_labels_is_found_by_the_new_ones_only():
    store = a_store(a_deployment(labels={"app": "old"}))
    store.upsert(DEPLOYMENTS, a_deployment(labels={"app": "new"}))
    snapshot = store.snapshot()
    assert snapshot.by_index(DEPLOYMENTS, Deployment, label_key("app", "old")) == ()
    assert len(snapshot.by_index(DEPLOYMENTS, Deployment, label_key("app", "new"))) == 1


def test_objects_of_an_index_key_are_sorted_by_name():
    pods = [a_pod(f"body-based-router-6c9f-{x}") for x in "cab"]
    found = a_store(*pods).snapshot().by_index(PODS, Pod, workload_key(*BBR))
    assert [p.metadata.name[-1] for p in found] == ["a", "b", "c"]


def test_deleting_an_object_keeps_the_others_of_its_index_key():
    store = a_store(*(a_pod(f"body-based-router-6c9f-{x}") for x in "abcd"))
    for deleted, left in (("b", "acd"), ("d", "ac"), ("a", "c"), ("c", "")):
        store.delete(PODS, "kaito-system", f"body-based-router-6c9f-{deleted}")
        found = store.snapshot().by_index(PODS, Pod, workload_key(*BBR))
        assert "".join(pod.metadata.name[-1] for pod in found) == left


def test_the_index_holds_the_newest_version():
    store = a_store(a_pod(), a_pod("body-based-router-6c9f-b"))
    store.upsert(PODS, a_pod(phase="Failed"))
    found = store.snapshot().by_index(PODS, Pod, workload_key(*BBR))
    assert {pod.status.phase for pod in found} == {"Failed", "Running"}


def test_a_list_replaces_all_objects():
    store = a_store(a_deployment(), a_deployment("old"))
    store.replace(DEPLOYMENTS, [a_deployment(), a_deployment("new")])
    names = {d.metadata.name for d in store.snapshot().all(DEPLOYMENTS)}
    assert names == {"body-based-router", "new"}
    assert ObjectRef("deployments.apps", "kaito-system", "old") in store.snapshot().deleted_uids


def test_an_undecodable_object_of_a_list_is_kept_and_marked():
    store = a_store(a_deployment())
    store.replace(DEPLOYMENTS, [], undecodable={BBR: None})
    assert deployment(store.snapshot()) is not None
    assert REF in store.snapshot().undecodable


def test_a_deleted_object_is_no_longer_marked_undecodable():
    store = a_store()
    store.mark_undecodable(DEPLOYMENTS, *BBR)
    store.take_dirty()
    store.replace(DEPLOYMENTS, [])
    assert (store.snapshot().undecodable, REF in store.snapshot().deleted_uids) == (
        {},
        True,
    )
    assert CLUSTER_SUBJECT in store.take_dirty()


@pytest.mark.parametrize(
    "change",
    [
        lambda store: store.upsert(DEPLOYMENTS, a_deployment()),
        lambda store: store.delete(DEPLOYMENTS, *BBR),
        lambda store: store.replace(DEPLOYMENTS, [a_deployment()]),
        lambda store: store.replace(DEPLOYMENTS, []),
    ],
    ids=["changed", "deleted", "listed", "not listed"],
)
@pytest.mark.parametrize(
    "before", [(), (a_deployment(),)], ids=["never decoded", "decoded before"]
)
def test_an_object_that_is_no_longer_undecodable_marks_what_it_made_unknown(before, change):
    store = a_store(*before)
    store.mark_undecodable(DEPLOYMENTS, *BBR)
    store.take_dirty()
    change(store)
    assert store.take_dirty() >= ALL_LAYERS


def test_an_object_that_stays_undecodable_marks_nothing_dirty_again():
    store = a_store(a_deployment())
    store.mark_undecodable(DEPLOYMENTS, *BBR)
    store.take_dirty()
    store.mark_undecodable(DEPLOYMENTS, *BBR)
    assert store.take_dirty() == frozenset()


def test_a_decodable_version_removes_the_mark():
    store = a_store(a_deployment())
    store.mark_undecodable(DEPLOYMENTS, *BBR)
    store.take_dirty()
    store.upsert(DEPLOYMENTS, a_deployment())
    assert store.snapshot().undecodable == {}
    assert CLUSTER_SUBJECT in store.take_dirty()


def test_the_uid_of_a_deleted_object_is_kept_until_it_is_created_again():
    store = a_store(a_deployment())
    store.delete(DEPLOYMENTS, *BBR)
    assert (deployment(store.snapshot()), store.snapshot().deleted_uids) == (
        None,
        {REF: "uid-body-based-router"},
    )
    store.upsert(DEPLOYMENTS, a_deployment())
    assert store.snapshot().deleted_uids == {}


def test_only_the_last_deleted_objects_of_each_kind_are_remembered(monkeypatch):
    monkeypatch.setattr(table, "MAX_DELETED", 3)
    routers = [f"router-{number}" for number in range(9)]
    store = a_store(*map(a_deployment, routers))
    store.upsert(NAMESPACES, a_namespace("chat"))
    store.delete(NAMESPACES, "", "chat")
    for name in routers:
        store.delete(DEPLOYMENTS, "kaito-system", name)
    assert [ref.name for ref in store.snapshot().deleted_uids] == ["chat", *routers[-3:]]


def test_a_snapshot_keeps_the_deleted_uids_of_its_moment():
    store = a_store(a_deployment(), a_deployment("old"))
    snapshots = [store.snapshot()]
    for change in (
        lambda: store.delete(DEPLOYMENTS, *BBR),
        lambda: store.delete(DEPLOYMENTS, "kaito-system", "old"),
        lambda: store.upsert(DEPLOYMENTS, a_deployment()),
    ):
        change()
        snapshots.append(store.snapshot())
    names = [[ref.name for ref in each.deleted_uids] for each in snapshots]
    assert names == [[], ["body-based-router"], ["body-based-router", "old"], ["old"]]


def test_deleted_uids_are_collected_again_only_after_a_deletion():
    store = a_store(a_deployment(), a_deployment("old"), a_pod())
    store.delete(DEPLOYMENTS, *BBR)
    before = store.snapshot().deleted_uids
    store.upsert(DEPLOYMENTS, a_deployment("old", replicas=0))
    store.delete(PODS, "kaito-system", a_pod().metadata.name)
    assert store.snapshot().deleted_uids is before


def test_to_compact_copies_what_is_remembered_of_deleted_objects():
    store = a_store(a_deployment(), a_deployment("kept"))
    store.delete(DEPLOYMENTS, *BBR)
    before = store.snapshot()
    store.compact()
    after = store.snapshot()
    assert after.deleted_uids == before.deleted_uids
    (old,), (new,) = before.deleted_uids, after.deleted_uids
    assert old.name is not new.name
    assert old.namespace is not new.namespace
    store.upsert(DEPLOYMENTS, a_deployment())
    assert store.snapshot().deleted_uids == {}


def test_to_compact_forgets_the_values_that_objects_share():
    time = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    equal = time.replace()
    assert shared_time(time) is shared_time(equal) is time
    a_store().compact()
    assert shared_time(equal) is equal


def test_deleted_pods_are_not_remembered():
    store = a_store(a_pod())
    store.delete(PODS, "kaito-system", a_pod().metadata.name)
    assert store.snapshot().deleted_uids == {}


def test_only_a_change_marks_subjects_dirty_and_notifies():
    store = a_store(a_deployment())
    calls = []
    store.changes.subscribe(lambda: calls.append(1))
    store.take_dirty()
    store.upsert(DEPLOYMENTS, a_deployment())
    store.delete(PODS, "kaito-system", "never-there")
    store.set_watch_state(PODS, Watching())
    assert (calls, store.take_dirty()) == ([], frozenset())
    store.upsert(DEPLOYMENTS, a_deployment(ready=1))
    assert (calls, store.take_dirty(), store.take_dirty()) == ([1], {CLUSTER_SUBJECT}, frozenset())


def test_a_pod_condition_that_no_probe_reads_is_no_change():
    store, kept = a_store(), [Condition(type="Ready", status="True")]
    for unread in ([], [Condition(type="ContainersReady", status="True")]):
        store.take_dirty()
        status = PodStatus(conditions=(*kept, *unread))
        store.upsert(PODS, structs.replace(a_pod(), status=status))
    assert store.take_dirty() == frozenset()
    store.upsert(PODS, structs.replace(a_pod(), status=PodStatus(conditions=())))
    assert store.take_dirty() == {CLUSTER_SUBJECT}


def test_a_kind_is_unknown_until_listed_and_from_30_seconds_after_its_watch_was_lost():
    store = Store(DEFAULT_KINDS, subjects=SUBJECTS)
    assert store.snapshot().why_unknown(PODS, now=NOON) == "pods not listed yet"
    store.set_watch_state(PODS, NotSynced("forbidden"))
    assert store.snapshot().why_unknown(PODS, now=NOON) == "pods not listed yet: forbidden"
    store.set_watch_state(PODS, WatchLost(NOON, "timeout"))
    assert store.snapshot().why_unknown(PODS, now=NOON + 29 * SECOND) == ""
    assert (
        store.snapshot().why_unknown(PODS, now=NOON + 30 * SECOND) == "pods not watched: timeout"
    )
    assert [*store.snapshot().unknown_moments()] == [NOON + 30 * SECOND]
    store.set_watch_state(PODS, Watching())
    assert store.snapshot().why_unknown(PODS, now=NOON + timedelta(hours=1)) == ""
    assert not [*store.snapshot().unknown_moments()]


def test_discovery_sets_presence_and_unconfirmed_losses():
    store = a_store(crds=(CRD,))
    assert store.snapshot().presence(CRD).versions is None
    store.record_discovery(DiscoveryResult({CRD: ("v1beta1",)}), now=NOON)
    assert store.snapshot().presence(CRD).is_known
    assert not store.has_unconfirmed_loss
    store.record_discovery(DiscoveryResult({}), now=NOON + 30 * SECOND)
    assert store.has_unconfirmed_loss
    store.record_discovery(None, "timeout", now=NOON + 41 * SECOND)
    assert store.snapshot().presence(CRD).why_unknown == "timeout"


def test_an_unchanged_discovery_marks_nothing_dirty():
    store = a_store(crds=(CRD,))
    store.record_discovery(DiscoveryResult({CRD: ("v1",)}), now=NOON)
    store.take_dirty()
    store.record_discovery(DiscoveryResult({CRD: ("v1",)}), now=NOON + 30 * SECOND)
    assert store.take_dirty() == frozenset()


def test_core_kinds_are_always_served_and_others_if_discovery_lists_them():
    assert a_store(crds=(CRD,)).served_version(NAMESPACES) == "v1"
    assert a_store(crds=(CRD,)).served_version(INFERENCE_SETS) is None
    for versions, expected in (
        (("v1beta1", "v1alpha1"), "v1beta1"),
        (("v1alpha1", "v1beta1"), "v1beta1"),
        (("v2", "v1alpha1"), "v1alpha1"),
        (("v2",), None),
    ):
        store = a_store(crds=(CRD,))
        store.record_discovery(DiscoveryResult({CRD: versions}), now=NOON)
        assert store.served_version(INFERENCE_SETS) == expected


def test_namespaced_and_cluster_scoped_objects_are_kept_apart():
    store = a_store(a_namespace("kaito-system"), a_deployment())
    assert len(list(store.snapshot().all(NAMESPACES))) == 1


def test_an_object_that_changes_its_owner_marks_both_subjects_dirty():
    store = a_store(a_deployment("router", "team-a", labels={"kaito.sh/inferenceset": "qwen"}))
    store.take_dirty()
    store.upsert(DEPLOYMENTS, a_deployment("router", "team-a"))
    assert store.take_dirty() == {
        CLUSTER_SUBJECT,
        Subject(Layer.MODELHARNESS),
        Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen"),
    }
