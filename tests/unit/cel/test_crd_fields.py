"""The fields that objects have by the schema of their CRD."""

from typing import Any

import pytest

from reporter.cel.crd_fields import CrdFields, read_crds
from reporter.cel.reads import EACH
from reporter.kinds.declared import DeclaredKind


KIND = DeclaredKind("Model", "models", group="example.com")
TEXT = {"type": "string"}


def a_crd(*schemas: dict[str, Any]) -> dict[str, Any]:
    """A CRD with a version for each schema of the spec: v1, v2 and so on."""
    versions = [
        {
            "name": f"v{number}",
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}},
        }
        for number, schema in enumerate(schemas, start=1)
    ]
    spec = {"group": "example.com", "names": {"plural": "models"}, "versions": versions}
    return {"kind": "CustomResourceDefinition", "spec": spec}


def unknown(crds: CrdFields, *path: str, kind: DeclaredKind = KIND) -> str | None:
    found = crds.find_unknown(kind, path)
    return found.describe("object") if found is not None else None


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"x-kubernetes-preserve-unknown-fields": True}, ("any", "thing")),
        ({"x-kubernetes-embedded-resource": True, "properties": {"spec": TEXT}}, ("metadata",)),
        ({"additionalProperties": TEXT}, ("any",)),
        ({"additionalProperties": {"properties": {"a": TEXT}}}, ("any", "a")),
        ({"additionalProperties": {"properties": {"a": TEXT}}}, (EACH, "a")),
        ({"additionalProperties": True}, ("any", "thing")),
        ({"items": {"properties": {"a": TEXT}}}, (EACH, "a")),
        ({"properties": {"a": TEXT}}, ()),
    ],
)
def test_a_field_that_an_object_may_have_is_known(schema: dict[str, Any], path: tuple[str, ...]):
    assert unknown(read_crds([a_crd(schema)]), "spec", *path) is None


@pytest.mark.parametrize(
    ("schema", "path", "expected"),
    [
        ({"properties": {"ready": TEXT}}, ("redy",), "object.spec.redy: did you mean `ready`?"),
        ({"properties": {"a": TEXT}}, ("a", "b"), "object.spec.a.b: remove it"),
        ({"items": {"properties": {"a": TEXT}}}, (EACH, "zz"), "object.spec[].zz: known are a"),
        ({"items": TEXT}, ("length",), "object.spec.length: remove it"),
        ({"type": "object"}, ("x",), "object.spec.x: remove it"),
        ({"properties": None}, ("x",), "object.spec.x: remove it"),
    ],
)
def test_a_field_that_no_object_has_is_named(
    schema: dict[str, Any], path: tuple[str, ...], expected: str
):
    crds = read_crds([a_crd(schema)])
    assert unknown(crds, "spec", *path) == f"by its CRD there is no field {expected}"


def test_metadata_has_the_fields_of_every_object():
    crds = read_crds([a_crd({})])
    assert unknown(crds, "metadata", "labels", "any/thing") is None
    assert unknown(crds, "metadata", "ownerReferences", EACH, "kind") is None
    assert "did you mean `generation`?" in str(unknown(crds, "metadata", "generations"))


def test_without_a_version_a_field_of_any_version_is_known():
    crds = read_crds([a_crd({"properties": {"old": TEXT}}, {"properties": {"new": TEXT}})])
    assert unknown(crds, "spec", "old") is None
    assert unknown(crds, "spec", "new") is None
    second = DeclaredKind("Model", "models", group="example.com", version="v2")
    assert unknown(crds, "spec", "old", kind=second) is not None


def test_crds_are_found_in_lists_and_what_is_none_is_left_out():
    others = [None, "text", {"kind": "ConfigMap", "spec": {}}, {"spec": {"versions": 1}}]
    listed = {"kind": "List", "items": [*others, a_crd({"properties": {"a": TEXT}})]}
    crds = read_crds([*others, listed])
    assert list(crds.schemas) == ["models.example.com"]
    assert CrdFields().find_unknown(KIND, ("spec", "b")) is None


@pytest.mark.parametrize("schema", [None, "text", {}, {"openAPIV3Schema": None}])
def test_a_version_without_a_schema_may_have_any_field(schema: Any):
    crd = a_crd({})
    crd["spec"]["versions"][0]["schema"] = schema
    assert unknown(read_crds([crd]), "spec", "any") is None


def test_properties_at_the_top_may_be_null():
    crd = a_crd({})
    crd["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": {"properties": None}}
    assert unknown(read_crds([crd]), "metadata", "name") is None
    assert unknown(read_crds([crd]), "spec") is not None


@pytest.mark.parametrize("name", [None, ["v1"], {}])
def test_a_crd_whose_version_has_no_name_is_left_out(name: Any):
    crd = a_crd({})
    crd["spec"]["versions"][0]["name"] = name
    assert read_crds([crd]).schemas == {}
