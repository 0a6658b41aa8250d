"""
The fields that objects of a kind have by its CRD, to find those that an expression misspells.

Source: the Kubernetes documentation, "Extend the Kubernetes API with CustomResourceDefinitions",
"Specifying a structural schema": whatever an object may have is under ``properties``, ``items`` or
``additionalProperties``, unless unknown fields are preserved.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from reporter.cel.reads import EACH, Path
from reporter.kinds.declared import DeclaredKind
from reporter.model.sanitize import abbreviate_list
from reporter.model.suggest import suggest


Schema: TypeAlias = Mapping[str, Any]

MAX_NAMED = 8
"""The fields that are listed where none is similar."""

_ANY: Schema = MappingProxyType({"x-kubernetes-preserve-unknown-fields": True})
_TEXT: Schema = MappingProxyType({"type": "string"})
_METADATA: Schema = {
    "properties": {
        **dict.fromkeys(
            (
                "name",
                "generateName",
                "namespace",
                "uid",
                "resourceVersion",
                "generation",
                "creationTimestamp",
                "deletionTimestamp",
                "deletionGracePeriodSeconds",
            ),
            _TEXT,
        ),
        "labels": {"additionalProperties": _TEXT},
        "annotations": {"additionalProperties": _TEXT},
        "finalizers": {"items": _TEXT},
        "ownerReferences": {
            "items": {
                "properties": dict.fromkeys(
                    ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"),
                    _TEXT,
                )
            }
        },
        "managedFields": _ANY,
    }
}
"""ObjectMeta (API reference), which a CRD gives no fields of its own."""

_OF_EVERY_OBJECT: Schema = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _METADATA}


class UnknownField(NamedTuple):
    """A field that no object of a kind has. *path*: to it, from the object. *known*: beside it."""

    path: Path
    known: tuple[str, ...]

    def describe(self, root: str) -> str:
        """Return the path as an expression writes it, and the nearest name that is known."""
        shown = "".join("[]" if name == EACH else f".{name}" for name in self.path)
        others = (
            f"known are {abbreviate_list(self.known, MAX_NAMED)}" if self.known else "remove it"
        )
        offer = suggest(self.path[-1], self.known, form="`{}`", otherwise=others)
        return f"by its CRD there is no field {root}{shown}: {offer}"


class CrdFields(Struct, frozen=True):
    """The schemas of CRDs: by the name of the CRD, and by version."""

    schemas: Mapping[str, Mapping[str, Schema]] = {}

    def find_unknown(self, kind: DeclaredKind, path: Path) -> UnknownField | None:
        """
        Return the first field of a path that no object has; None if all may be there, or no schema is known.

        Without a version of its own, the kind has the fields of any version.
        """
        versions = self.schemas.get(kind.group_resource, {})
        named = versions.get(kind.version)
        found = [_unknown(each, path) for each in ([named] if named else versions.values())]
        return None if None in found else max((f for f in found if f), key=_depth, default=None)


def _depth(found: UnknownField) -> int:
    return len(found.path)


def _unknown(schema: Schema, path: Path) -> UnknownField | None:
    schema = {**schema, "properties": {**_properties(schema), **_OF_EVERY_OBJECT}}
    for position, name in enumerate(path):
        below = _below(schema, name)
        if below is None:
            return UnknownField(path[: position + 1], tuple(_properties(schema)))
        schema = below
    return None


def _below(schema: Schema, name: str) -> Schema | None:
    """Return the schema of a field, or of each item; None if there is no such field."""
    fields = _properties(schema)
    if name in fields:
        return _schema(fields[name])
    open_ended = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
    if any(schema.get(each) for each in open_ended):
        return _ANY
    if name == EACH:
        # Of a map with names of its own, each value may be anything.
        return _schema(schema.get("items") or schema.get("additionalProperties"))
    more = schema.get("additionalProperties")
    return _schema(more) if more else None


def _properties(schema: Schema) -> Schema:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _schema(found: Any) -> Schema:
    return found if isinstance(found, Mapping) else _ANY


def read_crds(documents: Iterable[Any]) -> CrdFields:
    """Return the schemas of the CRDs among documents, also of those in lists; others are left out."""
    schemas: dict[str, dict[str, Schema]] = {}
    for spec in _specs(documents):
        name = f"{spec['names']['plural']}.{spec['group']}"
        for version in spec["versions"]:
            validation = version.get("schema")
            schema = validation.get("openAPIV3Schema") if isinstance(validation, Mapping) else None
            if isinstance(schema, Mapping):
                schemas.setdefault(name, {})[version["name"]] = schema
    return CrdFields(schemas)


def _specs(documents: Iterable[Any]) -> Iterator[Any]:
    for each in documents:
        if not isinstance(each, Mapping):
            continue
        if isinstance(each.get("items"), list):
            yield from _specs(each["items"])
        elif each.get("kind", CRD) == CRD and _is_complete(each.get("spec")):
            yield each["spec"]


CRD = "CustomResourceDefinition"


def _is_complete(spec: Any) -> bool:
    return (
        isinstance(spec, Mapping)
        and isinstance(spec.get("names"), Mapping)
        and {"plural"} <= spec["names"].keys()
        and "group" in spec
        and isinstance(spec.get("versions"), list)
        and all(
            isinstance(each, Mapping) and isinstance(each.get("name"), str)
            for each in spec["versions"]
        )
    )
