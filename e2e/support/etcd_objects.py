"""
Objects written past the API server, which would refuse them: too large, or of another shape.

etcd answers JSON over HTTP too. A custom resource is stored there as JSON.
"""

import base64
import http.client
import json
from typing import Any

from e2e.controlplane import ControlPlane, Json


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
    puts: list[Any] = [
        {"requestPut": {"key": coded(key), "value": coded(json.dumps(value))}}
        for key, value in values.items()
    ]
    for start in range(0, len(puts), OPERATIONS):
        call(plane, "txn", {"success": puts[start : start + OPERATIONS]})


def remove_all(plane: ControlPlane, prefix: str) -> None:
    """Delete all keys with this prefix."""
    call(plane, "deleterange", {"key": coded(prefix), "range_end": coded(prefix + "\x7f")})


OPERATIONS = 128
"""The largest number of operations in one transaction."""


def coded(value: str | bytes) -> str:
    """Encode a key or value in base64, as etcd's JSON gateway requires."""
    return base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()


def call(plane: ControlPlane, method: str, body: Json) -> Json:
    """Call etcd. Raises OSError for any status other than 200."""
    connection = http.client.HTTPConnection("127.0.0.1", plane.etcd_port, timeout=30)
    try:
        connection.request("POST", f"/v3/kv/{method}", json.dumps(body))
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    if response.status != http.client.OK:
        raise OSError(f"etcd {method}: HTTP {response.status}: {text[:300]}")
    answer: Json = json.loads(text)
    return answer
