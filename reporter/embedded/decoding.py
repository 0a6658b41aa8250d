"""
What reading into Go's types does to built-in objects: what it refuses, drops, rounds and fills in.
"""

from collections.abc import Callable
from typing import Any

from reporter.embedded import times
from reporter.embedded.kinds import Kind
from reporter.embedded.statuses import Json


class DecodeError(ValueError):
    """
    What Go says about a value that does not fit its field.
    """


Reader = Callable[[Any, str], Any]


def _time(layout: str, write: Callable[[Any], str]) -> Reader:
    def read(value: Any, name: str) -> str:
        if not isinstance(value, str):
            raise DecodeError(
                f"json: cannot unmarshal {_json_name(value)} into Go value of type string"
            )
        try:
            return write(times.parse(value, layout))
        except times.TimeError as err:
            raise DecodeError(str(err)) from err

    return read


def _integer(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        what = f"number {value}" if isinstance(value, float) else _json_name(value)
        raise DecodeError(
            f"json: cannot unmarshal {what} into Go struct field {name} of type int32"
        )
    return value


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        what = _json_name(value)
        raise DecodeError(
            f"json: cannot unmarshal {what} into Go struct field {name} of type string"
        )
    return value


def _json_name(value: object) -> str:
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


_micro = _time(times.MICRO, times.micro)
_seconds = _time(times.SECONDS, times.seconds)

_FIELDS: dict[str, dict[str, Reader]] = {
    "events": {
        "eventTime": _micro,
        "series.lastObservedTime": _micro,
        "firstTimestamp": _seconds,
        "lastTimestamp": _seconds,
        "count": _integer,
        "series.count": _integer,
        **dict.fromkeys(
            ("message", "reason", "type", "action", "reportingComponent", "reportingInstance"),
            _string,
        ),
    },
    "leases.coordination.k8s.io": {
        "spec.acquireTime": _micro,
        "spec.renewTime": _micro,
        "spec.leaseDurationSeconds": _integer,
        "spec.leaseTransitions": _integer,
        "spec.holderIdentity": _string,
    },
    "deployments.apps": {"spec.replicas": _integer},
    "replicasets.apps": {"spec.replicas": _integer},
    "statefulsets.apps": {"spec.replicas": _integer},
}
_KNOWN = {
    "events": frozenset(
        {
            "metadata", "involvedObject", "reason", "message", "source", "firstTimestamp",
            "lastTimestamp", "count", "type", "eventTime", "series", "action", "related",
            "reportingComponent", "reportingInstance",
        }
    ),
    "leases.coordination.k8s.io": frozenset({"metadata", "spec"}),
}  # fmt: skip
_STRUCTS = {"": "Event", "series": "EventSeries.series", "spec": "{kind}Spec.spec"}


def decoded(kind: Kind, value: Json) -> Json:
    """
    The object as a typed server would hold it; custom resources stay as they are.

    DecodeError with Go's words where a value does not fit.
    """
    if kind.custom:
        return value
    known = _KNOWN.get(kind.qualified)
    value = {k: without_nulls(v) for k, v in value.items() if v is not None and _kept(k, known)}
    for path, read in _FIELDS.get(kind.qualified, {}).items():
        _apply(value, path, read, kind)
    return value


def _kept(key: str, known: frozenset[str] | None) -> bool:
    return known is None or key in known or key in {"kind", "apiVersion"}


def without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {k: without_nulls(v) for k, v in value.items() if v is not None}
        case list():
            return [without_nulls(item) for item in value]
        case _:
            return value


def _apply(value: Json, path: str, read: Reader, kind: Kind) -> None:
    *parents, last = path.split(".")
    holder: Any = value
    for part in parents:
        holder = holder.get(part) if isinstance(holder, dict) else None
    if isinstance(holder, dict) and last in holder:
        struct = _STRUCTS[parents[0] if parents else ""].format(kind=kind.kind)
        holder[last] = read(holder[last], f"{struct}.{last}")
