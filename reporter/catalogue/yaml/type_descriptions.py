"""
Plain-English descriptions of the types in ``format``, for error messages and the README's tables.
"""

from collections.abc import Mapping

from msgspec import inspect


PLAIN_NAMES: Mapping[type[inspect.Type], str] = {
    inspect.StrType: "a text (quote it)",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.DictType: "a mapping",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
}


def describe_type(type_: inspect.Type) -> str:
    """Return what a value must be: the ``is`` of its Meta, else its type in words."""
    if isinstance(type_, inspect.Metadata):
        return str((type_.extra or {}).get("is") or describe_type(type_.type))
    if isinstance(type_, inspect.EnumType):
        return f"one of {', '.join(str(member.value) for member in type_.cls)}"
    if isinstance(type_, inspect.StructType):
        return f"a mapping with the keys {', '.join(f.encode_name for f in type_.fields)}"
    if isinstance(type_, inspect.UnionType):
        members = [each for each in type_.types if not isinstance(each, inspect.NoneType)]
        return " or ".join(map(describe_type, members))
    return PLAIN_NAMES.get(type(type_), "what the catalogue's README.md says")


def field_meaning(type_: inspect.Type) -> str:
    """
    Return the description of a key's type as part of a sentence, or what to do if it has none.
    """
    schema = type_.extra_json_schema if isinstance(type_, inspect.Metadata) else None
    text = str((schema or {}).get("description", "add it"))
    return f"{text[0].lower()}{text[1:].removesuffix('.')}"


def strip_metadata(type_: inspect.Type) -> inspect.Type:
    """Return a type without its ``Annotated`` wrappings."""
    while isinstance(type_, inspect.Metadata):
        type_ = type_.type
    return type_
