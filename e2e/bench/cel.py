"""
Measure reasons in CEL without an API server: five of them over many objects of a declared kind.

Each size is measured in a process of its own. Its memory is what the reasons add to a process with the
shipped catalogue alone: the library, the expressions, the objects and the state after a full pass.
"""

import argparse
import datetime as dt
import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import msgspec

from e2e.bench import rows
from e2e.bench.rows import BenchRow
from e2e.support import machine
from e2e.support.arguments import natural
from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES, SPECS
from reporter.kinds.core import NAMESPACES
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.watch_events import decode_items
from reporter.model.enums import Layer
from reporter.model.observations import Watching
from reporter.settings import FLAG_NAMES, load_settings
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store.store import Store


PASS_GOAL, MEMORY_GOAL, SIZE_OF_GOAL = 1.0, 64, 10_000
"""Maximum seconds of a full pass and MiB, for this many objects."""

OBJECTS_PER_NAMESPACE = 100
CONDITION = 'object.status.conditions.exists(c, c.type == "{}" && c.status == "True")'
TYPES = ("Ready", "PredictorReady", "IngressReady", "RoutesReady", "LatestDeploymentReady")


@dataclass(frozen=True)
class CelTimings:
    """Seconds of processor time, and MiB."""

    layer: Layer
    objects: int
    first_pass: float
    full_pass: float
    single: float
    memory: float


def main() -> int:
    arguments = _arguments()
    print("\n".join(machine.lines()))
    found: list[BenchRow] = []
    for size in arguments.objects:
        for layer in (Layer.MODELHARNESS, Layer.CLUSTER):
            # A process for each, as freed memory is not given back in full.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                timings = process.submit(measure, size, layer, arguments.rounds).result()
            found += _rows(timings)
    missed = rows.report(rows.collect(found, arguments.json))
    return int(arguments.check and missed > 0)


def measure(size: int, layer: Layer, rounds: int) -> CelTimings:
    """Fill a store with objects of which all are current, and evaluate five reasons about them."""
    load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES)
    before = _resident()
    catalogue = _catalogue(layer)
    store = _filled(catalogue, size)
    flags = load_settings([], {}).flag_texts
    evaluator = Evaluator(catalogue, PROBES, flags, EvaluationSettings())
    now = dt.datetime.now(dt.UTC)
    snapshot = store.snapshot()
    begun = time.thread_time()
    evaluation = evaluator.evaluate(Evaluation(), snapshot, ALL_LAYERS, now=now)
    first = time.thread_time() - begun
    if evaluation.tracked.finding_states or evaluation.tracked.unknown_states:
        raise RuntimeError(f"not all are current: {evaluation.tracked.unknown_states}")
    memory = _resident() - before
    full = _median(lambda: evaluator.evaluate(evaluation, snapshot, ALL_LAYERS, now=now), rounds)

    def one_changes() -> None:
        _store(store, catalogue, [_object(0, time.time_ns())])
        dirty = store.take_dirty()
        evaluator.evaluate(evaluation, store.snapshot(), dirty, now=now)

    return CelTimings(layer, size, first, full, _median(one_changes, rounds), memory)


def _catalogue(layer: Layer) -> Catalogue:
    """Return a catalogue of five reasons on one kind alone: all shipped ones are switched off."""
    shipped = load_catalogue(default_folder(), specs=SPECS, flags=FLAG_NAMES)
    off = {e.reason: {"enabled": False} for e in shipped.entries.values() if e.is_evaluated}
    kind = {"kind": "Service", "group": "serving.example.com", "resource": "services"}
    with tempfile.TemporaryDirectory() as folder:
        overlay = Path(folder) / "overlay.yaml"
        added = [_reason(layer, number, each) for number, each in enumerate(TYPES)]
        overlay.write_text(json.dumps({"reasons": off, "kinds": [kind], "add": added}))
        return load_catalogue(default_folder(), overlay, specs=SPECS, flags=FLAG_NAMES)


def _reason(layer: Layer, number: int, condition: str) -> dict[str, object]:
    named = "{namespace}: " if layer is Layer.MODELHARNESS else ""
    find = f'object.status.conditions.filter(c, c.type == "{condition}")[0]'
    return {
        "reason": f"{layer}{condition}Lacking",
        "layer": layer,
        "type": "Warning",
        "owner": "user",
        "rank": 1000 + number,
        "probe": "cel",
        "parameters": {
            "kind": "Service",
            "current": CONDITION.format(condition),
            "failed": f'{find}.reason == "Failed"',
            "text": f"{find}.message",
            "cause": f"{find}.reason",
        },
        "message": f"{named}{{object}} {{state}}.",
        "remedy": {"default": "See it."},
    }


# ---------------------------------------------------------------- the objects


def _filled(catalogue: Catalogue, size: int) -> Store:
    kinds = kinds_to_watch(catalogue)
    store = Store(kinds, crds_to_track(catalogue), subjects=catalogue.subject_definitions)
    for kind in kinds:
        store.set_watch_state(kind, Watching())
    definition = catalogue.subject_definitions.of_kind(NAMESPACES)
    assert definition is not None
    [(label, value)] = definition.labels
    namespaces = (
        {"metadata": {"name": f"team-{number}", "labels": {label: value}}}
        for number in range(size // OBJECTS_PER_NAMESPACE + 1)
    )
    store.replace(NAMESPACES, _decode(NAMESPACES, [*namespaces]))
    for begin in range(0, size, 500):
        _store(store, catalogue, [_object(n, 0) for n in range(begin, min(begin + 500, size))])
    store.take_dirty()
    return store


def _store(store: Store, catalogue: Catalogue, objects: list[object]) -> None:
    kind = next(kind for kind in kinds_to_watch(catalogue) if kind.is_declared)
    for each in _decode(kind, objects):
        store.upsert(kind, each)


def _decode(kind: ResourceKind, objects: Sequence[object]) -> Sequence[ApiObject]:
    decoded = decode_items(msgspec.json.encode(objects), kind)
    assert decoded is not None
    return decoded[0]


def _object(number: int, change: int) -> object:
    """Return an object of some 4 KiB, most of which no expression reads."""
    since = "2026-01-01T00:00:00Z"
    return {
        "apiVersion": "serving.example.com/v1",
        "kind": "Service",
        "metadata": {
            "name": f"service-{number}",
            "namespace": f"team-{number // OBJECTS_PER_NAMESPACE}",
            "uid": f"0f0f0f0f-0000-0000-0000-{number:012}",
            "generation": 1,
            "creationTimestamp": since,
            "labels": {"app": f"service-{number}", "team": "a"},
            "managedFields": [{"manager": "x", "fieldsV1": {f"f:{i}": {} for i in range(80)}}],
        },
        "spec": {"predictor": {"env": [{"name": f"N{i}", "value": "v" * 20} for i in range(30)]}},
        "status": {
            "url": f"service-{number}.example",
            "conditions": [
                {
                    "type": each,
                    "status": "True",
                    "reason": "Running",
                    "message": f"revision {change}",
                    "lastTransitionTime": since,
                }
                for each in TYPES
            ],
        },
    }


# ---------------------------------------------------------------- figures


def _resident() -> float:
    """Return the resident memory in MiB (proc(5), statm)."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def _median(action: Callable[[], object], rounds: int) -> float:
    def once() -> float:
        begun = time.thread_time()
        action()
        return time.thread_time() - begun

    return statistics.median(once() for _ in range(rounds))


def _rows(timings: CelTimings) -> Iterator[BenchRow]:
    has_goal = timings.objects == SIZE_OF_GOAL
    note = "processor time, without an API server"
    where = "one subject" if timings.layer is Layer.CLUSTER else "by namespace"
    name = f"{timings.objects:,} objects with five reasons in CEL, {where}"
    each = timings.first_pass / timings.objects * 1e6
    yield BenchRow(
        f"first full pass over {name}",
        f"≤ {PASS_GOAL:g} s" if has_goal else "",
        f"{timings.first_pass:.2f} s, {each:.0f} µs each; again {timings.full_pass:.2f} s",
        timings.first_pass <= PASS_GOAL if has_goal else None,
        note,
    )
    yield BenchRow(
        f"memory of {name}",
        f"≤ +{MEMORY_GOAL} MiB" if has_goal else "",
        f"+{timings.memory:.0f} MiB",
        timings.memory <= MEMORY_GOAL if has_goal else None,
        "resident, beside a process with the shipped catalogue",
    )
    yield BenchRow(
        f"one that changed, of {name}", "", f"{timings.single * 1000:.2f} ms", None, note
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m e2e.bench.cel", description=__doc__)
    parser.add_argument("--objects", type=natural, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--rounds", type=natural, default=5, help="of each figure")
    parser.add_argument("--check", action="store_true", help="exit 1 if a goal is missed")
    rows.add_argument(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
