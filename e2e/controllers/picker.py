"""The inference extension's endpoint picker as a process, asked for its health as a kubelet asks."""

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from e2e.controllers.programs import PICKER
from e2e.controlplane import ControlPlane, assets
from e2e.controlplane.processes import Process
from tests.support.ports import free_port


SERVING, NOT_SERVING = "SERVING", "NOT_SERVING"
SERVICE = "inference-extension"
"""The service that both probes of its chart ask about, with one replica."""


@dataclass
class Picker:
    """A picker of a pool, with the rights of a kubeconfig."""

    plane: ControlPlane
    namespace: str
    pool: str
    health_port: int = field(default_factory=free_port)

    def start(self, kubeconfig: Path) -> Process:
        command = [
            assets.program(PICKER),
            f"--pool-namespace={self.namespace}",
            f"--pool-name={self.pool}",
            f"--grpc-port={free_port()}",
            f"--grpc-health-port={self.health_port}",
            f"--metrics-port={free_port()}",
            "--metrics-endpoint-auth=false",
            "--tracing=false",
        ]
        return self.plane.run(PICKER, command, {"KUBECONFIG": str(kubeconfig)})

    def health(self) -> str:
        """Return the answer to a probe, empty without one."""
        try:
            return check_health(self.health_port, SERVICE)
        except OSError:
            return ""


# --------------------------------------------------------------------
# One call of grpc.health.v1.Health/Check, in frames of HTTP/2 (RFC 9113) with plain headers (RFC 7541).


_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _SETTINGS = 0, 1, 4
_END_STREAM, _END_HEADERS = 1, 4
_STATUS = {b"\x08\x01": SERVING, b"\x08\x02": NOT_SERVING}
_PREFIX = 5
"""Bytes before each message of gRPC."""


def check_health(port: int, service: str) -> str:
    """Return the status of a service; empty if it is another, or an error. Raise OSError without a server."""
    name = service.encode()
    message = b"\x0a" + bytes([len(name)]) + name
    headers = (
        b"\x83\x86"  # POST, http
        + (b"\x04" + _text(b"/grpc.health.v1.Health/Check"))
        + (b"\x01" + _text(b"127.0.0.1"))
        + (b"\x0f\x10" + _text(b"application/grpc"))
        + (b"\x00" + _text(b"te") + _text(b"trailers"))
    )
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(
            _PREFACE
            + _frame(_SETTINGS, 0, 0, b"")
            + _frame(_HEADERS, _END_HEADERS, 1, headers)
            + _frame(_DATA, _END_STREAM, 1, b"\0" + struct.pack(">I", len(message)) + message)
        )
        for kind, flags, content in _frames(connection):
            if kind == _DATA:
                return _STATUS.get(content[_PREFIX:], "")
            if kind == _HEADERS and flags & _END_STREAM:
                return ""
    return ""


def _text(value: bytes) -> bytes:
    return bytes([len(value)]) + value


def _frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    return struct.pack(">I", len(content))[1:] + struct.pack(">BBI", kind, flags, stream) + content


def _frames(connection: socket.socket) -> Iterator[tuple[int, int, bytes]]:
    with connection.makefile("rb") as answer:
        while head := answer.read(9):
            length, kind, flags, _ = struct.unpack(">IBBI", b"\0" + head)
            yield kind, flags, answer.read(length)
