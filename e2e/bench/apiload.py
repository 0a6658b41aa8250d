"""
Measure the reporter's load on the API server: at start, idle, with announced findings, at restart.

Requests of the reporter are counted from the audit log, and its bytes, TLS included, by a proxy in
between. The API server's own metrics count the requests of all clients, with and without the
reporter.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from e2e.bench.load.deployments import INFERENCE_SETS
from e2e.bench.load.teams import BenchTeams
from e2e.bench.rows import BenchRow
from e2e.bench.support import program
from e2e.bench.support.cost_meter import CostMeter, CostSample
from e2e.bench.support.counting_proxy import CountingProxy, counting_proxy
from e2e.bench.support.latency_probe import LatencyProbe
from e2e.bench.support.request_audit import ApiRequest, Requests, reads
from e2e.controlplane import ControlPlane, reporter_rights, until
from e2e.support import events, machine
from e2e.support.production_stack import workload
from e2e.support.production_stack.inference_sets import INVALID_REASON, WRONG
from e2e.support.reporter_process import NAMESPACE, ReporterProcess


POLLING = 4_000
"""Reads a minute of the polling Go reporter at 1,000 healthy InferenceSets."""

GOAL_OF_READS, GOAL_OF_CPU = POLLING / 100, 0.15
"""Goals a minute: reads of the API server, CPU seconds of the reporter."""

KAITO_NAMESPACES = "/apis/kaito.sh/v1beta1/namespaces"
HEARTBEAT = 30
FLAGS = (
    "--scrape=loading",  # the copied Ready pods have no page
    f"--heartbeat-seconds={HEARTBEAT}",
    "--lease-duration-seconds=15",
    "--renew-deadline-seconds=10",
    "--retry-period-seconds=2",
)
START_TIMEOUT = 300
SETTLE_SECONDS = 40
"""
Seconds after a start before the reporter counts as idle: its second full pass, after 30 s, looks at all.
"""

EXPECTED = {
    ApiRequest("update", "leases"),
    ApiRequest("get", "/apis"),
    ApiRequest("create", "selfsubjectrulesreviews"),
}
"""Requests of an idle reporter, beside watches, which are reopened after some minutes."""

MAX_NAMED = 3
"""Maximum number of resources to list by name."""


def main() -> int:
    parser = program.parser(
        "apiload",
        __doc__,
        ("inferencesets", 1_000, "size of the stack"),
        ("seconds", 120, "length of each measurement"),
        ("findings", 10, "findings to announce"),
    )
    return program.run(parser.parse_args(), _rows)


def _rows(arguments: argparse.Namespace) -> Iterator[BenchRow]:
    with (
        ControlPlane(replace(workload.MINIMAL_OPTIONS, audit=True)) as plane,
        counting_proxy(plane.client.port) as proxy,
    ):
        teams = BenchTeams(plane)
        teams.grow(arguments.inferencesets)
        objects = teams.objects()
        print("\n".join(machine.lines(plane)))
        print(f"cluster   {arguments.inferencesets:,} InferenceSets, {objects:,} objects\n")
        yield from _measure(plane, proxy, arguments)


def _measure(
    plane: ControlPlane, proxy: CountingProxy, arguments: argparse.Namespace
) -> Iterator[BenchRow]:
    meter, many = CostMeter(plane, proxy), arguments.inferencesets
    without = meter.measure(arguments.seconds)
    reporter = _reporter(plane, proxy)
    yield from _start_rows(plane, proxy, meter, reporter, f"start at {many:,}")
    try:
        steady = meter.measure(arguments.seconds, reporter)
        yield from _idle_rows(steady, without, many)
        _break_inference_sets(plane, arguments.findings)
        repeating = meter.measure(arguments.seconds, reporter)
        yield from _heartbeat_rows(repeating, arguments.findings)
    finally:
        reporter.stop()
    yield from _start_rows(plane, proxy, meter, reporter, f"restart at {many:,}")
    reporter.stop()


def _reporter(plane: ControlPlane, proxy: CountingProxy) -> ReporterProcess:
    reporter_rights.install(plane.client, NAMESPACE)
    kubeconfig = plane.service_account_kubeconfig(NAMESPACE, reporter_rights.NAME)
    return ReporterProcess(
        plane, *FLAGS, f"--kubeconfig={proxy.kubeconfig(kubeconfig)}", grant=False
    )


def _break_inference_sets(plane: ControlPlane, findings: int) -> None:
    for inference_set in plane.client.list(INFERENCE_SETS, limit=str(findings)):
        meta = inference_set["metadata"]
        path = f"{KAITO_NAMESPACES}/{meta['namespace']}/inferencesets/{meta['name']}"
        plane.client.patch(path, {"metadata": {"annotations": WRONG}})
    until(
        lambda: len(events.reporter_events(plane.client, INVALID_REASON)) >= findings,
        within=60,
        what=f"{findings} findings are announced",
    )


# ---------------------------------------------------------------- the rows


def _start_rows(
    plane: ControlPlane,
    proxy: CountingProxy,
    meter: CostMeter,
    reporter: ReporterProcess,
    name: str,
) -> Iterator[BenchRow]:
    idle_latency, latency = LatencyProbe(plane), LatencyProbe(plane)
    with idle_latency.measured():
        time.sleep(5)
    meter.audit.take_requests()
    bytes_before, server, begun = proxy.byte_counts(), meter.server_cpu(), time.monotonic()
    with latency.measured():
        reporter.start(ready=False)
        reporter.until_ready(within=START_TIMEOUT)
        took = time.monotonic() - begun
        received = proxy.byte_counts().received - bytes_before.received
        server = meter.server_cpu() - server
    time.sleep(SETTLE_SECONDS)
    requests = meter.audit.take_requests()
    yield BenchRow(f"{name}: ready", "≤ 10 s", f"{took:.1f} s", took <= 10, "through a relay")
    yield BenchRow(f"{name}: received", "", f"{received / 2**20:.1f} MiB")
    yield BenchRow(
        f"{name}: requests", "", _listed(requests), note=f"until {SETTLE_SECONDS} s later"
    )
    yield BenchRow(
        f"{name}: CPU of kube-apiserver", "", f"{server:.2f} s", note="until it is ready"
    )
    yield _latency_row(name, latency, idle_latency)


def _latency_row(name: str, latency: LatencyProbe, idle_latency: LatencyProbe) -> BenchRow:
    return BenchRow(
        f"{name}: latency of the API server for others",
        "",
        f"{latency} ms",
        note=f"median / 99th / most; before: {idle_latency}",
    )


def _idle_rows(steady: CostSample, without: CostSample, many: int) -> Iterator[BenchRow]:
    name, note = f"idle at {many:,}", f"in {steady.seconds:.0f} s"
    read_rate = steady.per_minute(reads(steady.requests))
    yield BenchRow(
        f"{name}: reads a minute",
        f"< {GOAL_OF_READS:g}",
        f"{read_rate:.1f}",
        read_rate < GOAL_OF_READS,
        f"{read_rate * 100 / POLLING:.2f} % of the polling reporter's {POLLING:,}, {note}",
    )
    unexpected = [request for request in steady.requests if not _is_expected(request)]
    goal = "watches, the lease, discovery, its rules"
    listed = _listed(steady.requests)
    yield BenchRow(f"{name}: requests", goal, listed, not unexpected, f"audit log, {note}")
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


def _heartbeat_rows(window: CostSample, findings: int) -> Iterator[BenchRow]:
    name = f"{findings} findings announced"
    patches = sum(n for request, n in window.requests.items() if request.resource == "events")
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
    up, down = (window.per_minute(count) / 1024 for count in window.bytes)
    return BenchRow(name, "", f"{up:.0f} KiB sent, {down:.0f} KiB received", note="TLS included")


def _listed(requests: Requests) -> str:
    """
    Format requests, the most frequent first. Resources with the same verb and count share an entry.
    """
    grouped: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for request, count in requests.most_common():
        grouped[count, request.verb].append(request.resource)
    return ", ".join(
        f"{count} {verb} {', '.join(resources)}"
        if len(resources) <= MAX_NAMED
        else f"{count} {verb} of each of {len(resources)} kinds"
        for (count, verb), resources in grouped.items()
    )


if __name__ == "__main__":
    sys.exit(main())
