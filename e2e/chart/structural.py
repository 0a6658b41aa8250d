"""The schema of a struct as a CRD must have it."""

import inspect
from typing import Any

import msgspec


KEPT = {
    "type", "format", "description", "enum", "default", "properties", "required", "items",
    "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum",
}  # fmt: skip
"""The keys of a JSON Schema that a structural schema may have (API reference, JSONSchemaProps)."""

Json = dict[str, Any]


def structural(struct: type[msgspec.Struct]) -> Json:
    """
    Return the schema of a struct as a CRD must have it: without references, each part with a type.
    """
    (root,), definitions = msgspec.json.schema_components([struct])
    return _inline(root, definitions)


def _inline(part: Json, definitions: Json) -> Json:
    if "$ref" in part:
        found = definitions[part["$ref"].rpartition("/")[2]]
        return _inline({**found, **{k: v for k, v in part.items() if k != "$ref"}}, definitions)
    if "anyOf" in part:
        # A key whose value is null is left out.
        (one,) = (each for each in part["anyOf"] if each.get("type") != "null")
        return _inline({**one, **{k: v for k, v in part.items() if k != "anyOf"}}, definitions)
    kept = {key: value for key, value in part.items() if key in KEPT}
    if not kept.get("default", True):
        del kept["default"]
    if not kept.get("required", True):
        del kept["required"]
    if kept.get("type") == "integer":
        kept["format"] = "int64"
    if "description" in kept:
        kept["description"] = " ".join(inspect.cleandoc(kept["description"]).split())
    if "enum" in kept:
        kept["type"] = "string"
        kept["enum"] = [each for each in kept["enum"] if each is not None]
    if "properties" in kept:
        kept["properties"] = {
            name: _inline(each, definitions) for name, each in kept["properties"].items()
        }
    if "items" in kept:
        kept["items"] = _inline(kept["items"], definitions)
    return {"type": kept.pop("type"), **kept}
