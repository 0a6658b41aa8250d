import json

import pytest

from reporter.kinds.core import PODS
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.kube.error_mapping import RequestInfo
from reporter.kube.errors import Expired, Unreachable
from reporter.kube.watch_events import (
    Bookmark,
    Delete,
    UndecodableObject,
    Upsert,
    decode_list_page,
    decode_watch_event,
)


ASKED = RequestInfo("watch pods", path="/api/v1/pods")


def a_pod(name="web", version="7", **more):
    meta = {"name": name, "namespace": "shop", "resourceVersion": version}
    return {"metadata": meta, "status": {"phase": "Running"}} | more


def a_line(kind, thing):
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


@pytest.mark.parametrize(("kind", "new"), [("ADDED", True), ("MODIFIED", False)])
def test_an_added_or_modified_object_is_put(kind, new):
    change = decode_watch_event(a_line(kind, a_pod()), PODS, ASKED)
    assert isinstance(change, Upsert)
    assert (change.name, change.resource_version, change.is_new) == (("shop", "web"), "7", new)
    assert change.object.metadata.name == "web"


def test_texts_that_many_objects_have_alike_are_kept_once():
    ready = {"conditions": [{"type": "Ready", "status": "True", "reason": "AllIsWell"}]}
    lines = [a_line("ADDED", a_pod(name, status=ready)) for name in ("one", "two")]
    one, two = (decode_watch_event(line, PODS, ASKED).object for line in lines)
    (mine,), (other,) = one.status.conditions, two.status.conditions
    assert (mine.type is other.type, mine.reason is other.reason) == (True, True)
    assert one.metadata.namespace is two.metadata.namespace


def test_an_object_that_cannot_be_decoded_is_named_with_the_reason():
    odd = a_pod(status={"phase": 5})
    change = decode_watch_event(a_line("MODIFIED", odd), PODS, ASKED)
    assert isinstance(change, UndecodableObject)
    assert (change.name, change.resource_version) == (("shop", "web"), "7")
    assert "$.status.phase" in change.why


def test_an_undecodable_object_can_still_be_deleted():
    odd = a_pod(status={"phase": 5})
    assert decode_watch_event(a_line("DELETED", odd), PODS, ASKED) == Delete(("shop", "web"), "7")


def test_a_bookmark_moves_the_version():
    mark = {"metadata": {"resourceVersion": "9"}}
    assert decode_watch_event(a_line("BOOKMARK", mark), PODS, ASKED) == Bookmark("9")


def test_an_error_event_raises_what_it_stands_for():
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    with pytest.raises(Expired, match="too old"):
        decode_watch_event(a_line("ERROR", status), PODS, ASKED)


@pytest.mark.parametrize(
    "line",
    [
        b"<html>502</html>\n",
        b"Unauthorized\n",
        b"{}\n",
        b"\n",
        b'{"type":"ADDED","object":{"metadata":5}}\n',
        b'{"type":"EXPLODED","object":{"metadata":{}}}\n',
        b'{"type":"ADDED","object":{"metadata":{"name":"\xff"}}}\n',
    ],
)
def test_garbage_is_no_event(line):
    with pytest.raises(Unreachable, match="watch"):
        decode_watch_event(line, PODS, ASKED)


def test_one_undecodable_object_does_not_hide_the_others_of_a_page():
    page = {
        "metadata": {"resourceVersion": "12", "continue": "more"},
        "items": [a_pod("a"), a_pod("b", status={"phase": []}), a_pod("c")],
    }
    read = decode_list_page(json.dumps(page).encode(), PODS, ASKED)
    assert [each.metadata.name for each in read.objects] == ["a", "c"]
    assert [each.name for each in read.undecodable] == [("shop", "b")]
    assert (read.resource_version, read.continue_token) == ("12", "more")


def test_an_empty_list_may_be_null():
    page = b'{"metadata": {"resourceVersion": "1"}, "items": null}'
    assert decode_list_page(page, PODS, ASKED).objects == ()


@pytest.mark.parametrize("body", [b"", b"[]", b"oops", b'{"kind": "Status"}'])
def test_garbage_is_no_list(body):
    with pytest.raises(Unreachable, match="not a list"):
        decode_list_page(body, PODS, ASKED)


def test_an_object_that_cannot_be_decoded_keeps_its_metadata():
    odd = a_pod(status={"phase": 5})
    odd["metadata"]["labels"] = {"app": "web"}
    stub = decode_watch_event(a_line("MODIFIED", odd), PODS, ASKED).stub
    assert (stub.metadata.namespace, stub.metadata.name) == ("shop", "web")
    assert dict(stub.metadata.labels) == {"app": "web"}
    assert stub.status.phase == ""


def test_an_object_whose_metadata_cannot_be_decoded_has_no_stub():
    odd = a_pod()
    odd["metadata"]["labels"] = ["app"]
    assert decode_watch_event(a_line("MODIFIED", odd), PODS, ASKED).stub is None


@pytest.mark.parametrize("kind", [*DEFAULT_KINDS, *OPTIONAL_KINDS], ids=lambda k: k.resource)
def test_every_kind_can_be_kept_as_its_metadata_alone(kind):
    meta = {"name": "x", "namespace": "shop", "annotations": {"a": "b"}}
    odd = {"metadata": meta, "spec": 5, "status": 5, "data": 5}
    change = decode_watch_event(a_line("ADDED", odd), kind, ASKED)
    stub = change.stub if isinstance(change, UndecodableObject) else change.object
    assert isinstance(stub, kind.type)
    assert isinstance(kind.index_keys(stub), tuple)
    assert isinstance(kind.affects(stub), tuple)
