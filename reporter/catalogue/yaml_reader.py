"""
Convert YAML nodes to typed values, and report every problem with its line.

msgspec stops at the first problem. So a node that it refuses is divided into its parts, which are
converted one by one: each part is read once for each level above it, however many problems it has.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import inspect
from msgspec.structs import FieldInfo

from reporter.catalogue.problems import Place, Problem, suggest_name
from reporter.catalogue.yaml_nodes import Fields, Items, Scalar, YamlNode, to_plain


# --------------------------------------------------------------------
# The types of the parts of a type in ``format``, and what is left of it without the wrappings.


def struct_fields(type_: Any) -> Mapping[str, FieldInfo] | None:
    """Return the fields of a struct by their keys; None if the type is no struct."""
    bare = _bare(type_)
    struct = get_origin(bare) or bare
    if not (isinstance(struct, type) and issubclass(struct, msgspec.Struct)):
        return None
    return {field.encode_name: field for field in msgspec.structs.fields(bare)}


def item_type(type_: Any, *containers: type) -> Any:
    """Return the type of a list's items or a mapping's values; None if it is no such container."""
    bare = _bare(type_)
    values = [each for each in get_args(bare) if each is not Ellipsis]
    return values[-1] if values and get_origin(bare) in containers else None


def without_unset(type_: Any) -> Any:
    """Return the type of a field without UnsetType, which msgspec accepts in fields only."""
    if get_origin(type_) is Annotated:
        inner, *metas = get_args(type_)
        return Annotated[(without_unset(inner), *metas)]
    members = get_args(type_) if get_origin(type_) in {Union, UnionType} else (type_,)
    return Union[tuple(each for each in members if each is not msgspec.UnsetType)]  # noqa: UP007


def _bare(type_: Any) -> Any:
    """Return a type without UnsetType, None and its ``Annotated`` wrappings."""
    bare = _without_none(without_unset(type_))
    while get_origin(bare) is Annotated:
        bare = _without_none(without_unset(get_args(bare)[0]))
    return bare


def _without_none(type_: Any) -> Any:
    members = get_args(type_) if get_origin(type_) in {Union, UnionType} else (type_,)
    rest = tuple(each for each in members if each is not NoneType)
    return Union[rest] if rest else type_  # noqa: UP007


# --------------------------------------------------------------------
# Plain-English descriptions of the types in ``format``, for error messages and the README's tables.


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


S = TypeVar("S", bound=msgspec.Struct)
NodePath: TypeAlias = tuple[str | int, ...]
"""The keys and list indexes that lead from the root to a node."""


class _Part(NamedTuple):
    """A node and the type that it must have. *place*: the line that errors about it name."""

    path: NodePath
    node: YamlNode
    place: Place
    type: Any


def read(node: YamlNode, type_: type[S], problems: list[Problem]) -> S | None:
    """Return the value, or None after adding all that is wrong with it to *problems*."""
    try:
        return msgspec.convert(to_plain(node), type_)
    except msgspec.ValidationError:
        problems += _find_problems(_Part((), node, node.place, type_))
        return None


def readable_keys(node: Fields, type_: type[msgspec.Struct]) -> Fields:
    """
    Return the node with those of its keys alone that are known and have a right value.

    What is left is checked further, so that one wrong key does not hide the problems of others.
    """
    fields = struct_fields(type_) or {}
    kept = {
        key: value
        for key, value in node.values.items()
        if key in fields
        and not _find_problems(_Part((key,), value, node.where(key), fields[key].type))
    }
    return Fields(node.place, kept, node.keys)


def _find_problems(part: _Part) -> list[Problem]:
    """Return the problems of the parts of a node; if they have none, the one of the whole."""
    found = [*_find_key_problems(part)]
    for each in _divide(part):
        found += _find_problems(each)
    return found or [*_find_value_problem(part)]


def _find_key_problems(part: _Part) -> Iterator[Problem]:
    """Yield the unknown keys of a struct, and those that are missing."""
    node, fields = part.node, struct_fields(part.type)
    if fields is None or not isinstance(node, Fields):
        return
    for key in node.values.keys() - fields.keys():
        text = f"unknown key `{_name((*part.path, key))}`: {suggest_name(key, fields)}"
        yield Problem(node.where(key), text)
    for key, field in fields.items():
        if field.required and key not in node.values:
            text = f"`{_name((*part.path, key))}` is missing: {field_meaning(inspect.type_info(field.type))}"
            yield Problem(node.place, text)


def _divide(part: _Part) -> Iterable[_Part]:
    """Yield the parts of a mapping or list whose types are known."""
    path, node = part.path, part.node
    if isinstance(node, Items):
        type_ = item_type(part.type, list, tuple)
        if type_ is not None:
            for i, item in enumerate(node.items):
                yield _Part((*path, i), item, item.place, type_)
    elif isinstance(node, Fields):
        type_, fields = item_type(part.type, dict), struct_fields(part.type) or {}
        for key, value in node.values.items():
            if key in fields or type_ is not None:
                wanted = fields[key].type if key in fields else type_
                yield _Part((*path, key), value, node.where(key), wanted)


def _find_value_problem(part: _Part) -> Iterator[Problem]:
    try:
        msgspec.convert(to_plain(part.node), without_unset(part.type))
    except msgspec.ValidationError:
        shown = f"`{_name(part.path)}` is" if part.path else "this is"
        text = f"{shown} {_shown(part.node)}; it must be {describe_type(inspect.type_info(part.type))}"
        yield Problem(part.place, text)


def _shown(node: YamlNode) -> str:
    if isinstance(node, Scalar):
        return "empty" if node.value is None else f"`{node.value}`"
    return "a mapping" if isinstance(node, Fields) else "a list"


def _name(path: NodePath) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
