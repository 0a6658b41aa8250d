"""
Decode the JSON of a result file: its fields, with their rules, defaults and limits.

The file is hostile input: any container that mounts the volume may write it. What Go's encoding/json
accepts is accepted, as adapters were written against it: keys in any case, the last of several, null
as absent, and U+FFFD for what is not UTF-8. No text of the file becomes part of an error.
"""

import json
import re
from typing import Any, TypeAlias

from msgspec import Struct

from reporter.kube.decoding import limit_depth


class NoFile(Struct, frozen=True):
    """The observation that there is nothing at the path of the result file yet."""


class ValidResult(Struct, frozen=True):
    """A result file that is valid; *reason* and *message* are trimmed, cut and never empty."""

    is_success: bool
    reason: str
    message: str


class InvalidResult(Struct, frozen=True):
    """
    A file that cannot be read or is no result.

    *identity*: device, inode, size and time of change, which a rewritten file does not keep.
    """

    error: str
    identity: tuple[int, ...] = ()


FileObservation: TypeAlias = NoFile | ValidResult | InvalidResult


class ResultFormatError(ValueError):
    """
    The refusal of a result file that is no JSON of a result.

    Its text has no text of the file, which is hostile input.
    """


SUCCESS, FAILURE = "success", "failure"
DEFAULT_REASON = "NoReasonProvided"
DEFAULT_MESSAGE = "No message provided"
MAX_RESULT_REASON_BYTES = 128
MAX_RESULT_MESSAGE_BYTES = 1024
"""The longest message of a condition that is written, of 1,024 bytes as of an Event."""

GO_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""Characters that Go's strings.TrimSpace removes. Python's strip removes four more."""


def make_result(status: str, reason: str, message: str) -> ValidResult:
    """
    Return the result with its texts trimmed and cut; an empty one is replaced by its default.

    Raises ResultFormatError for another status than success and failure.
    """
    if status not in {SUCCESS, FAILURE}:
        raise ResultFormatError(
            f"invalid result format: status: must be either '{SUCCESS}' or '{FAILURE}'"
        )
    return ValidResult(
        status == SUCCESS,
        cut_bytes(reason.strip(GO_WHITE_SPACE) or DEFAULT_REASON, MAX_RESULT_REASON_BYTES),
        cut_bytes(message.strip(GO_WHITE_SPACE) or DEFAULT_MESSAGE, MAX_RESULT_MESSAGE_BYTES),
    )


def cut_bytes(text: str, limit: int) -> str:
    """Return at most *limit* bytes of UTF-8, cut between characters."""
    raw = text.encode()
    return text if len(raw) <= limit else raw[:limit].decode(errors="ignore")


# ---------------------------------------------------------------- JSON


_FIELDS = frozenset({"status", "reason", "message"})
_SURROGATE = re.compile("[\ud800-\udfff]")
_TYPE_NAMES = {bool: "boolean", int: "number", list: "array"}


class _Object(list[tuple[str, Any]]):
    """The pairs of a JSON object that may be fields of a result; of all others nothing is kept."""


_EMPTY = _Object()


def parse_result(raw: bytes) -> ValidResult:
    """
    Return the result that the bytes of a result file hold.

    Raises ResultFormatError for a text that is no JSON object, a field that is no string, and a status
    other than success and failure.
    """
    found = _decode(raw)
    found = _EMPTY if found is None else found
    if not isinstance(found, _Object):
        raise ResultFormatError(f"failed to parse JSON: must be an object, not {_type(found)}")
    fields = dict.fromkeys(_FIELDS, "")
    for name, value in found:
        if value is not None and not isinstance(value, str):
            wrong = f"{name.lower()}: must be a string, not {_type(value)}"
            raise ResultFormatError(f"failed to parse JSON: {wrong}")
        if value is not None:
            fields[name.lower()] = _SURROGATE.sub("\ufffd", value)
    return make_result(fields["status"], fields["reason"], fields["message"])


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
