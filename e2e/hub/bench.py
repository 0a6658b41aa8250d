"""
Measure the hub with many clusters in a real Prometheus: requests, rounds, memory, and what it notices.
"""

import argparse
import http.client
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

from e2e.bench import rows
from e2e.bench.rows import BenchRow
from e2e.controlplane import ControlPlane, assets, until
from e2e.hub.parts.engines import Prometheus
from e2e.hub.parts.hub_process import HubProcess, install
from e2e.hub.parts.synthetic import SyntheticFleet, name, served
from e2e.support import machine
from e2e.support.arguments import natural
from e2e.support.production_stack.workload import MINIMAL_OPTIONS
from reporter.stages.fleet.series.labels import PREFIX


SCRAPE, INTERVAL, STALE = 15, 30, 300
GOAL_REQUESTS, GOAL_ROUND, GOAL_MEMORY = 6.0, 5.0, 384
GOAL_CHANGE = SCRAPE + INTERVAL + 5
GOAL_SILENT = STALE + GOAL_CHANGE
"""
Requests a minute; seconds; MiB; seconds until a change, and until silence, is seen.
"""

BIND_TIMEOUT = 600.0
FLAGS = (
    "--hub-engage=seen",
    "--leader-elect=false",
    f"--hub-interval-seconds={INTERVAL}",
    f"--hub-stale-seconds={STALE}",
)


def main() -> int:
    arguments = _arguments()
    try:
        assets.find()
    except assets.AssetsMissing as err:
        print(err, file=sys.stderr)
        return 1
    fleet = SyntheticFleet(arguments.clusters)
    with ControlPlane(MINIMAL_OPTIONS) as plane, served(fleet) as port:
        print("\n".join(machine.lines(plane)))
        engine = Prometheus(plane, "central", _config(port), "--storage.tsdb.path={folder}/data")
        engine.start()
        install(plane.client)
        with HubProcess(plane, engine, *FLAGS) as hub:
            found = list(_rows(fleet, engine, hub, arguments))
    return rows.report(found, arguments.json) and int(arguments.check)


def _config(port: int) -> dict[str, object]:
    scrape = {
        "job_name": "fleet",
        "honor_labels": True,
        "static_configs": [{"targets": [f"127.0.0.1:{port}"]}],
    }
    timing = {"scrape_interval": f"{SCRAPE}s", "scrape_timeout": f"{SCRAPE}s"}
    return {"global": timing, "scrape_configs": [scrape]}


def _rows(
    fleet: SyntheticFleet, engine: Prometheus, hub: HubProcess, arguments: argparse.Namespace
) -> Iterator[BenchRow]:
    many = arguments.clusters
    what = f"hub, {many:,} clusters"
    _wait(lambda: _clusters(hub, "current") == many, "all are Current")
    series = _count(engine, f'count({{__name__=~"{PREFIX}.*"}})')
    yield BenchRow(f"{what}: series in the engine", "", f"{series:,.0f}", None, "of the status")

    asked, rounds, took = _asked(hub), _rounds(hub), _seconds(hub)
    started = time.monotonic()
    _wait(lambda: _rounds(hub) >= rounds + arguments.rounds, "rounds are done")
    minutes = (time.monotonic() - started) / 60
    a_minute = (_asked(hub) - asked) / minutes
    yield _row(f"{what}: requests a minute", a_minute, GOAL_REQUESTS * 1.1, "{:.1f}")
    mean = (_seconds(hub) - took) / (_rounds(hub) - rounds)
    yield _row(f"{what}: time of a round", mean, GOAL_ROUND, "{:.2f} s", "mean")

    started = time.monotonic()
    fleet.failed = frozenset({many - 1})
    last = f"clusters/{name(many - 1)}"
    _wait(lambda: hub.status_v1(last)["clusters"][0]["state"] == "Failed", "a change is seen")
    seconds = time.monotonic() - started
    yield _row(f"{what}: a change is seen", seconds, GOAL_CHANGE, "{:.0f} s", "from the page on")

    started = time.monotonic()
    fleet.silent = many * 3 // 10
    _wait(lambda: _silent(hub) == fleet.silent, "those that vanished are silent")
    seconds = time.monotonic() - started
    note = f"{fleet.silent:,} of them at once"
    yield _row(f"{what}: vanished ones are Unknown", seconds, GOAL_SILENT, "{:.0f} s", note)
    yield _row(f"{what}: memory", _peak_mib(hub), GOAL_MEMORY, "{:.0f} MiB", "peak, resident")


def _row(what: str, figure: float, goal: float, shape: str, note: str = "") -> BenchRow:
    found = BenchRow(what, f"≤ {shape.format(goal)}", shape.format(figure), figure <= goal, note)
    print(f"  {what}: {found.figure}", file=sys.stderr, flush=True)
    return found


def _clusters(hub: HubProcess, state: str) -> float:
    try:
        return hub.metric("hub_clusters", state=state)
    except LookupError:
        return 0.0


def _silent(hub: HubProcess) -> float:
    return hub.metric("hub_unknown_clusters", code="Silent")


def _asked(hub: HubProcess) -> float:
    return hub.metric("hub_query_results_total")


def _rounds(hub: HubProcess) -> float:
    return hub.metric("hub_round_duration_seconds_count")


def _seconds(hub: HubProcess) -> float:
    return hub.metric("hub_round_duration_seconds_sum")


def _wait(true: Callable[[], object], what: str) -> None:
    until(lambda: bool(true()), within=BIND_TIMEOUT, what=what)


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
    parser.add_argument("--rounds", type=natural, default=6, metavar="N", help="to measure")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    rows.add_argument(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
