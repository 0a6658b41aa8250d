"""
Objects of which there is too much: no more than their names are kept, and only they are Unknown.
"""

import json

import pytest

from reporter.cel.evaluation import (
    FRESH_WEIGHT,
    MAX_EVALUATIONS,
    describe_excess,
)
from reporter.cel.limits import MAX_CONTENT_BYTES
from reporter.kinds.objects import ApiObject
from reporter.kube.error_mapping import RequestInfo
from reporter.kube.watch_events import Upsert, decode_items, decode_watch_event
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Unknown
from tests.support.own_reasons import TEAM, OwnStore, a_reason, an_own_store, ready


OTHER = {"kind": "Other", "group": "example.com", "resource": "others"}
LARGE = "x" * MAX_CONTENT_BYTES
MOST = MAX_EVALUATIONS // FRESH_WEIGHT
REQUEST = RequestInfo("watch inferenceservices", path="/apis/serving.kserve.io/v1beta1")


def an_object(name: str, message: str) -> dict:
    meta = {"name": name, "namespace": TEAM, "labels": {"team": "a"}, "generation": 3}
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]
    return {"metadata": {**meta, "ownerReferences": owners}, "status": ready(message)}


def nested(levels: int) -> bytes:
    """Return an object whose field is nested so deep, as bytes: not every depth can be encoded."""
    meta = json.dumps({"metadata": {"name": "chat", "namespace": TEAM, "uid": "u"}}).encode()
    return meta[:-1] + b', "spec": {"a": ' + b"[" * levels + b"]" * levels + b"}}"


@pytest.fixture
def store() -> OwnStore:
    return an_own_store()


def test_only_its_name_labels_and_owners_are_kept(store: OwnStore):
    kind = store.kind()
    raw = [an_object("good", "True"), an_object("large", LARGE)]
    decoded = decode_items(json.dumps(raw).encode(), kind)
    assert decoded is not None
    (good, large), undecodable = decoded
    assert not undecodable
    assert good.metadata.labels == large.metadata.labels == {"team": "a"}
    assert good.metadata.owner_references == large.metadata.owner_references
    assert (large.metadata.name, large.metadata.generation) == ("large", 3)
    assert isinstance(large, kind.type)
    assert LARGE not in repr(large)


def test_the_newest_version_decides(store: OwnStore):
    def watched(message: str) -> ApiObject:
        event = {"type": "MODIFIED", "object": an_object("chat", message)}
        found = decode_watch_event(json.dumps(event).encode(), store.kind(), REQUEST)
        assert isinstance(found, Upsert)
        store.store.upsert(store.kind(), found.object)
        return found.object

    watched("False")
    assert isinstance(store.verdict(), Active)
    assert LARGE not in repr(watched(LARGE))
    verdict = store.verdict()
    assert isinstance(verdict, Unknown)
    assert f"bytes, of which at most {MAX_CONTENT_BYTES} are read" in verdict.why
    watched("False")
    assert isinstance(store.verdict(), Active)


@pytest.mark.parametrize("levels", [*range(60, 70), 300, 600, 900, 990, 1100])
def test_no_depth_of_nesting_ends_a_pass(levels: int):
    store = an_own_store(a_reason(current="object.spec.a == []"))
    decoded = decode_items(b"[" + nested(levels) + b"]", store.kind())
    assert decoded is not None
    for each in decoded[0] * 2:
        store.store.upsert(store.kind(), each)
    for name in (each.name for each in decoded[1]):
        store.store.mark_undecodable(store.kind(), *name)
    verdict = store.verdict()
    if levels + 2 > 64:  # the object and its spec are two
        assert isinstance(verdict, Unknown)
        assert "nested deeper than 64 levels" in verdict.why
    else:
        assert isinstance(verdict, Active)


def test_an_object_that_is_too_large_is_unknown_for_those_who_look_it_up():
    lookup = 'lookup("Other", object.metadata.namespace, "large").spec.text == ""'
    store = an_own_store(a_reason(current=lookup), kinds=[OTHER])
    store.put(metadata={"name": "chat"})
    store.put("Other", metadata={"name": "large"}, spec={"text": LARGE})
    verdict = store.verdict()
    assert isinstance(verdict, Unknown)
    assert "are read" in verdict.why


@pytest.mark.parametrize(
    ("objects", "reasons", "expected"),
    [
        (50_000, 10, ""),
        (0, 0, ""),
        (2_500, 200, ""),
        (2_501, 200, "2501 objects, of which 200 reasons may be about 2500; add a selector"),
    ],
)
def test_the_evaluations_of_one_subject_are_bounded(objects: int, reasons: int, expected: str):
    found = describe_excess(objects, reasons, are_kept=True)
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


def test_too_many_objects_of_one_subject_are_unknown_and_those_of_others_evaluated():
    store = an_own_store(a_reason(current="object.spec.until > string(now)"))
    many = [{"metadata": {"name": f"s{n}", "namespace": "crowded"}} for n in range(MOST + 1)]
    one = {"metadata": {"name": "chat", "namespace": TEAM}, "spec": {"until": ""}}
    decoded = decode_items(json.dumps([*many, one]).encode(), store.kind())
    assert decoded is not None
    store.store.replace(store.kind(), decoded[0])
    crowded = store.verdict(Subject(Layer.MODELHARNESS, "crowded"))
    assert isinstance(crowded, Unknown)
    assert "a reason that reads the time or other objects may be about 50000" in crowded.why
    assert isinstance(store.verdict(), Active)
