"""
Measure the cost of evaluation without an API server: probes and stages for each InferenceSet.

A store is filled with the example stack and healthy InferenceSets, decoded as from a list. Then all
subjects are evaluated, one subject alone, and each probe alone. Each figure is CPU time, the median
of several rounds.
"""

import argparse
import datetime as dt
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from msgspec.structs import replace

from e2e.bench.rows import BenchRow
from e2e.bench.support import program
from e2e.bench.support.filled_store import filled_store
from e2e.bench.support.rollups import measure_rollup
from e2e.support import machine
from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.probe_run import prepare_probe_run
from reporter.evaluation.registry import PROBES, SPECS
from reporter.kinds.core import PODS
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.settings import FLAG_NAMES
from reporter.settings import load_settings as settings
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import ALL_LAYERS, expand_placeholders
from reporter.store.store import Store


FULL_GOAL, SECOND_GOAL, SIZE_OF_GOAL = 0.5, 1.25, 10_000
"""
Maximum seconds of a full pass over this many InferenceSets; and of the second one, which looks at all and
notes what it reads.
"""

CHANGED = 100
"""One pod of this many changes between two passes."""

SINGLE_GOAL = 1.0
"""Maximum milliseconds for one subject that has changed."""

ROLLUP_SHARE = 0.15
"""Maximum cost of rolling up the status of all subjects, as a share of the pass before it."""

LINEAR = 1.5
"""Maximum ratio of the cost of one InferenceSet at two sizes."""

ONE = Subject(Layer.MODELDEPLOYMENT, "team-0", "model-0")


@dataclass
class PassTimings:
    """
    CPU seconds of one size.

    *full_pass*: after one that found the same. *whole_pass*: one that knows of no subject that it is
    clear. *after_changes*: one pod of CHANGED is another one. *probing* is all probes on all subjects;
    *probes* has each one alone, with its number of subjects. *rollup* and *rollup_single* are what the
    status adds to the two passes.
    """

    objects: int
    loaded: float
    full_pass: float
    whole_pass: float
    after_changes: float
    single: float
    probing: float
    rollup: float
    rollup_single: float
    probes: dict[str, tuple[float, int]] = field(default_factory=dict)


def main() -> int:
    parser = program.parser("passes", __doc__, ("rounds", 7, "rounds of each figure"))
    program.add_sizes(parser, (100, 1_000, 3_000, 10_000))
    return program.run(parser.parse_args(), _measured, on_control_plane=False)


def _measured(arguments: argparse.Namespace) -> Iterator[BenchRow]:
    evaluator = _evaluator()
    print("\n".join(machine.lines()))
    print(f"rounds    {arguments.rounds} of each, medians")
    sizes: dict[int, PassTimings] = {}
    for size in arguments.inferencesets:
        sizes[size] = measure(evaluator, size, arguments.rounds)
        print()
        print("\n".join(_lines(sizes[size], size)))
    print()
    yield from _rows(sizes)


def measure(evaluator: Evaluator, size: int, rounds: int) -> PassTimings:
    begun = time.thread_time()
    store, objects = filled_store(evaluator, size)
    loaded = time.thread_time() - begun
    now = dt.datetime.now(dt.UTC)
    snapshot = store.snapshot()
    evaluation = evaluator.evaluate(Evaluation(), snapshot, ALL_LAYERS, now=now)
    if evaluation.tracked.finding_states or evaluation.tracked.unknown_states:
        raise RuntimeError(
            f"the stack is not healthy: {next(iter(evaluation.tracked.finding_states), None)}"
        )
    nothing_known = evaluation
    evaluation = evaluator.evaluate(evaluation, snapshot, ALL_LAYERS, now=now)
    probe_run = prepare_probe_run(
        snapshot,
        evaluation.tracked,
        evaluator.catalogue,
        evaluator.probes,
        flags=evaluator.flags,
        now=now,
    )
    subjects = sorted(expand_placeholders(ALL_LAYERS, evaluation.subjects))
    _change_pods(store)
    changed = store.snapshot()
    return PassTimings(
        objects,
        loaded,
        full_pass=_median(
            lambda: evaluator.evaluate(evaluation, snapshot, ALL_LAYERS, now=now), rounds
        ),
        whole_pass=_median(
            lambda: evaluator.evaluate(nothing_known, snapshot, ALL_LAYERS, now=now), rounds
        ),
        after_changes=_median(
            lambda: evaluator.evaluate(evaluation, changed, ALL_LAYERS, now=now), rounds
        ),
        single=_median(
            lambda: evaluator.evaluate(evaluation, snapshot, frozenset({ONE}), now=now), rounds
        ),
        probing=_median(lambda: probe_run.run(subjects), rounds),
        **measure_rollup(evaluator, snapshot, evaluation, ONE, lambda fold: _median(fold, rounds)),
        probes=dict(_probe_timings(evaluator, snapshot, evaluation, rounds)),
    )


def _change_pods(store: Store) -> None:
    """Replace one pod of CHANGED by one with another generation."""
    for pod in islice(sorted(store.snapshot().all(PODS), key=str), 0, None, CHANGED):
        meta = pod.metadata
        store.upsert(PODS, replace(pod, metadata=replace(meta, generation=meta.generation + 1)))


def _probe_timings(
    evaluator: Evaluator, snapshot: Snapshot, evaluation: Evaluation, rounds: int
) -> Iterator[tuple[str, tuple[float, int]]]:
    now = dt.datetime.now(dt.UTC)
    for layer in Layer:
        subjects = sorted(each for each in evaluation.subjects if each.layer is layer)
        for entry in evaluator.catalogue.evaluated_entries(layer):
            one_entry = Catalogue({entry.reason: entry})
            probe_run = prepare_probe_run(
                snapshot,
                evaluation.tracked,
                one_entry,
                evaluator.probes,
                flags=evaluator.flags,
                now=now,
            )
            yield (
                entry.reason,
                (_median(lambda: probe_run.run(subjects), rounds), len(subjects)),  # noqa: B023
            )


# ---------------------------------------------------------------- evaluator


def _evaluator() -> Evaluator:
    catalogue = load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES)
    return Evaluator(catalogue, PROBES, settings([], {}).flag_texts, EvaluationSettings())


def _median(action: Callable[[], object], rounds: int) -> float:
    def once() -> float:
        begun = time.thread_time()
        action()
        return time.thread_time() - begun

    return statistics.median(once() for _ in range(rounds))


# ---------------------------------------------------------------- output


def _lines(timings: PassTimings, size: int) -> Iterator[str]:
    yield f"{size:,} InferenceSets, {timings.objects:,} objects"
    yield _row("full pass", timings.full_pass, size)
    yield _row(f"full pass, 1 pod in {CHANGED} changed", timings.after_changes, size)
    yield _row("second full pass, which looks at all", timings.whole_pass, size)
    yield _row("  probes", timings.probing, size)
    yield _row("  stages", timings.whole_pass - timings.probing, size)
    yield _row("  its roll-up", timings.rollup, size)
    yield f"{'  its roll-up':44}{timings.rollup_single * 1000:9.2f} ms for one dirty InferenceSet"
    yield f"{'one dirty InferenceSet':44}{timings.single * 1000:9.2f} ms"
    yield f"{'decoded and stored':44}{timings.loaded * 1000:9.1f} ms"
    slowest = sorted(timings.probes.items(), key=lambda item: -item[1][0])
    for reason, (seconds, subjects) in slowest:
        yield _row(reason, seconds, subjects)


def _rows(sizes: Mapping[int, PassTimings]) -> Iterator[BenchRow]:
    note = "processor time, without an API server"
    for size, timings in sizes.items():
        over = f"over {size:,} InferenceSets"
        for name, seconds, goal in (
            (f"full pass {over}, {timings.objects:,} objects", timings.full_pass, FULL_GOAL),
            (f"full pass {over}, 1 pod in {CHANGED} changed", timings.after_changes, FULL_GOAL),
            (f"second full pass {over}, which looks at all", timings.whole_pass, SECOND_GOAL),
        ):
            is_judged = size == SIZE_OF_GOAL
            yield BenchRow(
                name,
                f"≤ {goal:g} s" if is_judged else "",
                f"{seconds:.2f} s, {seconds / size * 1e6:.0f} µs each",
                seconds <= goal if is_judged else None,
                note,
            )
    largest = max(sizes)
    share = sizes[largest].rollup / sizes[largest].whole_pass
    yield BenchRow(
        f"status of {largest:,} InferenceSets after a full pass",
        f"≤ {ROLLUP_SHARE:.0%} of the second pass",
        f"{sizes[largest].rollup:.2f} s, {share:.0%}",
        share <= ROLLUP_SHARE,
        note,
    )
    single = (sizes[largest].single + sizes[largest].rollup_single) * 1000
    yield BenchRow(
        f"pass over one that was touched, of {largest:,}",
        f"≤ {SINGLE_GOAL:g} ms",
        f"{single:.2f} ms",
        single <= SINGLE_GOAL,
        note,
    )
    if len(sizes) > 1:
        costs = [figures.whole_pass / size for size, figures in sizes.items()]
        ratio = max(costs) / min(costs)
        name = f"cost of one at {len(sizes)} sizes from {min(sizes):,} to {largest:,}"
        yield BenchRow(
            name, f"linear: ≤ {LINEAR:g} × the least", f"{ratio:.2f} ×", ratio <= LINEAR
        )


def _row(name: str, seconds: float, subjects: int) -> str:
    per = seconds * 1e6 / subjects
    return f"{name:44}{seconds * 1000:9.2f} ms{per:9.1f} µs each of {subjects:,}"


if __name__ == "__main__":
    sys.exit(main())
