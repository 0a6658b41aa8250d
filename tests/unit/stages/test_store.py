"""
What edges write is what passes read, at one moment.
"""

from datetime import timedelta

from msgspec import structs

from reporter.model.kinds import DEPLOYMENTS, INFERENCE_SETS, KINDS, NAMESPACES, PODS
from reporter.model.objects import Condition, Deployment, Pod, PodStatus
from reporter.model.observations import Discovery, Unlisted, Unserved, Unwatched, Watched
from reporter.model.subjects import CLUSTER, Subject
from reporter.model.verdicts import ObjectRef
from reporter.model.words import Layer
from reporter.stages import kept
from reporter.stages.indexes import by_label, by_name, by_workload
from reporter.stages.store import Store
from tests.builders import NOON, SECOND, a_deployment, a_namespace, a_pod, a_store


BBR = ("kaito-system", "body-based-router")
REF = ObjectRef("deployments.apps", *BBR)
CRD = "inferencesets.kaito.sh"


def deployment(snapshot):
    return snapshot.get(DEPLOYMENTS, Deployment, *BBR)


def test_a_view_does_not_change_any_more():
    store = a_store(a_deployment())
    before = store.view()
    store.put(DEPLOYMENTS, a_deployment(replicas=0))
    store.drop(DEPLOYMENTS, "other", "other")
    assert deployment(before).desired == 2
    assert deployment(store.view()).desired == 0


def test_objects_are_found_by_workload_name_and_label():
    labels = {"app": "istiod", "team": "mesh"}
    store = a_store(a_deployment(), a_deployment("istiod", "istio", labels=labels), a_pod())
    view = store.view()
    assert view.find(PODS, Pod, by_workload(*BBR)) == (a_pod(),)
    assert len(view.find(DEPLOYMENTS, Deployment, by_name("istiod"))) == 1
    assert len(view.find(DEPLOYMENTS, Deployment, by_label("app", "istiod"))) == 1
    assert view.find(DEPLOYMENTS, Deployment, by_label("team", "mesh")) == ()


def test_an_object_that_changes_its_labels_is_found_by_the_new_ones_only():
    store = a_store(a_deployment(labels={"app": "old"}))
    store.put(DEPLOYMENTS, a_deployment(labels={"app": "new"}))
    view = store.view()
    assert view.find(DEPLOYMENTS, Deployment, by_label("app", "old")) == ()
    assert len(view.find(DEPLOYMENTS, Deployment, by_label("app", "new"))) == 1


def test_what_is_found_is_in_the_order_of_names():
    pods = [a_pod(f"body-based-router-6c9f-{x}") for x in "cab"]
    found = a_store(*pods).view().find(PODS, Pod, by_workload(*BBR))
    assert [p.metadata.name[-1] for p in found] == ["a", "b", "c"]


def test_what_is_dropped_is_found_no_more_and_its_neighbours_are():
    store = a_store(*(a_pod(f"body-based-router-6c9f-{x}") for x in "abcd"))
    for gone, left in (("b", "acd"), ("d", "ac"), ("a", "c"), ("c", "")):
        store.drop(PODS, "kaito-system", f"body-based-router-6c9f-{gone}")
        found = store.view().find(PODS, Pod, by_workload(*BBR))
        assert "".join(pod.metadata.name[-1] for pod in found) == left


def test_a_changed_object_is_found_as_it_is_now():
    store = a_store(a_pod(), a_pod("body-based-router-6c9f-b"))
    store.put(PODS, a_pod(phase="Failed"))
    found = store.view().find(PODS, Pod, by_workload(*BBR))
    assert {pod.status.phase for pod in found} == {"Failed", "Running"}


def test_a_list_replaces_all_that_was_there():
    store = a_store(a_deployment(), a_deployment("old"))
    store.replace(DEPLOYMENTS, [a_deployment(), a_deployment("new")])
    names = {d.metadata.name for d in store.view().all(DEPLOYMENTS)}
    assert names == {"body-based-router", "new"}
    assert ObjectRef("deployments.apps", "kaito-system", "old") in store.view().gone


def test_what_a_list_has_but_could_not_be_read_is_kept_and_marked():
    store = a_store(a_deployment())
    store.replace(DEPLOYMENTS, [], unread=[BBR])
    assert deployment(store.view()) is not None
    assert REF in store.view().spoilt


def test_what_could_never_be_read_is_no_longer_marked_once_it_is_gone():
    store = a_store()
    store.spoil(DEPLOYMENTS, *BBR)
    store.take_dirty()
    store.replace(DEPLOYMENTS, [])
    assert (store.view().spoilt, REF in store.view().gone) == (frozenset(), True)
    assert CLUSTER in store.take_dirty()


def test_what_stays_unreadable_touches_nothing_again():
    store = a_store(a_deployment())
    store.spoil(DEPLOYMENTS, *BBR)
    store.take_dirty()
    store.spoil(DEPLOYMENTS, *BBR)
    assert store.take_dirty() == frozenset()


def test_a_version_that_can_be_read_again_heals_the_object():
    store = a_store(a_deployment())
    store.spoil(DEPLOYMENTS, *BBR)
    store.take_dirty()
    store.put(DEPLOYMENTS, a_deployment())
    assert store.view().spoilt == frozenset()
    assert CLUSTER in store.take_dirty()


def test_what_is_gone_is_remembered_with_its_uid_until_it_is_back():
    store = a_store(a_deployment())
    store.drop(DEPLOYMENTS, *BBR)
    assert (deployment(store.view()), store.view().gone) == (None, {REF: "uid-body-based-router"})
    store.put(DEPLOYMENTS, a_deployment())
    assert store.view().gone == {}


def test_of_each_kind_only_the_last_that_went_are_remembered(monkeypatch):
    monkeypatch.setattr(kept, "REMEMBERED", 3)
    routers = [f"router-{number}" for number in range(9)]
    store = a_store(*map(a_deployment, routers))
    store.put(NAMESPACES, a_namespace("chat"))
    store.drop(NAMESPACES, "", "chat")
    for name in routers:
        store.drop(DEPLOYMENTS, "kaito-system", name)
    assert [ref.name for ref in store.view().gone] == ["chat", *routers[-3:]]


def test_a_view_keeps_what_was_gone_when_it_was_taken():
    store = a_store(a_deployment(), a_deployment("old"))
    views = [store.view()]
    for change in (
        lambda: store.drop(DEPLOYMENTS, *BBR),
        lambda: store.drop(DEPLOYMENTS, "kaito-system", "old"),
        lambda: store.put(DEPLOYMENTS, a_deployment()),
    ):
        change()
        views.append(store.view())
    names = [[ref.name for ref in view.gone] for view in views]
    assert names == [[], ["body-based-router"], ["body-based-router", "old"], ["old"]]


def test_what_is_gone_is_put_together_anew_only_after_a_change():
    store = a_store(a_deployment(), a_deployment("old"), a_pod())
    store.drop(DEPLOYMENTS, *BBR)
    before = store.view().gone
    store.put(DEPLOYMENTS, a_deployment("old", replicas=0))
    store.drop(PODS, "kaito-system", a_pod().metadata.name)
    assert store.view().gone is before


def test_what_no_probe_asks_for_by_name_is_not_remembered():
    store = a_store(a_pod())
    store.drop(PODS, "kaito-system", a_pod().metadata.name)
    assert store.view().gone == {}


def test_only_a_change_of_what_is_read_calls_for_a_pass():
    store = a_store(a_deployment())
    calls = []
    store.notify(lambda: calls.append(1))
    store.take_dirty()
    store.put(DEPLOYMENTS, a_deployment())
    store.drop(PODS, "kaito-system", "never-there")
    store.sight(PODS, Watched())
    assert (calls, store.take_dirty()) == ([], frozenset())
    store.put(DEPLOYMENTS, a_deployment(ready=1))
    assert (calls, store.take_dirty(), store.take_dirty()) == ([1], {CLUSTER}, frozenset())


def test_a_condition_of_a_pod_that_nobody_reads_is_no_change():
    store, told = a_store(), [Condition(type="Ready", status="True")]
    for unread in ([], [Condition(type="ContainersReady", status="True")]):
        store.take_dirty()
        status = PodStatus(conditions=(*told, *unread))
        store.put(PODS, structs.replace(a_pod(), status=status))
    assert store.take_dirty() == frozenset()
    store.put(PODS, structs.replace(a_pod(), status=PodStatus(conditions=())))
    assert store.take_dirty() == {CLUSTER}


def test_a_kind_is_blind_until_listed_and_again_half_a_minute_after_its_watch_is_lost():
    store = Store(KINDS)
    assert store.view().blind(PODS, now=NOON) == "pods not listed yet"
    store.sight(PODS, Unlisted("forbidden"))
    assert store.view().blind(PODS, now=NOON) == "pods not listed yet: forbidden"
    store.sight(PODS, Unwatched(NOON, "timeout"))
    assert store.view().blind(PODS, now=NOON + 29 * SECOND) == ""
    assert store.view().blind(PODS, now=NOON + 30 * SECOND) == "pods not watched: timeout"
    assert store.view().blind_from(PODS) == NOON + 30 * SECOND
    for seen in (Watched(), Unserved()):
        store.sight(PODS, seen)
        assert store.view().blind(PODS, now=NOON + timedelta(hours=1)) == ""
        assert store.view().blind_from(PODS) is None


def test_discovery_tells_what_is_served_and_what_is_doubted():
    store = a_store(crds=(CRD,))
    assert store.view().presence(CRD).versions is None
    store.discovered(Discovery({CRD: ("v1beta1",)}), now=NOON)
    assert store.view().presence(CRD).known
    assert not store.doubting
    store.discovered(Discovery({}), now=NOON + 30 * SECOND)
    assert store.doubting
    store.discovered(None, "timeout", now=NOON + 41 * SECOND)
    assert store.view().presence(CRD).blind == "timeout"


def test_the_same_answer_of_discovery_calls_for_no_pass():
    store = a_store(crds=(CRD,))
    store.discovered(Discovery({CRD: ("v1",)}), now=NOON)
    store.take_dirty()
    store.discovered(Discovery({CRD: ("v1",)}), now=NOON + 30 * SECOND)
    assert store.take_dirty() == frozenset()


def test_core_kinds_are_served_and_others_as_discovery_says():
    assert a_store(crds=(CRD,)).served(NAMESPACES) == "v1"
    assert a_store(crds=(CRD,)).served(INFERENCE_SETS) is None
    for versions, read in (
        (("v1beta1", "v1alpha1"), "v1beta1"),
        (("v1alpha1", "v1beta1"), "v1beta1"),
        (("v2", "v1alpha1"), "v1alpha1"),
        (("v2",), None),
    ):
        store = a_store(crds=(CRD,))
        store.discovered(Discovery({CRD: versions}), now=NOON)
        assert store.served(INFERENCE_SETS) == read


def test_the_order_of_namespaced_and_cluster_scoped_names_is_kept_apart():
    store = a_store(a_namespace("kaito-system"), a_deployment())
    assert len(list(store.view().all(NAMESPACES))) == 1


def test_an_object_that_changes_hands_touches_both_its_old_and_its_new_subject():
    store = a_store(a_deployment("router", "team-a", labels={"kaito.sh/inferenceset": "qwen"}))
    store.take_dirty()
    store.put(DEPLOYMENTS, a_deployment("router", "team-a"))
    assert store.take_dirty() == {CLUSTER, Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")}
