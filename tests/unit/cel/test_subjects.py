"""The objects that belong to a subject: by namespace, label and owner, and all for the cluster."""

import pytest

from reporter.cel.verdict import MAX_TROUBLES
from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Active, Clear, ObjectRef
from tests.support.own_reasons import TEAM, a_reason, an_own_store, ready


REF = ObjectRef("inferenceservices.serving.kserve.io", TEAM, "chat")
CLUSTER_REASON = a_reason(
    reason="clusterServiceNotReady",
    layer="cluster",
    rank=95,
    message="{object} {state} ({count}).",
)
MODEL_REASON = a_reason(
    reason="inferencesetServiceNotReady",
    layer="modeldeployment",
    message="{namespace}/{inferenceset} {object}.",
)


KAITO_OWNER = {"apiVersion": "kaito.sh/v1beta1", "kind": "InferenceSet", "name": "qwen"}


def trouble(verdict):
    assert isinstance(verdict, Active), verdict
    (found,) = verdict.troubles
    return found


def test_a_namespace_sees_its_own_objects_alone():
    store = an_own_store()
    store.put(status=ready("False"), metadata={"namespace": "team-b"})
    assert isinstance(store.verdict(), Clear)
    assert isinstance(store.verdict(Subject(Layer.MODELHARNESS, "team-b")), Active)


@pytest.mark.parametrize(
    ("subject", "metadata"),
    [
        ({}, {"labels": {"inferenceset.kaito.sh/created-by": "qwen"}}),
        ({"label": "model"}, {"labels": {"model": "qwen"}}),
        (
            {"owner": "InferenceSet"},
            {"ownerReferences": [KAITO_OWNER]},
        ),
        (
            {"owner": "InferenceSet"},
            {
                "ownerReferences": [
                    {**KAITO_OWNER, "apiVersion": "example.com/v1", "name": "other"},
                    KAITO_OWNER,
                ]
            },
        ),
        (
            {"owner": "StatefulSet", "group": "apps"},
            {
                "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "qwen"}
                ]
            },
        ),
        (
            {"owner": "Node", "group": ""},
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "qwen"}]},
        ),
    ],
)
def test_a_model_is_found_by_label_or_owner(subject, metadata):
    reason = MODEL_REASON | {"parameters": MODEL_REASON["parameters"] | {"subject": subject}}
    store = an_own_store(reason)
    store.put(status=ready("False"), metadata=metadata)
    store.put(status=ready("False"), metadata={"name": "other"})
    store.store.take_dirty()
    store.put(status=ready("True"), metadata=metadata)
    store.put(status=ready("False"), metadata=metadata)
    model = Subject(Layer.MODELDEPLOYMENT, TEAM, "qwen")
    assert store.store.take_dirty() == {model} or not subject
    assert trouble(store.verdict(model, reason["reason"])).cause.object == REF


@pytest.mark.parametrize("api_version", ["example.com/v1", "kaito.sh", "v1", "", 1, None])
def test_an_owner_of_another_api_group_names_no_subject(api_version):
    reason = _of_owner("InferenceSet")
    store = an_own_store(reason)
    owner = {**KAITO_OWNER, "apiVersion": api_version}
    store.put(status=ready("False"), metadata={"ownerReferences": [owner]})
    model = Subject(Layer.MODELDEPLOYMENT, TEAM, "qwen")
    assert isinstance(store.verdict(model, reason["reason"]), Clear)


@pytest.mark.parametrize("name", [1, None, True, ["qwen"], {"qwen": 1}], ids=repr)
def test_an_owner_whose_name_is_no_text_names_no_subject(name):
    store = an_own_store(_of_owner("InferenceSet"))
    store.store.take_dirty()
    store.put(status=ready("False"), metadata={"ownerReferences": [{**KAITO_OWNER, "name": name}]})
    assert store.store.take_dirty() == frozenset()


def test_owners_of_one_kind_in_two_groups_are_those_of_two_reasons():
    reasons = [
        {**_of_owner("Model", group), "reason": f"inferenceset{name}Missing", "rank": 80 + i}
        for i, (name, group) in enumerate((("First", "first.io"), ("Second", "second.io")))
    ]
    store = an_own_store(*reasons)
    for group in ("first.io", "second.io"):
        owner = {"apiVersion": f"{group}/v1", "kind": "Model", "name": "qwen"}
        meta = {"name": group, "ownerReferences": [owner]}
        store.put(status=ready("False"), metadata=meta)
    model = Subject(Layer.MODELDEPLOYMENT, TEAM, "qwen")
    found = [trouble(store.verdict(model, each["reason"])) for each in reasons]
    assert [each.cause.object.name for each in found] == ["first.io", "second.io"]


def test_owners_of_which_an_expression_reads_all_are_compared_as_well():
    reason = _of_owner("InferenceSet")
    reason["parameters"]["text"] = "string(object.metadata.ownerReferences.size())"
    store = an_own_store(reason)
    for name, version in (("chat", "kaito.sh/v1"), ("other", "example.com/v1")):
        owner = {**KAITO_OWNER, "apiVersion": version}
        store.put(status=ready("False"), metadata={"name": name, "ownerReferences": [owner]})
    model = Subject(Layer.MODELDEPLOYMENT, TEAM, "qwen")
    assert trouble(store.verdict(model, reason["reason"])).cause.object == REF


def _of_owner(kind, group=None):
    subject = {"owner": kind} | ({} if group is None else {"group": group})
    return {**MODEL_REASON, "parameters": {**MODEL_REASON["parameters"], "subject": subject}}


def test_the_cluster_is_about_all_objects_of_a_kind_and_counts_them():
    store = an_own_store(CLUSTER_REASON)
    for number in range(MAX_TROUBLES + 50):
        store.put(status=ready("False"), metadata={"name": f"s{number:03}"})
    store.put(status=ready("True"))
    verdict = store.verdict(CLUSTER_SUBJECT, CLUSTER_REASON["reason"])
    assert len(verdict.troubles) == MAX_TROUBLES
    assert verdict.troubles[0].message_fields["count"] == "150 of 151"
    assert verdict.involved_object.name == TEAM


def test_results_that_are_kept_for_the_cluster_follow_every_change():
    store = an_own_store(CLUSTER_REASON)
    seen = []
    for status in ("False", "True", "False"):
        store.put(status=ready(status))
        store.put(status=ready("True"), metadata={"name": "other"})
        verdicts = [store.verdict(CLUSTER_SUBJECT, CLUSTER_REASON["reason"]) for _ in range(2)]
        assert verdicts[0] == verdicts[1]
        seen += [verdicts[0].troubles[0].kind if isinstance(verdicts[0], Active) else None]
    assert seen == [TroubleKind.STARTING, None, TroubleKind.LOST]


def test_an_object_without_namespace_is_announced_where_the_release_is():
    quota = {"kind": "Quota", "group": "example.com", "resource": "quotas", "namespaced": False}
    reason = CLUSTER_REASON | {"parameters": {"kind": "Quota", "current": "object.spec.ok"}}
    store = an_own_store(reason, kinds=[quota])
    store.put("Quota", spec={"ok": False}, metadata={"namespace": ""})
    verdict = store.verdict(CLUSTER_SUBJECT, reason["reason"], **{"release-namespace": "stack"})
    assert verdict.involved_object.name == "stack"
    assert trouble(verdict).message_fields["object"] == "Quota chat"
