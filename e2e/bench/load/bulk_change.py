"""
Changes of many objects within seconds, written to etcd directly. The API server sends them to watches.

Each object is written in its own revision, as the API server does. A watch that breaks in the middle
of a transaction would continue after its revision and miss the rest of it.
"""

import base64
import copy
import http.client
import json
from collections.abc import Callable, Iterable, Iterator

from e2e.controlplane import ControlPlane, Json
from e2e.support.etcd_objects import coded


PAGE = 500
"""Maximum objects in a page of a read."""


class BulkChange:
    """
    A prepared change of all objects below *prefix*; *changed* changes a copy of each in place.
    """

    def __init__(self, plane: ControlPlane, prefix: str, changed: Callable[[Json], None]) -> None:
        self._port = plane.etcd_port
        stored = list(self._stored(prefix))
        self.objects = len(stored)
        self._before = list(_bodies(stored))
        self._after = list(_bodies([(key, _altered(value, changed)) for key, value in stored]))

    def write_first_half(self) -> None:
        self._send(self._after[: len(self._after) // 2])

    def write_second_half(self) -> None:
        self._send(self._after[len(self._after) // 2 :])

    def undo(self) -> None:
        """Restore all objects."""
        self._send(self._before)

    def _send(self, bodies: list[bytes]) -> None:
        put_all(self._port, bodies)

    def _stored(self, prefix: str) -> Iterator[tuple[str, Json]]:
        start, connection = prefix, http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        while True:
            query = {"key": coded(start), "range_end": coded(prefix + "\x7f"), "limit": PAGE}
            connection.request("POST", "/v3/kv/range", json.dumps(query))
            answer = json.loads(connection.getresponse().read())
            for pair in answer.get("kvs", ()):
                start = base64.b64decode(pair["key"]).decode()
                yield start, json.loads(base64.b64decode(pair["value"]))
            if not answer.get("more"):
                return
            start += "\x00"


def _altered(value: Json, changed: Callable[[Json], None]) -> Json:
    value = copy.deepcopy(value)
    changed(value)
    return value


def _bodies(values: list[tuple[str, Json]]) -> Iterator[bytes]:
    return (body(key, value) for key, value in values)


def body(key: str, value: Json) -> bytes:
    return json.dumps({"key": coded(key), "value": coded(json.dumps(value))}).encode()


def put_all(etcd_port: int, bodies: Iterable[bytes]) -> None:
    """Write objects one after the other over one connection."""
    _send(etcd_port, "put", bodies)


def delete_all(etcd_port: int, keys: Iterable[str]) -> None:
    _send(etcd_port, "deleterange", (json.dumps({"key": coded(key)}).encode() for key in keys))


def _send(etcd_port: int, method: str, bodies: Iterable[bytes]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", etcd_port, timeout=60)
    for content in bodies:
        connection.request("POST", f"/v3/kv/{method}", content)
        response = connection.getresponse()
        answer = response.read()
        if response.status != http.client.OK:
            raise OSError(f"etcd: HTTP {response.status}: {answer[:300]!r}")
    connection.close()
