"""
Objects written past the API server, which would refuse them: too large, or of another shape.

etcd answers JSON over HTTP too. A custom resource is stored there as JSON.
"""

import base64
import http.client
import json
from typing import Any

from e2e.controlplane import ControlPlane, Json


ROOM = ("--max-request-bytes=16777216",)
"""
Flags of etcd with which one request may be 16 MiB and not 1.5.
"""


def read(plane: ControlPlane, key: str) -> Json:
    """
    Raises LookupError where nothing is.
    """
    found = _call(plane, "range", {"key": _coded(key)}).get("kvs")
    if not found:
        raise LookupError(f"etcd has no {key}")
    value: Json = json.loads(base64.b64decode(found[0]["value"]))
    return value


def write(plane: ControlPlane, key: str, value: Json) -> None:
    _call(plane, "put", {"key": _coded(key), "value": _coded(json.dumps(value))})


def write_all(plane: ControlPlane, values: dict[str, Json]) -> None:
    """
    In as few requests as may be.
    """
    puts: list[Any] = [
        {"requestPut": {"key": _coded(key), "value": _coded(json.dumps(value))}}
        for key, value in values.items()
    ]
    for start in range(0, len(puts), _OPERATIONS):
        _call(plane, "txn", {"success": puts[start : start + _OPERATIONS]})


def remove_all(plane: ControlPlane, prefix: str) -> None:
    """
    All keys that begin so.
    """
    _call(plane, "deleterange", {"key": _coded(prefix), "range_end": _coded(prefix + "\x7f")})


_OPERATIONS = 128
"""
The most that one transaction may have.
"""


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _call(plane: ControlPlane, method: str, body: Json) -> Json:
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
