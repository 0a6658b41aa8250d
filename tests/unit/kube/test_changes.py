import json

import pytest

from reporter.kube.changes import Bookmark, Drop, Put, Spoilt, read_event, read_page
from reporter.kube.errors import Expired, Unreachable
from reporter.kube.translation import Asked
from reporter.model.kinds import PODS


ASKED = Asked("watch pods", path="/api/v1/pods")


def a_pod(name="web", version="7", **more):
    meta = {"name": name, "namespace": "shop", "resourceVersion": version}
    return {"metadata": meta, "status": {"phase": "Running"}} | more


def a_line(kind, thing):
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


@pytest.mark.parametrize(("kind", "new"), [("ADDED", True), ("MODIFIED", False)])
def test_an_added_or_modified_object_is_put(kind, new):
    change = read_event(a_line(kind, a_pod()), PODS, ASKED)
    assert isinstance(change, Put)
    assert (change.name, change.version, change.new) == (("shop", "web"), "7", new)
    assert change.object.metadata.name == "web"


def test_texts_that_many_objects_have_alike_are_kept_once():
    ready = {"conditions": [{"type": "Ready", "status": "True", "reason": "AllIsWell"}]}
    lines = [a_line("ADDED", a_pod(name, status=ready)) for name in ("one", "two")]
    one, two = (read_event(line, PODS, ASKED).object for line in lines)
    (mine,), (other,) = one.status.conditions, two.status.conditions
    assert (mine.type is other.type, mine.reason is other.reason) == (True, True)
    assert one.metadata.namespace is two.metadata.namespace


def test_an_object_that_cannot_be_decoded_is_named_with_the_reason():
    odd = a_pod(status={"phase": 5})
    change = read_event(a_line("MODIFIED", odd), PODS, ASKED)
    assert isinstance(change, Spoilt)
    assert (change.name, change.version) == (("shop", "web"), "7")
    assert "$.status.phase" in change.why


def test_an_odd_object_can_still_be_deleted():
    odd = a_pod(status={"phase": 5})
    assert read_event(a_line("DELETED", odd), PODS, ASKED) == Drop(("shop", "web"), "7")


def test_a_bookmark_moves_the_version():
    mark = {"metadata": {"resourceVersion": "9"}}
    assert read_event(a_line("BOOKMARK", mark), PODS, ASKED) == Bookmark("9")


def test_an_error_event_raises_what_it_stands_for():
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    with pytest.raises(Expired, match="too old"):
        read_event(a_line("ERROR", status), PODS, ASKED)


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
        read_event(line, PODS, ASKED)


def test_one_odd_object_does_not_spoil_a_page():
    page = {
        "metadata": {"resourceVersion": "12", "continue": "more"},
        "items": [a_pod("a"), a_pod("b", status={"phase": []}), a_pod("c")],
    }
    read = read_page(json.dumps(page).encode(), PODS, ASKED)
    assert [each.metadata.name for each in read.objects] == ["a", "c"]
    assert [each.name for each in read.spoilt] == [("shop", "b")]
    assert (read.version, read.token) == ("12", "more")


def test_an_empty_list_may_be_null():
    page = b'{"metadata": {"resourceVersion": "1"}, "items": null}'
    assert read_page(page, PODS, ASKED).objects == ()


@pytest.mark.parametrize("body", [b"", b"[]", b"oops", b'{"kind": "Status"}'])
def test_garbage_is_no_list(body):
    with pytest.raises(Unreachable, match="not a list"):
        read_page(body, PODS, ASKED)
