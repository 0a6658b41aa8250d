"""
Decode the JSON of a result file.

The file is hostile input: any container that mounts the volume may write it. What Go's encoding/json
accepts is accepted, as adapters were written against it: keys in any case, the last of several, null
as absent, and U+FFFD for what is not UTF-8. No text of the file becomes part of an error.
"""

import json
import re
from typing import Any

from reporter.job.observations import ValidResult
from reporter.job.result import InvalidFieldError, make_result
from reporter.kube.decoding import limit_depth


_FIELDS = frozenset({"status", "reason", "message"})
_SURROGATE = re.compile("[\ud800-\udfff]")
_TYPE_NAMES = {bool: "boolean", int: "number", list: "array"}


class ResultFormatError(ValueError):
    """The text of a file is no result."""


class _Object(list[tuple[str, Any]]):
    """The pairs of a JSON object that may be fields of a result; of all others nothing is kept."""


_EMPTY = _Object()


def parse_result(raw: bytes) -> ValidResult:
    """Raise ResultFormatError with what is wrong."""
    found = _decode(raw)
    if found is None:
        found = _EMPTY
    if not isinstance(found, _Object):
        raise ResultFormatError(f"failed to parse JSON: must be an object, not {_type(found)}")
    fields = dict.fromkeys(_FIELDS, "")
    for name, value in found:
        if value is not None and not isinstance(value, str):
            wrong = f"{name.lower()}: must be a string, not {_type(value)}"
            raise ResultFormatError(f"failed to parse JSON: {wrong}")
        if value is not None:
            fields[name.lower()] = _SURROGATE.sub("\ufffd", value)
    try:
        return make_result(fields["status"], fields["reason"], fields["message"])
    except InvalidFieldError as err:
        raise ResultFormatError(f"invalid result format: {err}") from err


def _decode(raw: bytes) -> Any:
    try:
        try:
            return _load(raw)
        except RecursionError:
            # Only details can be nested that deep, and they are never read.
            return _load(limit_depth(raw))
    except json.JSONDecodeError as err:
        raise ResultFormatError(f"failed to parse JSON: {_explain(err)}") from err
    except (ValueError, RecursionError) as err:
        raise ResultFormatError("failed to parse JSON: it has a value that is not JSON") from err


def _load(raw: bytes) -> Any:
    return json.loads(
        raw.decode("utf-8", "surrogateescape"),
        object_pairs_hook=_kept_pairs,
        parse_int=_zero,
        parse_float=_zero,
        parse_constant=_refuse_constant,
    )


def _kept_pairs(pairs: list[tuple[str, Any]]) -> _Object:
    kept = [(name, value) for name, value in pairs if name.lower() in _FIELDS]
    return _Object(kept) if kept else _EMPTY


def _zero(_: str) -> int:
    # No number is read, and one of thousands of digits would be refused (sys.set_int_max_str_digits).
    return 0


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _explain(err: json.JSONDecodeError) -> str:
    if err.pos >= len(err.doc.rstrip()) or err.msg.startswith("Unterminated"):
        return "unexpected end of JSON input"
    return f"{err.msg[0].lower()}{err.msg[1:]}: line {err.lineno} column {err.colno}"


def _type(value: object) -> str:
    name = "object" if isinstance(value, _Object) else _TYPE_NAMES.get(type(value), "string")
    return f"{'an' if name[0] in 'ao' else 'a'} {name}"
