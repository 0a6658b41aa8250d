"""
JSON of others to our types; whatever is wrong with it is one error.

An API server lets objects of some kinds nest as deep as JSON may, ten times deeper than a decoder
goes, and whoever may write one object must not be able to hide all others in its list.
"""

import re
from typing import TypeVar

import msgspec


MAX_DEPTH = 100
"""
Levels; nothing that is read of any object lies half as deep.
"""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")

T = TypeVar("T")


def decode_json(decoder: "msgspec.json.Decoder[T]", raw: bytes | msgspec.Raw) -> T:
    """
    Raises msgspec.DecodeError, also for text that is not UTF-8. What is nested too deep is null.
    """
    try:
        try:
            return decoder.decode(raw)
        except RecursionError:
            return decoder.decode(limit_depth(bytes(raw)))
    except UnicodeDecodeError as err:
        raise msgspec.DecodeError(str(err)) from err


def limit_depth(raw: bytes) -> bytes:
    """
    The same JSON with null for what lies deeper than DEEPEST; no check that it is any.
    """
    kept, depth, begin = [], 0, 0
    for found in _TOKEN.finditer(raw):
        mark = raw[found.start()]
        if mark in _OPENING:
            depth += 1
            if depth == MAX_DEPTH + 1:
                kept += [raw[begin : found.start()], b"null"]
        elif mark in _CLOSING:
            if depth == MAX_DEPTH + 1:
                begin = found.end()
            depth -= 1
    return b"".join(kept if depth > MAX_DEPTH else [*kept, raw[begin:]])
