"""
Measure what judging costs, without any API server: probes and stages for each InferenceSet.

A store is filled with the example stack and as many healthy InferenceSets as asked for, decoded as
from a list. Then everything is judged, one subject alone, and each probe of the catalogue by
itself. Each figure is processor time, the median of several rounds.
"""

import argparse
import datetime as dt
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from e2e import workload
from e2e.bench import machine, rows
from e2e.bench.arguments import natural
from e2e.bench.rows import Row
from e2e.controlplane import Json
from reporter.catalogue.loader import default_folder, load
from reporter.model.entries import Catalogue
from reporter.model.kinds import KINDS
from reporter.model.observations import Discovery, Watched
from reporter.model.subjects import Subject
from reporter.model.words import Layer
from reporter.runtime.rights import crds_of
from reporter.settings import NAMES
from reporter.settings import load as settings
from reporter.stages.inquiry import inquiry
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.models import WORKSPACE
from reporter.stages.pipeline import Court
from reporter.stages.probes import PROBES
from reporter.stages.probes.specs import PENDING_NAMES, SPECS
from reporter.stages.snapshot import Snapshot
from reporter.stages.store import Store
from reporter.stages.subjects import EVERYTHING, expand


WHOLE_GOAL, SIZE_OF_GOAL = 1.0, 10_000
"""
Seconds that a pass over so many InferenceSets may take.
"""

SINGLE_GOAL = 1.0
"""
Milliseconds for one subject that was touched.
"""

LINEAR = 1.5
"""
How many times as much an InferenceSet may cost at one size as at another.
"""

PODS = 3
"""
Of each Workspace; with its endpoint picker's an InferenceSet has four.
"""

ONE = Subject(Layer.MODELDEPLOYMENT, "team-0", "model-0")


@dataclass
class Figures:
    """
    Seconds of the processor. *asking*: all probes about all subjects. *probes*: one alone, with how
    many subjects it was asked about.
    """

    objects: int
    loaded: float
    whole: float
    single: float
    asking: float
    probes: dict[str, tuple[float, int]] = field(default_factory=dict)


def main() -> int:
    arguments = _arguments()
    court = _court()
    print("\n".join(machine.lines()))
    print(f"rounds    {arguments.rounds} of each, medians")
    sizes: dict[int, Figures] = {}
    for size in arguments.inferencesets:
        sizes[size] = measure(court, size, arguments.rounds)
        print()
        print("\n".join(_lines(sizes[size], size)))
    print()
    missed = rows.tell(list(_rows(sizes)), arguments.json)
    return int(arguments.check and missed > 0)


def measure(court: Court, size: int, rounds: int) -> Figures:
    begun = time.thread_time()
    store, objects = _filled(court, size)
    loaded = time.thread_time() - begun
    now = dt.datetime.now(dt.UTC)
    snapshot = store.view()
    judged = court.judge(Judgement(), snapshot, EVERYTHING, now=now)
    if judged.gate.records or judged.gate.unseen:
        raise RuntimeError(f"the stack is not healthy: {next(iter(judged.gate.records), None)}")
    asked = inquiry(
        snapshot, judged.gate, court.catalogue, court.probes, flags=court.flags, now=now
    )
    everyone = sorted(expand(EVERYTHING, judged.subjects))
    return Figures(
        objects,
        loaded,
        whole=_median(lambda: court.judge(judged, snapshot, EVERYTHING, now=now), rounds),
        single=_median(lambda: court.judge(judged, snapshot, frozenset({ONE}), now=now), rounds),
        asking=_median(lambda: asked.verdicts(everyone), rounds),
        probes=dict(_of_each(court, snapshot, judged, rounds)),
    )


def _of_each(
    court: Court, snapshot: Snapshot, judged: Judgement, rounds: int
) -> Iterator[tuple[str, tuple[float, int]]]:
    now = dt.datetime.now(dt.UTC)
    for layer in Layer:
        subjects = sorted(each for each in judged.subjects if each.layer is layer)
        for entry in court.catalogue.of(layer):
            alone = Catalogue({entry.reason: entry})
            asked = inquiry(snapshot, judged.gate, alone, court.probes, flags=court.flags, now=now)
            yield (
                entry.reason,
                (_median(lambda: asked.verdicts(subjects), rounds), len(subjects)),  # noqa: B023
            )


# ---------------------------------------------------------------- what is judged


def _court() -> Court:
    catalogue = load(default_folder(), specs=SPECS, pending=PENDING_NAMES, flags=NAMES)
    return Court(catalogue, PROBES, settings([], {}).flags, Terms())


def _filled(court: Court, size: int) -> tuple[Store, int]:
    crds = crds_of(court.catalogue, SPECS)
    store = Store(KINDS, crds)
    kinds = {kind.kind: kind for kind in KINDS}
    decoders = {kind.kind: msgspec.json.Decoder(kind.type) for kind in KINDS}
    objects = 0
    for manifest in _with_pods(workload.manifests(size)):
        name = manifest["kind"]
        if name in kinds:
            store.put(kinds[name], decoders[name].decode(json.dumps(manifest)))
            objects += 1
    for kind in KINDS:
        store.sight(kind, Watched())
    served = dict.fromkeys(crds, ("v1", "v1beta1", "v1alpha1"))
    store.discovered(Discovery(served), now=dt.datetime.now(dt.UTC))
    return store, objects


def _with_pods(manifests: Iterable[Json]) -> Iterator[Json]:
    """
    As many of each Workspace as there would be.
    """
    for each in manifests:
        yield each
        meta = each["metadata"]
        if each["kind"] == "Pod" and WORKSPACE in meta.get("labels", {}):
            for index in range(1, PODS):
                name = f"{meta['name'].rpartition('-')[0]}-{index}"
                yield each | {"metadata": meta | {"name": name, "uid": f"uid-{name}"}}


def _median(what: Callable[[], object], rounds: int) -> float:
    def once() -> float:
        begun = time.thread_time()
        what()
        return time.thread_time() - begun

    return statistics.median(once() for _ in range(rounds))


# ---------------------------------------------------------------- how it reads


def _lines(figures: Figures, size: int) -> Iterator[str]:
    yield f"{size:,} InferenceSets, {figures.objects:,} objects"
    yield _row("full pass", figures.whole, size)
    yield _row("  probes", figures.asking, size)
    yield _row("  stages", figures.whole - figures.asking, size)
    yield f"{'one dirty InferenceSet':44}{figures.single * 1000:9.2f} ms"
    yield f"{'decoded and stored':44}{figures.loaded * 1000:9.1f} ms"
    slowest = sorted(figures.probes.items(), key=lambda each: -each[1][0])
    for reason, (seconds, subjects) in slowest:
        yield _row(reason, seconds, subjects)


def _rows(sizes: Mapping[int, Figures]) -> Iterator[Row]:
    note = "processor time, without an API server"
    for size, each in sizes.items():
        goal = WHOLE_GOAL * size / SIZE_OF_GOAL
        yield Row(
            f"full pass over {size:,} InferenceSets, {each.objects:,} objects",
            f"≤ {WHOLE_GOAL:g} s" if size == SIZE_OF_GOAL else "",
            f"{each.whole:.2f} s, {each.whole / size * 1e6:.0f} µs each",
            each.whole <= goal if size == SIZE_OF_GOAL else None,
            note,
        )
    largest = max(sizes)
    single = sizes[largest].single * 1000
    yield Row(
        f"pass over one that was touched, of {largest:,}",
        f"≤ {SINGLE_GOAL:g} ms",
        f"{single:.2f} ms",
        single <= SINGLE_GOAL,
        note,
    )
    if len(sizes) > 1:
        each_costs = [figures.whole / size for size, figures in sizes.items()]
        ratio = max(each_costs) / min(each_costs)
        name = f"cost of one at {len(sizes)} sizes from {min(sizes):,} to {largest:,}"
        yield Row(name, f"linear: ≤ {LINEAR:g} × the least", f"{ratio:.2f} ×", ratio <= LINEAR)


def _row(name: str, seconds: float, subjects: int) -> str:
    per = seconds * 1e6 / subjects
    return f"{name:44}{seconds * 1000:9.2f} ms{per:9.1f} µs each of {subjects:,}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.bench.passes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    sizes: Sequence[int] = (100, 1_000, 3_000, 10_000)
    parser.add_argument(
        "--inferencesets",
        type=natural,
        nargs="+",
        default=sizes,
        help="how many, one table for each; default: 100 1000 3000 10000",
    )
    parser.add_argument("--rounds", type=natural, default=7, help="default: 7")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a goal is missed")
    rows.add_argument(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
