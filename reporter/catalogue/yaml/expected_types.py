"""
What a type wants, without its wrappings, and in words.
"""

import types
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from reporter.catalogue.yaml.nodes import Fields


LISTS = (list, tuple, frozenset)
MAPPINGS = (dict, Mapping)
WORDS: Mapping[Any, str] = {
    str: "a text (quote it)",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Fields: "a mapping",
    **dict.fromkeys(MAPPINGS, "a mapping"),
    **dict.fromkeys(LISTS, "a list"),
}


@dataclass(frozen=True, slots=True)
class Expected:
    """
    *bare*: never Annotated, nor a union with the None or UNSET that an absent key stands for.
    """

    bare: Any
    constraints: tuple[msgspec.Meta, ...] = ()

    @property
    def origin(self) -> Any:
        found: Any = get_origin(self.bare)
        return self.bare if found is None else found

    @property
    def saying(self) -> str:
        """
        What it must be: in the constraints' words where they have any.
        """
        given = (str(c.extra["is"]) for c in self.constraints if c.extra and "is" in c.extra)
        return next(given, None) or self._of_type()

    def _of_type(self) -> str:
        if isinstance(self.bare, type) and issubclass(self.bare, Enum):
            return f"one of {', '.join(str(member.value) for member in self.bare)}"
        if self.struct is not None:
            names = [field.encode_name for field in msgspec.structs.fields(self.struct)]
            return f"a mapping with the keys {', '.join(names)}"
        return WORDS.get(self.origin, f"of type {self.bare}")

    @property
    def about(self) -> str:
        """
        What a missing key is for.
        """
        about = next((c.description for c in self.constraints if c.description), "")
        return f": {about[0].lower()}{about[1:].removesuffix('.')}" if about else "; add it"

    @property
    def struct(self) -> type[msgspec.Struct] | None:
        found = self.origin
        return found if isinstance(found, type) and issubclass(found, msgspec.Struct) else None

    @property
    def annotated(self) -> Any:
        """
        The type with its constraints, as msgspec wants it.
        """
        wrapped = self.bare
        for constraint in self.constraints:
            wrapped = Annotated[wrapped, constraint]
        return wrapped


def expected(annotation: Any, constraints: tuple[msgspec.Meta, ...] = ()) -> Expected:
    origin: Any = get_origin(annotation)
    arguments: tuple[Any, ...] = get_args(annotation)
    if origin is Annotated:
        found = tuple(m for m in arguments[1:] if isinstance(m, msgspec.Meta))
        return expected(arguments[0], constraints + found)
    if origin in {Union, types.UnionType}:
        given = [a for a in arguments if a not in {types.NoneType, msgspec.UnsetType}]
        if len(given) == 1:
            return expected(given[0], constraints)
    return Expected(annotation, constraints)
