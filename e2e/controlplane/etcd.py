"""Keys and values of etcd, which answers JSON over HTTP too. Both are in base64 there."""

import base64
import http.client
import json
import time
from collections.abc import Iterable, Iterator, Mapping

from e2e.controlplane.manifests import Json


OPERATIONS = 128
"""The largest number of operations in one transaction."""

TRIES = 10
"""The number of times that a request is sent to an etcd that gives it up."""

PAUSE = 0.5
"""Seconds between two of them."""

_BYTES = 1_000_000
"""The most that one request carries: etcd refuses 1.5 MiB."""


def coded(value: str | bytes) -> str:
    """Encode a key or value in base64, as etcd's JSON gateway requires."""
    return base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()


def with_prefix(prefix: str) -> Json:
    """Return the range of all keys with this prefix."""
    return {"key": coded(prefix), "range_end": coded(prefix + "\x7f")}


def read_all(port: int, prefixes: Iterable[str]) -> dict[str, str]:
    """Return the values by key, both encoded, of all keys with one of the prefixes, at one moment."""
    ranges = [{"requestRange": with_prefix(each)} for each in prefixes]
    answers = call(port, "txn", {"success": ranges})["responses"]
    found = [each["response_range"].get("kvs", []) for each in answers]
    return {pair["key"]: pair["value"] for pairs in found for pair in pairs}


def write_all(port: int, values: Mapping[str, str]) -> None:
    """Write encoded values by encoded key, in as few requests as possible."""
    for part in _parts(values):
        puts = [{"requestPut": {"key": key, "value": values[key]}} for key in part]
        call(port, "txn", {"success": puts})


def call(port: int, method: str, body: Json) -> Json:
    """
    Call etcd. Raises OSError for any status other than 200.

    On a busy machine etcd gives up a request after some seconds, with 503. It is sent again: none of them
    does more when it is done twice.
    """
    for _ in range(TRIES):
        status, text = _post(port, method, body)
        if status != http.client.SERVICE_UNAVAILABLE:
            break
        time.sleep(PAUSE)
    if status != http.client.OK:
        raise OSError(f"etcd {method}: HTTP {status}: {text[:300]}")
    answer: Json = json.loads(text)
    return answer


def _post(port: int, method: str, body: Json) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", f"/v3/kv/{method}", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def _parts(values: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield the keys in parts that one transaction has room for."""
    part: list[str] = []
    size = 0
    for key, value in values.items():
        if part and (len(part) == OPERATIONS or size + len(value) > _BYTES):
            yield part
            part, size = [], 0
        part.append(key)
        size += len(value)
    if part:
        yield part
