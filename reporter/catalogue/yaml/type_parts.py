"""The types of the parts of a type in ``format``, and what is left of it without the wrappings."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo


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
