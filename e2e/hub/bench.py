"""
Measure the hub with many clusters in a real Prometheus, and as many objects: requests, rounds, memory,
series, writes, and how soon it notices a change and silence.
"""

import argparse
import http.client
import json
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

from e2e.bench import rows
from e2e.bench.rows import BenchRow
from e2e.controlplane import ControlPlane, assets, until
from e2e.hub.parts import hub_process, pages
from e2e.hub.parts.engines import scraping
from e2e.hub.parts.hub_process import HubProcess
from e2e.hub.parts.synthetic import SyntheticFleet, name
from e2e.support import etcd_objects, machine
from e2e.support.arguments import natural
from e2e.support.metrics_process import Prometheus
from e2e.support.production_stack.workload import MINIMAL_OPTIONS
from reporter.hub.queries import PREFIX
from reporter.kinds.productionstack import PRODUCTION_STACK_CLUSTERS as KIND


SCRAPE, INTERVAL = 15, 30
GOAL_REQUESTS, GOAL_ROUND, GOAL_MEMORY = 6.0, 2.0, 384
GOAL_CHANGE = SCRAPE + INTERVAL + 5
"""Requests a minute; seconds; MiB; seconds until a change is seen."""

WRITES_PER_SECOND, RENEWALS_PER_SECOND = 10, 5
"""The token bucket of writes, and the part of it that only renews times."""

WRITE_SLACK = 30.0
"""Seconds, beside those of the token bucket, within which objects have what is to be written."""

BOUND = 900.0


class HubBench:
    """One hub and its fleet. *listed*: whether each cluster has an object."""

    def __init__(
        self,
        plane: ControlPlane,
        engine: Prometheus,
        hub: HubProcess,
        fleet: SyntheticFleet,
        arguments: argparse.Namespace,
    ) -> None:
        self._plane, self._engine, self._hub, self._fleet = plane, engine, hub, fleet
        self._many, self._stale = fleet.clusters, arguments.stale
        self._rounds, self._listed = arguments.rounds, arguments.engage == "listed"

    def measure(self) -> Iterator[BenchRow]:
        yield from self._start()
        yield from self._calm()
        yield from self._change()
        yield from self._vanish()
        yield self._row(
            "memory", _peak_mib(self._hub), GOAL_MEMORY, "{:.0f} MiB", "peak, resident"
        )

    def _start(self) -> Iterator[BenchRow]:
        started = time.monotonic()
        self._wait(lambda: self._clusters("current") == self._many, "all are Current")
        series = _count(self._engine, f'count({{__name__=~"{PREFIX}.*"}})')
        what = f"{self._what}: series in the engine"
        yield BenchRow(what, "", f"{series:,.0f}", None, "of the status")
        if self._listed:
            yield self._objects_row(
                "first status of all objects", started, self._many, "True", 0.0
            )

    def _calm(self) -> Iterator[BenchRow]:
        before = self._finished()
        self._wait(lambda: self._finished() > before, "a round is done, from which on to measure")
        asked, rounds, took = self._asked(), self._finished(), self._seconds()
        written, started = self._written(), time.monotonic()
        self._wait(lambda: self._finished() >= rounds + self._rounds, "rounds are done")
        minutes = (time.monotonic() - started) / 60
        a_minute = (self._asked() - asked) / minutes
        yield self._row("requests a minute", a_minute, GOAL_REQUESTS * 1.1, "{:.1f}")
        mean = (self._seconds() - took) / (self._finished() - rounds)
        yield self._row("time of a round", mean, GOAL_ROUND, "{:.2f} s", "mean")
        if self._listed:
            writes = (self._written() - written) / minutes
            goal = RENEWALS_PER_SECOND * 60 * 1.1
            yield self._row("writes a minute", writes, goal, "{:.0f}", "nothing changes")

    def _change(self) -> Iterator[BenchRow]:
        started, last = time.monotonic(), name(self._many - 1)
        self._fleet.failed = frozenset({self._many - 1})
        self._wait(lambda: self._state(last) == "Failed", "a change is seen")
        seconds = time.monotonic() - started
        yield self._row("a change is seen", seconds, GOAL_CHANGE, "{:.0f} s", "from the page on")
        if self._listed:
            client = self._plane.client
            self._wait(
                lambda: hub_process.read(client, last)["status"]["state"] == "Failed",
                "the object says so",
            )
            seconds, goal = time.monotonic() - started, GOAL_CHANGE + 1
            yield self._row("a change is in its object", seconds, goal, "{:.0f} s")

    def _vanish(self) -> Iterator[BenchRow]:
        started, vanished = time.monotonic(), self._many * 3 // 10
        self._fleet.silent = vanished
        self._wait(lambda: self._silent() == vanished, "those that vanished are silent")
        seconds, goal = time.monotonic() - started, self._stale + GOAL_CHANGE
        note = f"{vanished:,} of them at once"
        yield self._row("vanished ones are Unknown", seconds, goal, "{:.0f} s", note)
        if self._listed:
            what = "their objects say so"
            yield self._objects_row(what, started, vanished, "Unknown", goal)

    def _objects_row(
        self, what: str, started: float, many: int, ready: str, before: float
    ) -> BenchRow:
        """Wait until so many objects have this status of the condition Ready."""
        self._wait(lambda: self._objects(ready) >= many, what)
        goal = before + many / WRITES_PER_SECOND + WRITE_SLACK + GOAL_CHANGE
        return self._row(what, time.monotonic() - started, goal, "{:.0f} s", "10 a second")

    def _objects(self, ready: str) -> int:
        time.sleep(2)  # a list of 10,000 objects is no small thing beside what is measured
        found = self._plane.client.list(hub_process.PATH)
        conditions = (each.get("status", {}).get("conditions", ()) for each in found)
        return sum(
            any(one["type"] == "Ready" and one["status"] == ready for one in each)
            for each in conditions
        )

    # ------------------------------------------------------------ figures

    @property
    def _what(self) -> str:
        return f"hub, {self._many:,} clusters{' and objects' if self._listed else ''}"

    def _row(self, what: str, figure: float, goal: float, shape: str, note: str = "") -> BenchRow:
        text = shape.format(figure)
        print(f"  {self._what}: {what}: {text}", file=sys.stderr, flush=True)
        goal_text = f"≤ {shape.format(goal)}"
        return BenchRow(f"{self._what}: {what}", goal_text, text, figure <= goal, note)

    def _wait(self, true: Callable[[], object], what: str) -> None:
        bound = BOUND + 2 * self._many / WRITES_PER_SECOND
        until(lambda: bool(true()), within=bound, what=what)

    def _state(self, cluster: str) -> str:
        found: str = self._hub.status_v1(f"clusters/{cluster}")["clusters"][0]["state"]
        return found

    def _clusters(self, state: str) -> float:
        try:
            return self._hub.metric("hub_clusters", state=state)
        except LookupError:
            return 0.0

    def _silent(self) -> float:
        return self._hub.metric("hub_unknown_clusters", code="Silent")

    def _asked(self) -> float:
        return self._hub.metric("hub_query_results_total")

    def _finished(self) -> float:
        return self._hub.metric("hub_round_duration_seconds_count")

    def _seconds(self) -> float:
        return self._hub.metric("hub_round_duration_seconds_sum")

    def _written(self) -> float:
        return self._hub.metric("hub_object_writes_total", result="written")


def main() -> int:
    arguments = _arguments()
    try:
        assets.find()
    except assets.AssetsMissing as err:
        print(err, file=sys.stderr)
        return 1
    fleet = SyntheticFleet(arguments.clusters)
    with ControlPlane(MINIMAL_OPTIONS) as plane, pages.served(fleet.render) as port:
        print("\n".join(machine.lines(plane)))
        data = "--storage.tsdb.path={folder}/data"
        engine = Prometheus(plane, "central", scraping(port, seconds=SCRAPE), data)
        engine.start()
        hub_process.install(plane.client)
        if arguments.engage == "listed":
            write_objects(plane, arguments.clusters)
        with HubProcess(plane, engine, *_flags(arguments)) as hub:
            measured = HubBench(plane, engine, hub, fleet, arguments).measure()
            found = rows.collect(measured, arguments.json)
    return rows.report(found) and int(arguments.check)


def _flags(arguments: argparse.Namespace) -> Iterator[str]:
    yield f"--hub-engage={arguments.engage}"
    yield "--leader-elect=false"
    yield f"--hub-interval-seconds={INTERVAL}"
    yield f"--hub-stale-seconds={arguments.stale}"


def write_objects(plane: ControlPlane, many: int) -> None:
    """Write an object for each cluster, past the API server, which would take minutes."""
    prefix = f"/registry/{KIND.group}/{KIND.resource}/{hub_process.NAMESPACE}/"
    etcd_objects.write_all(
        plane, {f"{prefix}{name(number)}": _object(name(number)) for number in range(many)}
    )


def _object(cluster: str) -> dict[str, object]:
    meta = {
        "name": cluster,
        "namespace": hub_process.NAMESPACE,
        "uid": str(uuid.uuid4()),
        "generation": 1,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    version = f"{KIND.group}/v1alpha1"
    spec = {"clusterLabel": cluster}
    return {"apiVersion": version, "kind": KIND.kind, "metadata": meta, "spec": spec}


def _count(engine: Prometheus, query: str) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", engine.port, timeout=60)
    connection.request("GET", f"/api/v1/query?{urlencode({'query': query})}")
    found = json.loads(connection.getresponse().read())["data"]["result"]
    connection.close()
    return float(found[0]["value"][1]) if found else 0.0


def _peak_mib(hub: HubProcess) -> float:
    assert hub.process is not None
    lines = Path(f"/proc/{hub.process.pid}/status").read_text().splitlines()
    (peak,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m e2e.hub.bench", description=__doc__)
    parser.add_argument("--clusters", type=natural, default=10_000, metavar="N")
    parser.add_argument(
        "--engage",
        choices=("listed", "seen"),
        default="listed",
        help="with an object each, or none",
    )
    parser.add_argument("--rounds", type=natural, default=6, metavar="N", help="to measure")
    parser.add_argument("--stale", type=natural, default=300, metavar="SECONDS")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    rows.add_argument(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
