"""
Measure the HealthEvent store: a plan over very many episodes, then a storm on a real API server.

The plan is made without an API server, of 10,000 running episodes and a full store. In the storm every
InferenceSet has a finding of its own when the reporter starts, and the objects are written within their
rate. With 10,000 InferenceSets that takes some fifteen minutes.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator

from e2e.bench import rows
from e2e.bench.rows import BenchRow
from e2e.controlplane import ControlPlane, assets, until
from e2e.support import health_events, machine
from e2e.support.arguments import natural
from e2e.support.process_usage import ProcessUsage
from e2e.support.production_stack import inference_sets
from e2e.support.reporter_process import ReporterProcess
from reporter.kinds.health_events import StoreLimits
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.health_events import StoreReplay
from tests.support.replay import Replay


PLAN_GOAL = 100.0
"""Maximum milliseconds of a plan, which is made at most twice a second."""

SIZE_GOAL = 4096
"""Maximum bytes of an object in the API, with its managedFields."""

WRITES_GOAL = 20 + 5 * 60
"""Maximum writes in a minute: the burst, and five a second."""

MEMORY_GOAL = 16.0
"""Maximum MiB that 10,000 episodes and 1,000 objects take in the store."""

EPISODES, ROUNDS = 10_000, 5


def main() -> int:
    arguments = _arguments()
    try:
        assets.find()
    except assets.AssetsMissing as err:
        print(err, file=sys.stderr)
        return 1
    found = [*_plan_rows()]
    number = arguments.inferencesets
    with (
        inference_sets.bare_plane(number) as plane,
        health_events.installed_crd(plane),
    ):
        print("\n".join(machine.lines(plane)), flush=True)
        found += _storm_rows(plane, number)
    return rows.report(rows.collect(found, arguments.json)) and int(arguments.check)


def _plan_rows() -> Iterator[BenchRow]:
    sets = [Subject(Layer.MODELDEPLOYMENT, f"team-{n}", "qwen") for n in range(EPISODES)]
    catalogue = a_catalogue(an_entry("inferencesetPods", layer=Layer.MODELDEPLOYMENT))
    replay = Replay(catalogue, subjects=frozenset({CLUSTER_SUBJECT, *sets}))
    replay.set_verdicts(*(an_active_verdict(a_key("inferencesetPods", each)) for each in sets))
    before = ProcessUsage.of(os.getpid()).memory
    store = StoreReplay(replay, StoreLimits())
    store.settle()
    memory = ProcessUsage.of(os.getpid()).memory - before
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        store.plan()
        taken.append((time.process_time() - start) * 1000)
    milliseconds = statistics.median(taken)
    note = f"{EPISODES:,} episodes, {len(store.existing):,} objects"
    yield BenchRow(
        "plan of the HealthEvent store",
        f"≤ {PLAN_GOAL:.0f} ms",
        f"{milliseconds:.0f} ms",
        milliseconds <= PLAN_GOAL,
        note,
    )
    yield BenchRow(
        "memory of the HealthEvent store",
        f"≤ {MEMORY_GOAL:.0f} MiB",
        f"{memory:.0f} MiB",
        memory <= MEMORY_GOAL,
        f"{note}, and a plan of them",
    )


def _storm_rows(plane: ControlPlane, number: int) -> Iterator[BenchRow]:
    client, note = plane.client, f"{number:,} findings at once"
    limit = StoreLimits().total
    for each in range(number):
        inference_sets.misconfigure(client, each)
    with ReporterProcess(plane, *health_events.FLAGS, "--startup-grace-seconds=0") as reporter:
        until(lambda: _writes(reporter) > 0, within=120, what="the first object")
        first = _writes(reporter)
        time.sleep(60)
        writes = _writes(reporter) - first
        yield BenchRow(
            "HealthEvent writes in a minute of a storm",
            f"≤ {WRITES_GOAL}",
            f"{writes:.0f}",
            writes <= WRITES_GOAL,
            note,
        )
        kept = min(number, limit)
        until(
            lambda: reporter.metric("store_objects", phase="Active") == kept,
            within=kept,
            what=f"{kept} objects are kept",
        )
        assert reporter.process is not None
        memory = ProcessUsage.of(reporter.process.pid).memory
        yield BenchRow(
            "reporter's memory in a storm with the store",
            "",
            f"{memory:.0f} MiB",
            None,
            f"{note}, {kept:,} objects; all of the process",
        )
    sizes = [len(json.dumps(each).encode()) for each in health_events.objects(client)]
    yield BenchRow(
        "HealthEvents in a storm", f"≤ {limit:,}", f"{len(sizes):,}", len(sizes) <= limit, note
    )
    yield BenchRow(
        "size of a HealthEvent",
        f"≤ {SIZE_GOAL} bytes",
        f"{max(sizes):,} bytes",
        max(sizes) <= SIZE_GOAL,
        f"the largest of {len(sizes):,}; mean {statistics.mean(sizes):,.0f}",
    )


def _writes(reporter: ReporterProcess) -> float:
    return reporter.metric("store_writes_total")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.bench.store",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--inferencesets", type=natural, default=1_000, help="size of the stack; default: 1000"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    rows.add_argument(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
