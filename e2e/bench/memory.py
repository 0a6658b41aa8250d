"""
Measure the memory of the real process: at each size, under churn, and after a mass deletion.

At the largest size the stack is changed all the time for some minutes, in which memory must not
grow; then all but one team is deleted, and what it took must be given back.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Iterator

from e2e.bench import churn
from e2e.bench.churn import churning
from e2e.bench.rows import BenchRow
from e2e.bench.support.bench_cluster import (
    BenchCluster,
    RunningReporter,
    log_progress,
    parser,
    run_program,
)


GOALS = {100: 80, 1_000: 100, 10_000: 256}
"""
MiB, by how many InferenceSets there are at most.
"""

SAMPLE = 5.0
"""
Seconds between two looks at the memory.
"""

GROWTH = 0.03
"""
By how much of it memory may differ between the begin and the end of the churn to be called flat.
"""

RETURNED = 0.5
"""
How much of what the objects took must be given back at least.
"""

MIN_MEASURABLE_MIB = 10.0
"""
MiB that objects must have taken for their share to tell anything.
"""

RELEASE_SECONDS = 11 * 60.0
"""
Seconds in which memory comes down: between what was freed lies what open watches hold, each of which
ends after ten minutes at most.
"""


def main() -> int:
    made = parser("memory", __doc__, (100, 1_000))
    add_arguments(made)
    churn.add_arguments(made)
    return run_program(made.parse_args(), measure)


def add_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--minutes",
        type=int,
        default=20,
        help="of churn, before the mass deletion; 0: neither; default: 20",
    )


def measure(scene: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with scene.running_reporter() as started:
        yield at_rest(scene, started)
    if scene.size >= max(arguments.inferencesets):
        yield from at_the_largest(scene, arguments)


def at_the_largest(scene: BenchCluster, arguments: argparse.Namespace) -> Iterator[BenchRow]:
    """
    Of one process, and the last that can be measured: little is left of the stack.
    """
    if arguments.minutes <= 0:
        return
    with scene.running_reporter() as started:
        yield under_churn(scene, started, minutes=arguments.minutes, rate=arguments.rate)
        yield after_deletion(scene, started)


def at_rest(scene: BenchCluster, started: RunningReporter) -> BenchRow:
    """
    After the first pass and what is tidied up then.
    """
    time.sleep(SAMPLE)
    used = started.usage()
    goal = next((mib for size, mib in GOALS.items() if scene.size <= size), None)
    return BenchRow(
        f"memory, {scene.size:,} InferenceSets",
        f"≤ {goal} MiB" if goal else "",
        f"{used.memory:.0f} MiB (at most {used.peak:.0f} MiB)",
        used.memory <= goal if goal else None,
        "resident, after the start; in brackets the most of it during the start",
    )


def under_churn(
    scene: BenchCluster, started: RunningReporter, *, minutes: int, rate: int
) -> BenchRow:
    """
    The second quarter of the time is compared with the last: in the first, memory settles.
    """
    seen: list[float] = []
    end = time.monotonic() + minutes * 60
    with churning(scene.plane.client, scene.teams.count, rate) as made:
        while time.monotonic() < end:
            time.sleep(SAMPLE)
            seen.append(started.usage().memory)
            if not len(seen) % 12:
                log_progress(f"{seen[-1]:.0f} MiB after {made()} changes")
        changes = made()
    quarter = len(seen) // 4
    early, late = (statistics.mean(seen[at:][:quarter]) for at in (quarter, len(seen) - quarter))
    return BenchRow(
        f"memory under churn, {scene.size:,} InferenceSets",
        f"flat: ± {GROWTH:.0%}",
        f"{early:.1f} MiB early, {late:.1f} MiB late",
        late <= early * (1 + GROWTH),
        f"{changes:,} changes in {minutes} min; second quarter beside the last",
    )


def after_deletion(scene: BenchCluster, started: RunningReporter) -> BenchRow:
    before, size = started.usage().memory, scene.size
    scene.teams.shrink(0)
    begun = time.monotonic()
    with scene.running_reporter(name="other", follows=True) as fresh:
        alone = fresh.usage().memory
    took = before - alone
    until = time.monotonic() + (RELEASE_SECONDS if took > MIN_MEASURABLE_MIB else SAMPLE)
    after, share = before, 0.0
    while share < RETURNED and time.monotonic() < until:
        time.sleep(SAMPLE)
        after = started.usage().memory
        share = (before - after) / took if took > MIN_MEASURABLE_MIB else 0.0
    return BenchRow(
        f"memory after a mass deletion, {size:,} → {scene.size:,} InferenceSets",
        f"≥ {RETURNED:.0%} of what the objects took is given back",
        f"{before:.0f} → {after:.0f} MiB, {share:.0%}",
        share >= RETURNED if took > MIN_MEASURABLE_MIB else None,
        f"after {(time.monotonic() - begun) / 60:.1f} min;"
        f" a process that is started then has {alone:.0f} MiB",
    )


if __name__ == "__main__":
    sys.exit(main())
