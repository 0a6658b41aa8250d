"""
The part of an object that expressions read, as a struct that decodes nothing else.

Fields have any type: an expression finds out whether it is the one that it needs.
"""

from collections.abc import Iterable, Mapping
from sys import intern
from typing import Any, TypeAlias, Union

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import force_setattr

from reporter.cel.reads import EACH
from reporter.kinds.objects import ApiObject, Metadata


METADATA, OWNERS = "metadata", "ownerReferences"
KEPT_METADATA = frozenset(
    {"name", "namespace", "uid", "generation", "creationTimestamp", "deletionTimestamp", "labels"}
)
"""The metadata that every object has here, whatever expressions read."""

MAX_INTERNED = 64
"""Length up to which a text is kept in memory once, although many objects have it."""

Scalar: TypeAlias = str | int | float | bool | None


class FieldTree(Struct, frozen=True):
    """
    The fields that are read of a value: all of it, or some by name, or the same of each item.

    One without any of them is read for its presence alone.
    """

    fields: Mapping[str, "FieldTree"] = field(default_factory=dict)
    items: "FieldTree | None" = None
    is_whole: bool = False


def field_tree(reads: Iterable[tuple[tuple[str, ...], bool]]) -> FieldTree:
    """Build the tree of paths, each with whether the whole value is read."""
    below: dict[str, list[tuple[tuple[str, ...], bool]]] = {}
    for path, is_whole in reads:
        if not path and is_whole:
            return FieldTree(is_whole=True)
        if path:
            below.setdefault(path[0], []).append((path[1:], is_whole))
    items = field_tree(below.pop(EACH)) if EACH in below else None
    return FieldTree({name: field_tree(each) for name, each in below.items()}, items)


class ContentStruct(Struct, frozen=True, gc=False):
    """The base of the structs that are made of a tree. A field that an object lacks is UNSET."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value.__class__ is str and len(value) <= MAX_INTERNED:
                force_setattr(self, name, intern(value))


class ContentOwner(ContentStruct, frozen=True):
    """The part of an owner by which a subject may be found."""

    api_version: Any = msgspec.field(default=UNSET, name="apiVersion")
    kind: Any = UNSET
    name: Any = UNSET


KEPT_OF_OWNERS = frozenset(each.encode_name for each in msgspec.structs.fields(ContentOwner))


class ContentMetadata(Metadata, frozen=True, omit_defaults=True):
    """Metadata that is encoded as it was decoded: without the fields that the object lacks."""

    owner_references: Any = None


def object_type(name: str, tree: FieldTree) -> type[ApiObject]:
    """Return the type of the objects of a kind."""
    if tree.is_whole:
        raise ValueError(f"{name}: an expression reads whole objects")
    named = dict(tree.fields)
    metadata = named.pop(METADATA, FieldTree())
    fields: list[Any] = [
        ("metadata", _metadata_type(name, metadata)),
        *_struct_fields(name, named),
    ]
    made: Any = msgspec.defstruct(
        name, fields, bases=(ApiObject,), frozen=True, kw_only=True, gc=False
    )
    return made  # type: ignore[no-any-return]  # made of that base


def _metadata_type(name: str, tree: FieldTree) -> type[Metadata]:
    more = {each: sub for each, sub in tree.fields.items() if each not in KEPT_METADATA}
    owners = _owner_type(name, more.pop(OWNERS, FieldTree()))
    fields: list[Any] = [
        ("owner_references", owners, msgspec.field(default=None, name=OWNERS)),
        *_struct_fields(name, more),
    ]
    made: Any = msgspec.defstruct(
        f"{name}Metadata",
        fields,
        bases=(ContentMetadata,),
        frozen=True,
        kw_only=True,
        omit_defaults=True,
        gc=False,
    )
    return made  # type: ignore[no-any-return]  # made of that base


def _owner_type(name: str, tree: FieldTree) -> Any:
    each = tree.items or FieldTree()
    if tree.is_whole or each.is_whole or each.items is not None:
        return Any
    more = {key: sub for key, sub in each.fields.items() if key not in KEPT_OF_OWNERS}
    owner = msgspec.defstruct(
        f"{name}Owner", _struct_fields(name, more), bases=(ContentOwner,), frozen=True, gc=False
    )
    return Union[list[owner], None]  # type: ignore[valid-type]  # noqa: UP007


def _struct_fields(name: str, fields: Mapping[str, FieldTree]) -> list[tuple[str, Any, Any]]:
    return [
        (
            f"field_{number}",
            Union[_value_type(f"{name}{number}", tree), UnsetType],  # noqa: UP007
            msgspec.field(default=UNSET, name=each),
        )
        for number, (each, tree) in enumerate(sorted(fields.items()))
    ]


def _value_type(name: str, tree: FieldTree) -> Any:
    if tree.is_whole:
        return Any
    items = tree.items
    if items is None:
        # A list has no fields by name: whatever asks for one fails, whatever is in it.
        struct = msgspec.defstruct(
            name, _struct_fields(name, tree.fields), bases=(ContentStruct,), frozen=True, gc=False
        )
        return Union[struct, list[Any], Scalar]  # noqa: UP007
    listed = _value_type(f"{name}Item", items)
    values = _value_type(f"{name}Value", _merged([items, *tree.fields.values()]))
    return Union[dict[str, values], list[listed], Scalar]  # type: ignore[valid-type]  # noqa: UP007


def _merged(trees: Iterable[FieldTree]) -> FieldTree:
    """Return a tree that keeps what each of them does."""
    given = list(trees)
    if any(each.is_whole for each in given):
        return FieldTree(is_whole=True)
    names = {name for each in given for name in each.fields}
    fields = {
        name: _merged(each.fields[name] for each in given if name in each.fields) for name in names
    }
    items = [each.items for each in given if each.items is not None]
    return FieldTree(fields, _merged(items) if items else None)
