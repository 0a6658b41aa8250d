"""
Measure what the reporter costs the API server: at its start, when nothing changes, while findings
are repeated, and when it is restarted.

Requests are counted from the audit log, bytes by a relay between the two (TLS and all), and both
beside what the API server's own metrics say of everybody, with and without the reporter.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from e2e.bench import rows
from e2e.bench.load.deployments import INFERENCE_SETS
from e2e.bench.load.teams import BenchTeams
from e2e.bench.rows import BenchRow
from e2e.bench.support.cost_meter import CostMeter, CostSample
from e2e.bench.support.counting_proxy import CountingProxy, counting_proxy
from e2e.bench.support.latency_probe import LatencyProbe
from e2e.bench.support.request_audit import ApiRequest, Requests, reads
from e2e.controlplane import ControlPlane, assets, reporter_rights, until
from e2e.support import events, machine
from e2e.support.arguments import natural
from e2e.support.production_stack import workload
from e2e.support.production_stack.inference_sets import INVALID_REASON, WRONG
from e2e.support.reporter_process import NAMESPACE, ReporterProcess


POLLING = 4_000
"""
Reads a minute of the polling Go reporter at 1,000 healthy InferenceSets.
"""

GOAL_OF_READS, GOAL_OF_CPU = POLLING / 100, 0.5
"""
A minute: reads of the API server, seconds of the reporter's processor.
"""

HEARTBEAT = 30
FLAGS = (
    f"--heartbeat-seconds={HEARTBEAT}",
    "--lease-duration-seconds=15",
    "--renew-deadline-seconds=10",
    "--retry-period-seconds=2",
)
START = 300
AFTERMATH = 20
"""
Seconds after a start that do not count as steady.
"""

EXPECTED = {ApiRequest("update", "leases"), ApiRequest("get", "/apis")}
"""
When nothing changes, besides watches that begin anew after some minutes.
"""

NAMED = 3
"""
Resources that are named; more are counted.
"""


def main() -> int:
    arguments = _arguments()
    try:
        assets.find()
    except assets.AssetsMissing as err:
        print(err, file=sys.stderr)
        return 1
    with (
        ControlPlane(replace(workload.MINIMAL_OPTIONS, audit=True)) as plane,
        counting_proxy(plane.client.port) as relay,
    ):
        teams = BenchTeams(plane)
        teams.grow(arguments.inferencesets)
        objects = teams.objects()
        print("\n".join(machine.lines(plane)))
        print(f"cluster   {arguments.inferencesets:,} InferenceSets, {objects:,} objects\n")
        found = list(_measured(plane, relay, arguments))
    return rows.report(found, arguments.json) and int(arguments.check)


def _measured(
    plane: ControlPlane, relay: CountingProxy, arguments: argparse.Namespace
) -> Iterator[BenchRow]:
    scales, many = CostMeter(plane, relay), arguments.inferencesets
    without = scales.measure(arguments.seconds)
    reporter = _reporter(plane, relay)
    yield from _started(plane, relay, scales, reporter, f"start at {many:,}")
    try:
        steady = scales.measure(arguments.seconds, reporter)
        yield from _steady(steady, without, many)
        _trouble(plane, arguments.findings)
        repeating = scales.measure(arguments.seconds, reporter)
        yield from _repeating(repeating, arguments.findings)
    finally:
        reporter.stop()
    yield from _started(plane, relay, scales, reporter, f"restart at {many:,}")
    reporter.stop()


def _reporter(plane: ControlPlane, relay: CountingProxy) -> ReporterProcess:
    reporter_rights.install(plane.client, NAMESPACE)
    mine = plane.service_account_kubeconfig(NAMESPACE, reporter_rights.NAME)
    return ReporterProcess(plane, *FLAGS, f"--kubeconfig={relay.kubeconfig(mine)}", grant=False)


def _trouble(plane: ControlPlane, findings: int) -> None:
    for each in plane.client.list(INFERENCE_SETS, limit=str(findings)):
        where = each["metadata"]["namespace"], "inferencesets", each["metadata"]["name"]
        path = "/".join(("/apis/kaito.sh/v1beta1/namespaces", *where))
        plane.client.patch(path, {"metadata": {"annotations": WRONG}})
    until(
        lambda: len(events.reporter_events(plane.client, INVALID_REASON)) >= findings,
        within=60,
        what=f"{findings} findings are announced",
    )


# ---------------------------------------------------------------- the rows


def _started(
    plane: ControlPlane,
    relay: CountingProxy,
    scales: CostMeter,
    reporter: ReporterProcess,
    name: str,
) -> Iterator[BenchRow]:
    before, start = LatencyProbe(plane), LatencyProbe(plane)
    with before.measured():
        time.sleep(5)
    scales.audit.take_requests()
    passed, server, begun = relay.byte_counts(), scales.server_cpu(), time.monotonic()
    with start.measured():
        reporter.start(ready=False)
        reporter.until_ready(within=START)
        took = time.monotonic() - begun
        received = relay.byte_counts().received - passed.received
        server = scales.server_cpu() - server
    time.sleep(AFTERMATH)
    requests = scales.audit.take_requests()
    yield BenchRow(f"{name}: ready", "≤ 10 s", f"{took:.1f} s", took <= 10, "through a relay")
    yield BenchRow(f"{name}: received", "", f"{received / 2**20:.1f} MiB")
    yield BenchRow(f"{name}: requests", "", _listed(requests), note=f"until {AFTERMATH} s later")
    yield BenchRow(
        f"{name}: CPU of kube-apiserver", "", f"{server:.2f} s", note="until it is ready"
    )
    yield BenchRow(
        f"{name}: latency of the API server for others",
        "",
        f"{start} ms",
        note=f"median / 99th / most; before: {before}",
    )


def _steady(steady: CostSample, without: CostSample, many: int) -> Iterator[BenchRow]:
    name, note = f"idle at {many:,}", f"in {steady.seconds:.0f} s"
    asked = steady.per_minute(reads(steady.requests))
    yield BenchRow(
        f"{name}: reads a minute",
        f"< {GOAL_OF_READS:g}",
        f"{asked:.1f}",
        asked < GOAL_OF_READS,
        f"{asked * 100 / POLLING:.2f} % of the polling reporter's {POLLING:,}, {note}",
    )
    others = [each for each in steady.requests if not _is_expected(each)]
    goal = "watches, the lease, discovery"
    listed = _listed(steady.requests)
    yield BenchRow(f"{name}: requests", goal, listed, not others, f"audit log, {note}")
    more = steady.everybody - without.everybody
    yield BenchRow(
        f"{name}: requests more than without it", "", _listed(more), note="apiserver_request_total"
    )
    yield _bytes(f"{name}: bytes a minute", steady)
    cpu = steady.per_minute(steady.cpu)
    met = cpu <= GOAL_OF_CPU
    yield BenchRow(f"{name}: CPU a minute", f"≤ {GOAL_OF_CPU:g} s", f"{cpu:.2f} s", met, note)
    yield BenchRow(
        f"{name}: CPU of kube-apiserver a minute",
        "",
        f"{steady.per_minute(steady.server):.1f} s",
        note=f"without the reporter {without.per_minute(without.server):.1f} s",
    )


def _is_expected(request: ApiRequest) -> bool:
    return request.verb == "watch" or request in EXPECTED


def _repeating(window: CostSample, findings: int) -> Iterator[BenchRow]:
    name = f"{findings} findings announced"
    patches = sum(n for each, n in window.requests.items() if each.resource == "events")
    expected = window.seconds / HEARTBEAT * findings
    yield BenchRow(
        f"{name}: writes of Events a minute",
        "one per finding and heartbeat",
        f"{window.per_minute(patches):.1f}",
        abs(patches - expected) <= 0.1 * expected + findings,
        f"heartbeat {HEARTBEAT} s here, 300 s by default",
    )
    yield BenchRow(
        f"{name}: requests", "", _listed(window.requests), note=f"in {window.seconds:.0f} s"
    )
    yield _bytes(f"{name}: bytes a minute", window)
    yield BenchRow(f"{name}: CPU a minute", "", f"{window.per_minute(window.cpu):.2f} s")


def _bytes(name: str, window: CostSample) -> BenchRow:
    up, down = (window.per_minute(each) / 1024 for each in window.bytes)
    return BenchRow(name, "", f"{up:.0f} KiB sent, {down:.0f} KiB received", note="TLS included")


def _listed(requests: Requests) -> str:
    """
    The most frequent first; what was asked equally often of many resources is one.
    """
    alike: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for each, count in requests.most_common():
        alike[count, each.verb].append(each.resource)
    return ", ".join(
        f"{count} {verb} {', '.join(resources)}"
        if len(resources) <= NAMED
        else f"{count} {verb} of each of {len(resources)} kinds"
        for (count, verb), resources in alike.items()
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.bench.apiload",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--inferencesets", type=natural, default=1_000, help="default: 1000")
    parser.add_argument(
        "--seconds", type=natural, default=120, help="of each window; default: 120"
    )
    parser.add_argument(
        "--findings", type=natural, default=10, help="that are repeated; default: 10"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 when a goal is missed")
    rows.add_argument(parser)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
