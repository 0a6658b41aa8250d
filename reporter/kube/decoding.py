"""
Decode JSON from others, and raise one type of error for all that can be wrong with it.

API servers store objects of some kinds with any depth of nesting, ten times deeper than the decoder
supports. Whoever may write one object must not be able to hide all others in its list.
"""

import re
from http import HTTPStatus
from typing import Any, TypeAlias, TypeVar

import msgspec

from reporter.kube.errors import Unreachable
from reporter.kube.plain_text import clean


Json: TypeAlias = dict[str, Any]
"""A JSON object as the API server reads or writes it."""

MAX_DEPTH = 100
"""Levels of nesting that are kept; no field that we read is half as deep."""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_OPENING, _CLOSING = frozenset(b"[{"), frozenset(b"]}")

T = TypeVar("T")


def decode_json(decoder: "msgspec.json.Decoder[T]", raw: bytes | msgspec.Raw) -> T:
    """
    Decode JSON, with null for what is nested too deep.

    Raises msgspec.DecodeError, also for text that is not UTF-8.
    """
    try:
        try:
            return decoder.decode(raw)
        except RecursionError:
            return decoder.decode(limit_depth(bytes(raw)))
    except UnicodeDecodeError as err:
        raise msgspec.DecodeError(str(err)) from err


def decode_response(
    decoder: "msgspec.json.Decoder[T]", body: bytes, operation: str, *, expected: str = ""
) -> T:
    """
    Decode the body of a response that reported success. *expected*: what it should be, for the message.

    Raises Unreachable, as a proxy or a version that we do not know has answered.
    """
    try:
        return decode_json(decoder, body)
    except msgspec.DecodeError as err:
        why = f"not {expected}: {err}" if expected else str(err)
        raise Unreachable(
            operation, status=HTTPStatus.OK, message=clean(why), may_have_applied=True
        ) from err


def limit_depth(raw: bytes) -> bytes:
    """Replace what is nested deeper than MAX_DEPTH by null; the JSON is not validated."""
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
