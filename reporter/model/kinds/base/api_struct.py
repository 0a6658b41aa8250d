"""
The base of every partial API struct: only the fields that a decision or a message reads.

Fields have the API's names in snake case. Go writes empty lists and maps as null, so these may be None.
"""

import sys
from datetime import datetime
from typing import Annotated, Any, ClassVar, TypeAlias

import msgspec
from msgspec import Struct


Timestamp: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""
A time with its offset from UTC; a naive one could not be compared with any other.
"""


class ApiStruct(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """
    A part of an API object; decoding skips unknown fields.

    *interned_fields*: fields whose texts many objects share; each text is kept in memory once.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in self.interned_fields:
            value = getattr(self, field)
            if value:
                msgspec.structs.force_setattr(self, field, interned(value))


def interned(value: Any) -> Any:
    """
    Return the same text, or dict of texts, without copies; these are half the memory of a large stack.
    """
    if isinstance(value, str):
        return sys.intern(value)
    return {sys.intern(name): sys.intern(text) for name, text in value.items()}
