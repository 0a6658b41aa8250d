"""The location of a component's Deployment."""

from reporter.kinds.apps import DEPLOYMENTS
from reporter.resources.components import (
    ComponentSpec,
    locate_component,
    locate_revisions,
)
from tests.support.builders import NOON, a_deployment, a_store


KAITO = ComponentSpec(
    namespace_flag="kaito-namespace",
    name_flag="kaito-deployment",
    labels={"app.kubernetes.io/name": "workspace"},
)
KEDA = ComponentSpec(
    namespace_flag="keda-namespace",
    name="keda-operator-metrics-apiserver",
    also_named=("keda-metrics-apiserver",),
    labels={"app": "keda-operator-metrics-apiserver"},
)
ISTIO = ComponentSpec(
    namespace_flag="istio-namespace", name_flag="istiod-deployment", labels={"app": "istiod"}
)
FLAGS = {
    "kaito-namespace": "kaito-workspace",
    "kaito-deployment": "kaito-workspace",
    "keda-namespace": "keda",
    "istio-namespace": "istio-system",
    "istiod-deployment": "istiod",
    "gateway-auth-deployment": "",
}


def view(*deployments, deleted=()):
    store = a_store(*deployments, *deleted)
    for each in deleted:
        store.delete(DEPLOYMENTS, each.metadata.namespace, each.metadata.name)
    return store.snapshot()


def names(located):
    return [f"{d.metadata.namespace}/{d.metadata.name}" for d in located.deployments]


def istiod(name, namespace="istio-system", **changes):
    return a_deployment(name, namespace, labels={"app": "istiod"}, **changes)


def test_a_component_is_where_it_is_configured():
    other = a_deployment("kaito-workspace", "kaito-system")
    there = a_deployment("kaito-workspace", "kaito-workspace")
    found = locate_component(view(other, there), KAITO, FLAGS)
    assert (names(found), found.note) == (["kaito-workspace/kaito-workspace"], "")


def test_one_of_the_same_name_elsewhere_is_evaluated_and_the_flag_is_reported():
    found = locate_component(view(a_deployment("kaito-workspace", "kaito-system")), KAITO, FLAGS)
    assert names(found) == ["kaito-system/kaito-workspace"]
    assert found.note == (
        "Deployment kaito-workspace/kaito-workspace does not exist,"
        " kaito-system/kaito-workspace is judged instead; set --kaito-namespace=kaito-system"
    )


def test_one_of_the_same_labels_elsewhere_is_evaluated_and_both_flags_are_reported():
    labels = {"app.kubernetes.io/name": "workspace"}
    found = locate_component(
        view(a_deployment("kaito", "kube-system", labels=labels)), KAITO, FLAGS
    )
    assert names(found) == ["kube-system/kaito"]
    assert found.note.endswith("set --kaito-namespace=kube-system --kaito-deployment=kaito")


def test_the_same_name_counts_more_than_the_same_labels():
    labelled = a_deployment("a", "a", labels={"app.kubernetes.io/name": "workspace"})
    named = a_deployment("kaito-workspace", "kaito-system")
    assert names(locate_component(view(labelled, named), KAITO, FLAGS)) == [
        "kaito-system/kaito-workspace"
    ]


def test_a_wrong_name_is_not_found_with_a_hint_at_what_looks_like_it():
    labels = {"app.kubernetes.io/name": "workspace"}
    there = a_deployment("kaito-workspace", "kaito-workspace", labels=labels)
    elsewhere = a_deployment("kaito-workspace", "other", labels=labels)
    flags = {**FLAGS, "kaito-deployment": "kaito-wrokspace"}
    found = locate_component(view(there, elsewhere), KAITO, flags)
    assert (found.deployments, found.was_deleted) == ((), False)
    assert found.hint == (
        ", but kaito-workspace/kaito-workspace looks like it:"
        " set --kaito-deployment=kaito-workspace"
    )


def test_a_component_that_is_being_deleted_is_not_evaluated_instead():
    leaving = a_deployment("kaito-workspace", "kaito-system", deleted=NOON)
    assert locate_component(view(leaving), KAITO, FLAGS).deployments == ()


def test_a_component_may_have_another_name_that_charts_give_it():
    there = a_deployment("keda-metrics-apiserver", "keda")
    found = locate_component(view(there), KEDA, FLAGS)
    assert (names(found), found.note) == (["keda/keda-metrics-apiserver"], "")


def test_an_empty_name_switches_a_component_off():
    assert locate_component(view(), KAITO, {**FLAGS, "kaito-deployment": ""}) is None


def test_so_does_an_empty_namespace():
    there = a_deployment("keda-operator-metrics-apiserver", "keda")
    assert locate_component(view(there), KEDA, {**FLAGS, "keda-namespace": ""}) is None
    assert locate_revisions(view(), ISTIO, {**FLAGS, "istio-namespace": ""}) is None


def test_so_does_an_empty_flag_that_it_hangs_on():
    hanging = ComponentSpec(
        namespace_flag="keda-namespace",
        name="apikey-operator",
        with_flag="gateway-auth-deployment",
    )
    assert locate_component(view(), hanging, FLAGS) is None
    assert locate_component(view(), hanging, {**FLAGS, "gateway-auth-deployment": "x"}) is not None


def test_a_component_that_was_deleted_is_reported_as_deleted():
    deployment = a_deployment("kaito-workspace", "kaito-workspace")
    found = locate_component(view(deleted=[deployment]), KAITO, FLAGS)
    assert (found.deployments, found.was_deleted) == ((), True)


def test_a_component_that_was_evaluated_elsewhere_and_is_deleted_there_is_reported_as_deleted():
    found = locate_component(
        view(deleted=[a_deployment("kaito-workspace", "kaito-system")]), KAITO, FLAGS
    )
    assert (found.namespace, found.was_deleted) == ("kaito-system", True)


def test_a_component_that_was_deleted_under_its_other_name_is_reported_by_that():
    found = locate_component(
        view(deleted=[a_deployment("keda-metrics-apiserver", "keda")]), KEDA, FLAGS
    )
    assert (found.name, found.was_deleted) == ("keda-metrics-apiserver", True)


def test_every_revision_of_istiod_counts():
    snapshot = view(istiod("istiod-1-20"), istiod("istiod-1-21"), istiod("istiod-asm-1-27"))
    found = locate_revisions(snapshot, ISTIO, FLAGS)
    assert names(found) == [
        "istio-system/istiod-1-20",
        "istio-system/istiod-1-21",
        "istio-system/istiod-asm-1-27",
    ]
    assert (found.note, found.hint) == ("", "")


def test_revisions_where_they_are_configured_count_more_than_those_elsewhere():
    snapshot = view(istiod("istiod-1-20"), istiod("istiod", "aks-istio-system"))
    assert names(locate_revisions(snapshot, ISTIO, FLAGS)) == ["istio-system/istiod-1-20"]


def test_revisions_elsewhere_are_evaluated_and_the_flag_is_reported():
    snapshot = view(
        istiod("istiod-asm-1-27", "aks-istio-system"),
        istiod("istiod-asm-1-28", "aks-istio-system"),
    )
    found = locate_revisions(snapshot, ISTIO, FLAGS)
    assert names(found) == ["aks-istio-system/istiod-asm-1-27", "aks-istio-system/istiod-asm-1-28"]
    assert "--istio-namespace=aks-istio-system" in found.note


def test_a_revision_that_is_configured_may_be_followed_by_another():
    flags = {**FLAGS, "istiod-deployment": "istiod-1-20"}
    assert names(locate_revisions(view(istiod("istiod-1-21")), ISTIO, flags)) == [
        "istio-system/istiod-1-21"
    ]


def test_a_revision_left_behind_at_zero_or_being_deleted_is_not_in_use():
    snapshot = view(
        istiod("istiod-1-19", deleted=NOON),
        istiod("istiod-1-20", replicas=0),
        istiod("istiod-1-21"),
    )
    assert names(locate_revisions(snapshot, ISTIO, FLAGS)) == ["istio-system/istiod-1-21"]


def test_all_revisions_at_zero_are_all_there_is():
    snapshot = view(istiod("istiod-1-20", replicas=0), istiod("istiod-1-21", replicas=0))
    assert len(locate_revisions(snapshot, ISTIO, FLAGS).deployments) == 2


def test_the_last_revision_that_was_deleted_is_reported_as_deleted():
    found = locate_revisions(view(deleted=[istiod("istiod-1-20")]), ISTIO, FLAGS)
    assert (found.deployments, found.name, found.was_deleted) == ((), "istiod-1-20", True)


def test_a_wrong_name_is_no_revision_and_gets_its_hint():
    flags = {**FLAGS, "istiod-deployment": "istoid"}
    found = locate_revisions(view(istiod("istiod")), ISTIO, flags)
    assert found.deployments == ()
    assert found.hint == ", but istio-system/istiod looks like it: set --istiod-deployment=istiod"


def test_a_name_that_only_begins_alike_is_no_revision():
    snapshot = view(istiod("istiodor"), istiod("istiod"))
    assert names(locate_revisions(snapshot, ISTIO, FLAGS)) == ["istio-system/istiod"]
