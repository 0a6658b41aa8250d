"""
What one window of time brings the API server of requests and bytes, and what it costs whom.
"""

import time
from dataclasses import dataclass

from e2e.bench.support.counting_proxy import ByteCounts, CountingProxy
from e2e.bench.support.request_audit import RequestAudit, Requests, all_requests
from e2e.controlplane import ControlPlane
from e2e.support.process_usage import ProcessUsage
from e2e.support.reporter_process import ReporterProcess


@dataclass(frozen=True)
class CostSample:
    """
    What *seconds* brought: by the reporter, and (*everybody*) by all. *cpu*: seconds of the
    reporter's processor, *server*: of the API server's.
    """

    seconds: float
    requests: Requests
    everybody: Requests
    bytes: ByteCounts
    cpu: float
    server: float

    def per_minute(self, figure: float) -> float:
        return figure * 60 / self.seconds


class CostMeter:
    """
    Weighs windows of time, one after the other, with or without the reporter.
    """

    def __init__(self, plane: ControlPlane, relay: CountingProxy) -> None:
        self._plane, self._relay = plane, relay
        self.audit = RequestAudit(plane)

    def measure(self, seconds: float, reporter: ReporterProcess | None = None) -> CostSample:
        self.audit.take_requests()
        everybody, passed = all_requests(self._plane), self._relay.byte_counts()
        begun, cpu, server = time.monotonic(), _cpu(reporter), self.server_cpu()
        time.sleep(seconds)
        took, cpu, server = (
            time.monotonic() - begun,
            _cpu(reporter) - cpu,
            self.server_cpu() - server,
        )
        after = self._relay.byte_counts()
        counted = ByteCounts(after.sent - passed.sent, after.received - passed.received)
        asked = self.audit.take_requests()
        return CostSample(took, asked, all_requests(self._plane) - everybody, counted, cpu, server)

    def server_cpu(self) -> float:
        return ProcessUsage.of(self._plane.pids["kube-apiserver"]).cpu


def _cpu(reporter: ReporterProcess | None) -> float:
    return ProcessUsage.of(reporter.process.pid).cpu if reporter and reporter.process else 0
