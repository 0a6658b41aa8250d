"""
What one window of time brings the API server of requests and bytes, and what it costs whom.
"""

import time
from dataclasses import dataclass

from e2e.bench.asked import Audit, Requests, everybodys
from e2e.bench.relay import Bytes, Relay
from e2e.controlplane import ControlPlane
from e2e.faults.usage import Usage
from e2e.reporter_process import ReporterProcess


@dataclass(frozen=True)
class Window:
    """
    What *seconds* brought: by the reporter, and (*everybody*) by all. *cpu*: seconds of the
    reporter's processor, *server*: of the API server's.
    """

    seconds: float
    requests: Requests
    everybody: Requests
    bytes: Bytes
    cpu: float
    server: float

    def a_minute(self, figure: float) -> float:
        return figure * 60 / self.seconds


class Scales:
    """
    Weighs windows of time, one after the other, with or without the reporter.
    """

    def __init__(self, plane: ControlPlane, relay: Relay) -> None:
        self._plane, self._relay = plane, relay
        self.audit = Audit(plane)

    def weigh(self, seconds: float, reporter: ReporterProcess | None = None) -> Window:
        self.audit.taken()
        everybody, passed = everybodys(self._plane), self._relay.counted()
        begun, cpu, server = time.monotonic(), _cpu(reporter), self.server()
        time.sleep(seconds)
        took, cpu, server = time.monotonic() - begun, _cpu(reporter) - cpu, self.server() - server
        after = self._relay.counted()
        counted = Bytes(after.sent - passed.sent, after.received - passed.received)
        asked = self.audit.taken()
        return Window(took, asked, everybodys(self._plane) - everybody, counted, cpu, server)

    def server(self) -> float:
        return Usage.of(self._plane.pids["kube-apiserver"]).cpu


def _cpu(reporter: ReporterProcess | None) -> float:
    return Usage.of(reporter.process.pid).cpu if reporter and reporter.process else 0
