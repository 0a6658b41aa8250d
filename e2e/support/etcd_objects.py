"""
Objects written past the API server, which would refuse them: too large, or of another shape.

A custom resource is stored in etcd as JSON.
"""

import base64
import json

from e2e.controlplane import ControlPlane, Json, etcd
from e2e.controlplane.etcd import OPERATIONS, coded


__all__ = [
    "LARGE_REQUEST_FLAGS",
    "OPERATIONS",
    "call",
    "coded",
    "read",
    "remove_all",
    "write",
    "write_all",
]


LARGE_REQUEST_FLAGS = ("--max-request-bytes=16777216",)
"""Flags of etcd with which one request may be 16 MiB and not 1.5."""


def read(plane: ControlPlane, key: str) -> Json:
    """Return the stored object. Raises LookupError if there is none."""
    found = call(plane, "range", {"key": coded(key)}).get("kvs")
    if not found:
        raise LookupError(f"etcd has no {key}")
    value: Json = json.loads(base64.b64decode(found[0]["value"]))
    return value


def write(plane: ControlPlane, key: str, value: Json) -> None:
    call(plane, "put", {"key": coded(key), "value": coded(json.dumps(value))})


def write_all(plane: ControlPlane, values: dict[str, Json]) -> None:
    """Write all values in as few requests as possible."""
    etcd.write_all(
        plane.etcd_port, {coded(key): coded(json.dumps(value)) for key, value in values.items()}
    )


def remove_all(plane: ControlPlane, prefix: str) -> None:
    """Delete all keys with this prefix."""
    call(plane, "deleterange", etcd.with_prefix(prefix))


def call(plane: ControlPlane, method: str, body: Json) -> Json:
    """Call etcd. Raises OSError for any status other than 200."""
    return etcd.call(plane.etcd_port, method, body)
