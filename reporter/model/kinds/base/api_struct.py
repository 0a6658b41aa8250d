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
"""A time with its offset from UTC; a naive one could not be compared with any other."""


class ApiStruct(Struct, frozen=True, gc=False, rename="camel", kw_only=True):
    """A part of an API object; decoding skips unknown fields."""


class InterningApiStruct(ApiStruct, frozen=True):
    """
    A part of an API object that keeps values in memory once although many objects have them.

    It is a class of its own because msgspec calls ``__post_init__`` for each struct that it decodes.

    *interned_fields*: fields whose texts or times many objects share.
    """

    interned_fields: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in self.interned_fields:
            value = getattr(self, field)
            # Called for every struct of a list: cheaper than isinstance.
            kind = value.__class__
            if kind is str:
                force_setattr(self, field, intern(value))
            elif kind is datetime:
                force_setattr(self, field, _shared_time(value))
            elif value:
                force_setattr(self, field, _interned_dict(value))


_LAST_TIMES: list[datetime | None] = [None] * 3600
"""
The last time of each second of the hour. Found by that and not by hash, which takes longer for an
aware time than decoding it.
"""


def _shared_time(time: datetime) -> datetime:
    """
    Return the same object for equal times, as far as is known.

    The times of Kubernetes are whole seconds: conditions of one object, and objects that were
    created together, share many of them. Without this they are a tenth of a large store.
    """
    second = time.minute * 60 + time.second
    last = _LAST_TIMES[second]
    if last is not None and last == time:
        return last
    _LAST_TIMES[second] = time
    return time


def _interned_dict(texts: dict[str, str]) -> dict[str, str]:
    return {intern(name): intern(text) for name, text in texts.items()}
