"""The objects of a dump by kind, and what it says nothing about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from reporter.kinds.batch import CHECK_LABEL, JOBS
from reporter.kinds.core import NAMESPACES, PODS, Pod
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kube.dump import Dump, collect, uncovered
from reporter.kube.dump_documents import DumpDocument, UnreadableFile


NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def a_pod(name: str = "qwen-0", namespace: str = "team-a", version: str = "7", **fields) -> dict:
    meta = {"name": name, "namespace": namespace, "resourceVersion": version}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, **fields}


def a_crd(name: str, *versions: str) -> dict:
    served = [{"name": each, "served": True} for each in versions]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {"versions": [*served, {"name": "v0", "served": False}]},
    }


def a_dump(*contents: object) -> Dump:
    return collect([DumpDocument("dump.yaml", each) for each in contents], now=NOW)


def pod_names(dump: Dump) -> list[str]:
    return sorted(each.metadata.name for each in dump.decode(PODS).objects)


def test_a_list_of_several_kinds():
    dump = a_dump({"apiVersion": "v1", "kind": "List", "items": [a_pod("a"), a_pod("b")]})
    assert pod_names(dump) == ["a", "b"]
    assert dump.namespaces == {"team-a"}


def test_the_items_of_a_typed_list_need_no_kind_of_their_own():
    bare = {"metadata": {"name": "a", "namespace": "team-a"}}
    dump = a_dump({"apiVersion": "v1", "kind": "PodList", "items": [bare]})
    assert pod_names(dump) == ["a"]


def test_an_empty_typed_list_shows_that_there_is_none():
    assert a_dump({"apiVersion": "v1", "kind": "PodList", "items": None}).has(PODS)
    assert a_dump({"apiVersion": "v1", "kind": "PodList", "items": []}).why_absent(PODS) == ""


def test_a_kind_that_is_not_in_the_dump_is_not_known():
    assert a_dump(a_pod()).why_absent(INFERENCE_SETS) == "it is not in the dump"


def test_of_two_copies_the_newer_one_counts_in_any_order():
    old, new = (
        a_pod(version="9", spec={"nodeName": "old"}),
        a_pod(version="10", spec={"nodeName": "new"}),
    )
    for order in ([old, new], [new, old]):
        (pod,) = a_dump(*order).decode(PODS).objects
        assert isinstance(pod, Pod)
        assert pod.spec.node_name == "new"


def test_an_object_that_cannot_be_decoded_hides_no_other():
    result = a_dump(a_pod("good"), a_pod("bad", status="none")).decode(PODS)
    assert [each.metadata.name for each in result.objects] == ["good"]
    assert [each.name for each in result.undecodable] == [("team-a", "bad")]


def test_an_object_that_is_nested_too_deep_hides_no_other():
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    result = a_dump(a_pod("good"), a_pod("bad", spec=deep)).decode(PODS)
    assert [each.metadata.name for each in result.objects] == ["good"]
    assert [each.name for each in result.undecodable] == [("team-a", "bad")]


def test_a_kind_in_a_version_of_the_future_is_not_known():
    future = {"apiVersion": "kaito.sh/v9", "kind": "InferenceSet", "metadata": {"name": "qwen"}}
    assert a_dump(future).why_absent(INFERENCE_SETS).startswith("dumped as v9, this release reads")


def test_crds_tell_what_is_not_installed():
    dump = a_dump(a_crd("workspaces.kaito.sh", "v1beta1"))
    assert dump.is_uninstalled(INFERENCE_SETS)
    assert not dump.is_uninstalled(PODS)
    assert not a_dump(a_pod()).is_uninstalled(INFERENCE_SETS)
    assert dump.served_versions() == {"workspaces.kaito.sh": ("v1beta1",)}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"scope": "Namespaced"}, True),
        ({"scope": "Cluster"}, False),
        ({"scope": 1}, None),
        ([], None),
    ],
)
def test_crds_tell_which_resources_have_namespaces(spec: object, expected: bool | None):
    crd = {**a_crd("workspaces.kaito.sh", "v1beta1"), "spec": spec}
    assert a_dump(crd).scopes().get("workspaces.kaito.sh") is expected


def test_the_newest_time_is_the_time_of_the_dump_but_none_of_the_future():
    older, newest = NOW - timedelta(hours=2), NOW - timedelta(hours=1)
    future = NOW + timedelta(days=365)
    conditions = [{"at": each.isoformat()} for each in (older, newest, future)]
    conditions += [{"at": "2026-11-22T99:00:00Z"}, {"at": "2026-11-22T10:00:00 "}]
    conditions += [{"at": "0001-01-01T00:00:00+14:00"}]
    assert a_dump(a_pod(status={"conditions": conditions})).newest == newest
    assert a_dump(a_pod()).newest is None


def test_namespaces_that_exist_and_of_which_nothing_was_dumped():
    def namespace(name: str) -> dict:
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}

    dump = a_dump(a_pod(), namespace("team-a"), namespace("keda"))
    assert uncovered(dump, ["team-a", "keda", "kaito-system"]) == {"keda"}
    assert uncovered(a_dump(a_pod()), ["team-a", "keda"]) == {"keda"}
    assert dump.has(NAMESPACES)


def test_what_is_no_object_is_ignored_and_what_could_not_be_read_is_kept():
    no_objects: list[object] = [None, [], "text", {}, {"kind": "Pod"}]
    dump = collect(
        [
            *[DumpDocument("a", each) for each in no_objects],
            DumpDocument("a", {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "x"}}),
            DumpDocument("a", {"apiVersion": "v1", "kind": "PodList", "items": [None, "text", 3]}),
            UnreadableFile("b", "it is not UTF-8"),
        ],
        now=NOW,
    )
    assert dump.size == 0
    assert [each.source for each in dump.problems] == ["b"]


def a_job(name: str, **labels: str) -> dict:
    meta = {"name": name, "namespace": "team-a", "labels": labels}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta}


def test_only_what_the_watch_of_a_kind_selects_is_read():
    dump = a_dump(a_job("other"), a_job("check", **{CHECK_LABEL: "gpu"}))
    assert [each.metadata.name for each in dump.decode(JOBS).objects] == ["check"]
    limits = {"namespace": "team-a", "label_selector": "", "field_selector": "metadata.name!=b"}
    kind = replace(PODS, **limits)
    dump = a_dump(a_pod("a"), a_pod("b"), a_pod("c", namespace="team-b"))
    assert [each.metadata.name for each in dump.decode(kind).objects] == ["a"]
