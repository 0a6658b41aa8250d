"""
The base of every partial API struct: only the fields that a decision or a message reads.

Fields have the API's names in snake case. Go writes empty lists and maps as null, so these may be None.
"""

from datetime import datetime
from sys import intern
from typing import Annotated, ClassVar, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr


Timestamp: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""
A time with its offset from UTC; a naive one could not be compared with any other.
"""


class ApiStruct(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """
    A part of an API object; decoding skips unknown fields.
    """


class InterningApiStruct(ApiStruct, frozen=True):
    """
    A part of an API object that keeps texts in memory once although many objects have them.

    It is a class of its own because msgspec calls ``__post_init__`` for each struct that it decodes.

    *interned_fields*: fields whose texts many objects share.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in self.interned_fields:
            value = getattr(self, field)
            if isinstance(value, str):
                force_setattr(self, field, intern(value))
            elif value:
                force_setattr(self, field, _interned_dict(value))


def _interned_dict(texts: dict[str, str]) -> dict[str, str]:
    return {intern(name): intern(text) for name, text in texts.items()}
