"""Requests, bytes and CPU in a window of time."""

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
    The cost of *seconds*: requests of the reporter and of *everybody*, bytes of the reporter.

    *cpu* and *server* are the CPU seconds of the reporter and of the API server.
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
    """Measures windows of time, with or without a reporter."""

    def __init__(self, plane: ControlPlane, proxy: CountingProxy) -> None:
        self._plane, self._proxy = plane, proxy
        self.audit = RequestAudit(plane)

    def measure(self, seconds: float, reporter: ReporterProcess | None = None) -> CostSample:
        self.audit.take_requests()
        everybody, bytes_before = all_requests(self._plane), self._proxy.byte_counts()
        begun, cpu, server = time.monotonic(), _cpu(reporter), self.server_cpu()
        time.sleep(seconds)
        took, cpu, server = (
            time.monotonic() - begun,
            _cpu(reporter) - cpu,
            self.server_cpu() - server,
        )
        after = self._proxy.byte_counts()
        counted = ByteCounts(
            after.sent - bytes_before.sent, after.received - bytes_before.received
        )
        requests = self.audit.take_requests()
        return CostSample(
            took, requests, all_requests(self._plane) - everybody, counted, cpu, server
        )

    def server_cpu(self) -> float:
        return ProcessUsage.of(self._plane.pids["kube-apiserver"]).cpu


def _cpu(reporter: ReporterProcess | None) -> float:
    return ProcessUsage.of(reporter.process.pid).cpu if reporter and reporter.process else 0
