"""
The cost of the status in a window of time: looks at single objects, writes of status objects, CPU.
"""

import time
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from e2e.bench.support.request_audit import RequestAudit, received_at
from e2e.bench.support.spans import most_within
from e2e.controlplane import ControlPlane, Json
from e2e.support.process_usage import ProcessUsage
from e2e.support.reporter_process import ReporterProcess


STATUS_OBJECTS = "productionstackstatuses"


@dataclass(frozen=True)
class StatusCost:
    """
    *looks* and *writes*: when the API server received them. *cpu*: seconds a minute. *memory*: MiB
    at the end.
    """

    looks: list[float]
    writes: list[float]
    cpu: float
    memory: float

    def looks_in_busiest_minute(self) -> int:
        return most_within(self.looks, 60)

    def writes_within(self, seconds: float) -> int:
        return most_within(self.writes, seconds)


class StatusCostMeter:
    """Measures a running reporter, from the audit log of the control plane."""

    def __init__(self, plane: ControlPlane, reporter: ReporterProcess) -> None:
        assert reporter.process is not None
        self._pid, self._audit = reporter.process.pid, RequestAudit(plane)

    def measure(self, seconds: float) -> StatusCost:
        """Measure the next *seconds*."""
        self.begin()
        time.sleep(seconds)
        return self.end()

    def begin(self) -> None:
        self._audit.take_entries()
        self._begun, self._cpu = time.monotonic(), ProcessUsage.of(self._pid).cpu

    def end(self) -> StatusCost:
        """Return the cost since *begin*."""
        usage, seconds = ProcessUsage.of(self._pid), time.monotonic() - self._begun
        entries = self._audit.take_entries()
        return StatusCost(
            sorted(received_at(each) for each in entries if is_look(each)),
            sorted(received_at(each) for each in entries if is_status_write(each)),
            (usage.cpu - self._cpu) * 60 / seconds,
            usage.memory,
        )


def is_look(entry: Json) -> bool:
    """Return whether a request lists one object by its name, as the second look does."""
    selectors = parse_qs(urlsplit(entry["requestURI"]).query).get("fieldSelector", [])
    return entry["verb"] == "list" and any(s.startswith("metadata.name=") for s in selectors)


def is_status_write(entry: Json) -> bool:
    reference = entry.get("objectRef", {})
    return (
        entry["verb"] == "patch"
        and reference.get("resource") == STATUS_OBJECTS
        and reference.get("subresource") == "status"
    )
