"""The part of an object that is kept: what expressions name, as the JSON of the object has it."""

import msgspec
import pytest

from reporter.cel.declared_kinds import FieldTree, field_tree, object_type


def kept(content, *paths):
    """Return what is kept of an object; a path ends in ? where only the presence matters."""
    reads = [
        (tuple("" if p == "*" else p for p in each.rstrip("?").split(".")), not each.endswith("?"))
        for each in paths
    ]
    made = object_type("Thing", field_tree(reads))
    whole = {"metadata": {"name": "a"}, **content}
    decoded = msgspec.json.decode(msgspec.json.encode(whole), type=made)
    again = msgspec.json.decode(msgspec.json.encode(decoded))
    assert decoded == msgspec.json.decode(msgspec.json.encode(again), type=made)
    del again["metadata"]["name"]
    return {key: value for key, value in again.items() if value or key != "metadata"}


THING = {
    "spec": {"a": {"b": 1, "c": [1, {"d": 2, "e": 3}]}, "x-y": True, "big": 2**63},
    "status": {"list": [{"type": "A", "text": "t"}, {"type": "B"}], "empty": {}, "none": None},
}


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["spec.a.b"], {"spec": {"a": {"b": 1}}}),
        (["spec.a"], {"spec": {"a": THING["spec"]["a"]}}),
        (["spec.x-y", "spec.big"], {"spec": {"x-y": True, "big": 2**63}}),
        (["spec.a.c.*.d"], {"spec": {"a": {"c": [1, {"d": 2}]}}}),
        (["status.list.*.type"], {"status": {"list": [{"type": "A"}, {"type": "B"}]}}),
        (["status.list.*?"], {"status": {"list": [{}, {}]}}),
        (["status.empty?", "status.none?", "status.nope?"], {"status": {"empty": {}, "none": None}}),
        (["spec.*?"], {"spec": {"a": {}, "x-y": True, "big": 2**63}}),
        (["spec.*.b", "spec.a.c"], {"spec": {"a": {"b": 1, "c": THING["spec"]["a"]["c"]}, "x-y": True, "big": 2**63}}),
        (["nope.x"], {}),
    ],
)  # fmt: skip
def test_keeps_what_is_named(paths, expected):
    assert kept(THING, *paths) == expected


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "text", [], [1, {"a": 2}], {}])
@pytest.mark.parametrize("path", ["spec.a", "spec.a.b", "spec.a.*.b", "spec.a?", "spec.a.*?"])
def test_a_value_of_any_type_is_decoded(path, value):
    found = kept({"spec": {"a": value}}, path)
    if not isinstance(value, dict | list):
        assert found == {"spec": {"a": value}}
    assert type(found["spec"]["a"]) is type(value)


def test_metadata_is_that_of_the_object():
    metadata = {
        "name": "a",
        "namespace": "n",
        "uid": "u",
        "generation": 3,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {},
        "annotations": {"a/b": "c"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "o"}],
    }
    owner = {"apiVersion": "v1", "kind": "K", "name": "o", "uid": "v", "controller": True}
    more = {"managedFields": [{}], "resourceVersion": "7", "ownerReferences": [owner]}
    content = {"metadata": {**metadata, **more}}
    made = object_type("Thing", field_tree([(("metadata", "annotations", "a/b"), True)]))
    decoded = msgspec.json.decode(msgspec.json.encode(content), type=made)
    assert msgspec.json.decode(msgspec.json.encode(decoded)) == {"metadata": metadata}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("metadata.ownerReferences.*.uid", {"kind": "K", "name": "o", "uid": "v"}),
        ("metadata.ownerReferences.*.name", {"kind": "K", "name": "o"}),
        ("metadata.ownerReferences", {"kind": "K", "name": "o", "uid": "v", "controller": True}),
        ("metadata.ownerReferences.*", {"kind": "K", "name": "o", "uid": "v", "controller": True}),
    ],
)
def test_owners_have_their_names_and_what_is_read_of_them(path, expected):
    owner = {"kind": "K", "name": "o", "uid": "v", "controller": True}
    found = kept({"metadata": {"name": "a", "ownerReferences": [owner]}}, path)
    assert found["metadata"]["ownerReferences"] == [expected]


def test_texts_that_many_objects_have_are_kept_once():
    made = object_type("Thing", field_tree([(("status", "phase"), True)]))
    texts = [
        msgspec.json.decode(b'{"metadata":{"name":"a"},"status":{"phase":"Done"}}', type=made)
        for _ in range(2)
    ]
    first, second = (getattr(each, "field_0").field_0 for each in texts)  # noqa: B009
    assert first is second


def test_whole_objects_are_never_kept():
    with pytest.raises(ValueError, match="whole objects"):
        object_type("Thing", FieldTree(is_whole=True))
