"""
Measure `status --from=cluster` and `dump`: the time from start to exit, the memory and the CPU.

It is the command as a user runs it, with the start of Python and the rendering of the whole
document. The API server has served the same lists before, as it has for its other clients. The floor
is a plain client that reads the same lists and decodes nothing.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from e2e.bench.rows import BenchRow
from e2e.bench.support import bare_list
from e2e.bench.support.bench_cluster import BenchCluster, parser, run_program
from e2e.controlplane import ControlPlane


GOAL, GOAL_SIZE = 5.0, 1_000
"""Maximum seconds, up to this number of InferenceSets."""

CPU_GOAL, CPU_GOAL_SIZE = 0.25, 10
"""Maximum seconds of processor time, of which nearly all is the start, up to this number."""
DUMP_GOAL = 200.0
"""Maximum MiB of a dump, at any size: it is written page by page."""

LIBRARIES = "import aiohttp, msgspec, yaml"

RUNS = 3
"""Runs of which the row shows the median."""


@dataclass(frozen=True)
class Asked:
    """One run: *took* and *cpu* in seconds, *memory* in MiB, the most of it."""

    took: float
    cpu: float
    memory: float


def main() -> int:
    return run_program(parser("one_shot", __doc__, (100, 1_000)).parse_args(), measure)


def measure(cluster: BenchCluster, _: argparse.Namespace) -> Iterator[BenchRow]:
    _ask(cluster)  # the API server has then served all lists once
    floor = bare_list.seconds(cluster.plane)
    runs = sorted((_ask(cluster) for _ in range(RUNS)), key=lambda each: each.took)
    middle = runs[RUNS // 2]
    has_goal = cluster.size <= GOAL_SIZE
    yield BenchRow(
        f"status --from=cluster, {cluster.size:,} InferenceSets",
        f"≤ {GOAL:g} s" if has_goal else "",
        f"{middle.took:.1f} s",
        middle.took <= GOAL if has_goal else None,
        f"floor {floor:.1f} s: the lists alone, by a bare client; {middle.cpu:.1f} s of CPU,"
        f" {max(each.memory for each in runs):.0f} MiB at most;"
        f" the median of {', '.join(f'{each.took:.1f}' for each in runs)} s",
    )
    if cluster.size <= CPU_GOAL_SIZE:
        least = min(each.cpu for each in runs)
        yield BenchRow(
            f"status --from=cluster, {cluster.size:,} InferenceSets: processor time",
            f"≤ {CPU_GOAL:g} s",
            f"{least:.2f} s",
            least <= CPU_GOAL,
            f"the least of {RUNS}; to import its libraries alone takes {_import_time():.2f} s",
        )
    yield _dump_row(cluster)


def _dump_row(cluster: BenchCluster) -> BenchRow:
    """Write a dump. Raise RuntimeError for one that has not all InferenceSets in it."""
    with tempfile.TemporaryFile() as dump:
        written = _run(cluster.plane, dump, "dump")
        size = os.fstat(dump.fileno()).st_size / 1e6
        dump.seek(0)
        found = sum(b'"kind":"InferenceSet"' in line for line in dump)
    if found != cluster.size:
        raise RuntimeError(f"the dump has {found} InferenceSets, and not {cluster.size}")
    return BenchRow(
        f"dump, {cluster.size:,} InferenceSets",
        f"≤ {DUMP_GOAL:g} MiB",
        f"{written.memory:.0f} MiB",
        written.memory <= DUMP_GOAL,
        f"{written.took:.1f} s, {written.cpu:.1f} s of CPU, a file of {size:.0f} MB",
    )


def _ask(cluster: BenchCluster) -> Asked:
    """Run the command. Raise RuntimeError for an answer that has not all InferenceSets in it."""
    with tempfile.TemporaryFile() as answer:
        asked = _run(cluster.plane, answer, "status", "--from=cluster", "--output=json")
        answer.seek(0)
        found = sum(len(each.get("inferenceSets", ())) for each in json.load(answer)["namespaces"])
    if found != cluster.size:
        raise RuntimeError(f"the answer has {found} InferenceSets, and not {cluster.size}")
    return asked


def _import_time() -> float:
    """Return the least processor time of a Python that imports the libraries, the floor of the command."""
    return min(_import_libraries() for _ in range(RUNS))


def _import_libraries() -> float:
    process = subprocess.Popen((sys.executable, "-c", LIBRARIES), stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _run(plane: ControlPlane, answer: IO[bytes], *argv: str) -> Asked:
    command = (sys.executable, "-m", "reporter.cli", *argv)
    environ = {**os.environ, "KUBECONFIG": str(plane.kubeconfig())}
    begun = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=answer, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        took, process.returncode = time.monotonic() - begun, os.waitstatus_to_exitcode(status)
        errors.seek(0)
        if process.returncode:
            raise RuntimeError(f"it ended with {process.returncode}: {errors.read().decode()}")
    # getrusage(2): the most resident memory is in KiB on Linux.
    return Asked(took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    sys.exit(main())
