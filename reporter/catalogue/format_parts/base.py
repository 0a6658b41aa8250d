"""The common base of the types of all entries."""

from typing import Annotated, TypeAlias, TypeVar

from msgspec import Meta, Struct, UnsetType


T = TypeVar("T")
OptionalKey: TypeAlias = T | UnsetType

Text = Annotated[str, Meta(min_length=1, extra={"is": "a text"})]


class CatalogueStruct(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab", gc=False
): ...
