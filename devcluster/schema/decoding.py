"""
Decoding of built-in objects as Go's types do it: unknown fields and nulls go, times are rounded.

A value that does not fit its field is refused, so that tests notice a wrong request.
"""

from collections.abc import Callable
from typing import Any

from devcluster.schema import times
from devcluster.schema.api_errors import Json
from devcluster.schema.kinds import ServedKind


class FieldDecodeError(ValueError):
    """A value that does not fit its field, with the text of Go's decoder."""


FieldReader = Callable[[Any, str], Any]


def _time_reader(layout: str, write: Callable[[Any], str]) -> FieldReader:
    def read(value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise FieldDecodeError(
                f"json: cannot unmarshal {_json_type(value)} into Go value of type string"
            )
        try:
            return write(times.parse_time(value, layout))
        except times.TimeParseError as err:
            raise FieldDecodeError(str(err)) from err

    return read


def _read_integer(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        actual = f"number {value}" if isinstance(value, float) else _json_type(value)
        raise FieldDecodeError(
            f"json: cannot unmarshal {actual} into Go struct field {name} of type int32"
        )
    return value


def _read_string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        actual = _json_type(value)
        raise FieldDecodeError(
            f"json: cannot unmarshal {actual} into Go struct field {name} of type string"
        )
    return value


def _json_type(value: object) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


_read_micro_time = _time_reader(times.MICRO_TIME_LAYOUT, times.format_micro_time)
_read_time = _time_reader(times.TIME_LAYOUT, times.format_time)

_FIELD_READERS: dict[str, dict[str, FieldReader]] = {
    "events": {
        "eventTime": _read_micro_time,
        "series.lastObservedTime": _read_micro_time,
        "firstTimestamp": _read_time,
        "lastTimestamp": _read_time,
        "count": _read_integer,
        "series.count": _read_integer,
        **dict.fromkeys(
            ("message", "reason", "type", "action", "reportingComponent", "reportingInstance"),
            _read_string,
        ),
    },
    "leases.coordination.k8s.io": {
        "spec.acquireTime": _read_micro_time,
        "spec.renewTime": _read_micro_time,
        "spec.leaseDurationSeconds": _read_integer,
        "spec.leaseTransitions": _read_integer,
        "spec.holderIdentity": _read_string,
    },
    "deployments.apps": {"spec.replicas": _read_integer},
    "replicasets.apps": {"spec.replicas": _read_integer},
}
_KNOWN_FIELDS = {
    "events": frozenset(
        {
            "metadata", "involvedObject", "reason", "message", "source", "firstTimestamp",
            "lastTimestamp", "count", "type", "eventTime", "series", "action", "related",
            "reportingComponent", "reportingInstance",
        }
    ),
    "leases.coordination.k8s.io": frozenset({"metadata", "spec"}),
}  # fmt: skip
_STRUCT_NAMES = {"": "Event", "series": "EventSeries.series", "spec": "{kind}Spec.spec"}


def decode_typed(kind: ServedKind, value: Json) -> Json:
    """
    Return the object as a typed server stores it; custom resources stay as they are.

    Raise FieldDecodeError if a value does not fit its field.
    """
    if kind.is_custom:
        return value
    known_fields = _KNOWN_FIELDS.get(kind.group_resource)
    value = {
        k: drop_nulls(v)
        for k, v in value.items()
        if v is not None and _is_known_field(k, known_fields)
    }
    for path, read in _FIELD_READERS.get(kind.group_resource, {}).items():
        _decode_field(value, path, read, kind)
    return value


def _is_known_field(key: str, known: frozenset[str] | None) -> bool:
    return known is None or key in known or key in {"kind", "apiVersion"}


def drop_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {k: drop_nulls(v) for k, v in value.items() if v is not None}
        case list():
            return [drop_nulls(item) for item in value]
        case _:
            return value


def _decode_field(value: Json, path: str, read: FieldReader, kind: ServedKind) -> None:
    *parents, last = path.split(".")
    holder: Any = value
    for part in parents:
        holder = holder.get(part) if isinstance(holder, dict) else None
    if isinstance(holder, dict) and last in holder:
        struct = _STRUCT_NAMES[parents[0] if parents else ""].format(kind=kind.kind)
        holder[last] = read(holder[last], f"{struct}.{last}")
