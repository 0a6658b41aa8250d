"""
The bounds of what is kept and read of an object.

A user who may write one object must neither fill the memory nor delay the reasons of others.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from reporter.cel.limits import (
    MAX_CONTENT_BYTES,
    MAX_CONTENT_LEVELS,
    MAX_CONTENT_VALUES,
)
from reporter.kinds.objects import ApiObject, Metadata


SUBJECT = "the fields that its expressions name"
TOO_DEEP = f"{SUBJECT} are nested deeper than {MAX_CONTENT_LEVELS} levels"


class TooMuchContent(Exception):
    """Raised for an object whose fields are not read, with why."""


def encode_content(each: ApiObject) -> bytes:
    """Return the fields of an object as JSON. Raises TooMuchContent."""
    if left_out := getattr(each, "left_out", ""):
        raise TooMuchContent(left_out)
    try:
        encoded = msgspec.json.encode(each)
    except RecursionError:
        raise TooMuchContent(TOO_DEEP) from None
    if len(encoded) > MAX_CONTENT_BYTES:
        size = f"{len(encoded)} bytes, of which at most {MAX_CONTENT_BYTES} are read"
        raise TooMuchContent(f"{SUBJECT} have {size}")
    # Counted without decoding, which a hostile object could make slow; commas in texts count too.
    if encoded.count(b",") > MAX_CONTENT_VALUES:
        raise TooMuchContent(f"{SUBJECT} have more than {MAX_CONTENT_VALUES} values")
    if encoded.count(b"[") + encoded.count(b"{") > MAX_CONTENT_LEVELS and _is_deep(encoded):
        raise TooMuchContent(TOO_DEEP)
    return encoded


def _is_deep(encoded: bytes) -> bool:
    try:
        level: list[Any] = [msgspec.json.decode(encoded)]
    except RecursionError:
        return True
    for _ in range(MAX_CONTENT_LEVELS):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for each in inner for value in each if isinstance(value, dict | list)]
        if not level:
            return False
    return True


def bounding(kept: type[ApiObject]) -> Callable[[ApiObject], ApiObject]:
    """
    Return the function that leaves out the content of an object of which there is too much.

    *kept*: the type of the objects. What remains has the name, labels, owners and times.
    """
    metadata = next(each.type for each in msgspec.structs.fields(kept) if each.name == "metadata")
    shell: Any = msgspec.defstruct(
        f"{kept.__name__}WithoutContent",
        [("left_out", str, "")],
        bases=(kept,),
        kw_only=True,
    )
    named = [each.name for each in msgspec.structs.fields(Metadata)]

    def bounded(each: ApiObject) -> ApiObject:
        try:
            encode_content(each)
        except TooMuchContent as err:
            meta = metadata(**{name: getattr(each.metadata, name) for name in named})
            found: ApiObject = shell(metadata=meta, left_out=str(err))
            return found
        return each

    return bounded
