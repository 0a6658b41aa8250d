"""
Measure what the metrics page costs while no InferenceSet is clear: time, bytes and series.

The event loop only collects the samples; a thread formats them.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

from e2e.bench import rows
from e2e.bench.rows import BenchRow
from e2e.support.arguments import natural
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.evaluation.registry import SPECS
from reporter.settings import FLAG_NAMES
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import leading_metrics
from tests.support.outage import outage


COLLECT_GOAL, PAGE_GOAL = 0.25, 2.5
"""Seconds of the event loop, and of all of a scrape: Prometheus gives up after 10 s by default."""

MEBIBYTE = 2**20


def main() -> int:
    arguments = _arguments()
    found = rows.collect(measure(arguments.inferencesets), arguments.json)
    return rows.report(found) and int(arguments.check)


def measure(inference_sets: int) -> list[BenchRow]:
    """Return the cost of the first scrape after all broke, and of one after that."""
    metrics = leading_metrics(load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES))
    metrics.follow(finished_pass(outage(inference_sets)))
    found = []
    for when in ("first", "next"):
        begun = time.perf_counter()
        encode = metrics.expose("").encode
        collected = time.perf_counter()
        page = encode()
        took = time.perf_counter() - begun
        series = sum(line[:1] not in {b"#", b""} for line in page.splitlines())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEBIBYTE
        found += [
            BenchRow(
                f"Metrics page, {inference_sets:,} InferenceSets not clear, {when} scrape: event loop",
                f"≤ {COLLECT_GOAL * 1000:.0f} ms",
                f"{(collected - begun) * 1000:.0f} ms",
                collected - begun <= COLLECT_GOAL,
            ),
            BenchRow(
                f"Metrics page, {inference_sets:,} InferenceSets not clear, {when} scrape: whole page",
                f"≤ {PAGE_GOAL:.1f} s",
                f"{took:.2f} s",
                took <= PAGE_GOAL,
                f"{series:,} series, {len(page) / MEBIBYTE:.1f} MiB; peak memory of this process "
                f"{peak:.0f} MiB",
            ),
        ]
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inferencesets", type=natural, default=10_000)
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
