"""
Measure the Job sidecar: the time from its start to its first look at the pod, and its memory.

The first look is the first request for the pod in the API server's audit log.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from e2e.bench.rows import BenchRow
from e2e.bench.support import program
from e2e.controlplane import ControlPlane, Options, until
from e2e.support import machine
from e2e.support.job_sidecar import ACCOUNT, WAIT_TIMEOUT, SidecarJob
from e2e.support.process_usage import ProcessUsage


GOAL_OF_LOOK = 2.0
"""Maximum seconds from the start of the process to its first look."""

GOAL_OF_MEMORY = 64.0
"""Maximum MiB, resident, at any moment."""

OPTIONS = replace(Options(), scheduler=False, kwok=False, audit=True)
NAMESPACE = "default"
RESULT = json.dumps(
    {"status": "success", "reason": "R", "message": "m", "details": list(range(100))}
)
HOSTILE = '{"details":[' + "[]," * 349_000 + '[]],"status":"success","reason":"Large"}'
"""Nearly a mebibyte, of as many values as fit into it."""


def main() -> int:
    parser = program.parser("job_status", __doc__, ("starts", 5, "starts to measure"))
    return program.run(parser.parse_args(), _rows)


def _rows(arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with ControlPlane(OPTIONS) as plane:
        print("\n".join(machine.lines(plane)))
        yield from measure(plane, arguments.starts)


def measure(plane: ControlPlane, starts: int) -> Iterator[BenchRow]:
    seconds, usages = [], []
    for _ in range(starts):
        with SidecarJob(plane, NAMESPACE) as job:
            took, usage = _run(job, RESULT, "R")
            seconds.append(took)
            usages.append(usage)
    seconds.sort()
    middle, peak = seconds[starts // 2], max(each.peak for each in usages)
    yield BenchRow(
        "Job sidecar: start to first look",
        f"≤ {GOAL_OF_LOOK:g} s",
        f"{middle:.2f} s",
        middle <= GOAL_OF_LOOK,
        f"the median of {starts}, {seconds[0]:.2f} to {seconds[-1]:.2f} s; "
        f"{max(each.cpu for each in usages):.1f} s of CPU until the result is written",
    )
    yield BenchRow(
        "Job sidecar: memory",
        f"≤ {GOAL_OF_MEMORY:g} MiB",
        f"{peak:.1f} MiB at most",
        peak <= GOAL_OF_MEMORY,
        "resident, until the result is written",
    )
    with SidecarJob(plane, NAMESPACE) as job:
        _, usage = _run(job, HOSTILE, "Large")
    yield BenchRow(
        "Job sidecar: memory with a hostile file",
        "",
        f"{usage.peak:.1f} MiB at most",
        note="1 MiB of 349,000 empty arrays in the details",
    )


def _run(job: SidecarJob, result: str, reason: str) -> tuple[float, ProcessUsage]:
    """Run one sidecar, which stays after its report as a native one does."""
    begun = time.time()
    job.start(NATIVE_SIDECAR="true")
    looked = until(lambda: _first_look(job), within=WAIT_TIMEOUT, what="a look at the pod")
    job.write_result(result)
    assert job.await_condition("Available")["reason"] == reason
    job.await_log("waiting for the end of the pod")
    assert job.process is not None
    usage = ProcessUsage.of(job.process.pid)
    job.process.stop()
    return looked - begun, usage


def _first_look(job: SidecarJob) -> float | None:
    """
    Return the Unix time at which the API server received the sidecar's first request for its pod.
    """
    user = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
    with suppress(ValueError):  # the last line may be written just now
        for entry in job.plane.audit():
            if entry["user"]["username"] == user and entry["requestURI"].startswith(job.pod_path):
                return datetime.fromisoformat(entry["requestReceivedTimestamp"]).timestamp()
    return None


if __name__ == "__main__":
    sys.exit(main())
