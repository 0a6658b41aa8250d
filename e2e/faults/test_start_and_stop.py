"""
A stop in every phase of a start, and while an Event is being written: the process exits with 0 in
time, logs no traceback, and releases the Lease if it holds it.
"""

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.controlplane import ApiError, ControlPlane, Json, until
from e2e.faults.support.proxy import FaultProxy, fault_proxy
from e2e.faults.support.proxy_rules import ProxyRule
from e2e.faults.support.variants import variants
from e2e.support import events
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD, StackComponent
from e2e.support.reporter_process import LEASE, PROGRAM, ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS


BBR, ISTIO = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady"
GRACE = 30
"""Seconds that Kubernetes gives a pod by default."""

WRITES = ("POST", "PUT", "PATCH")
SIGNALS = (signal.SIGTERM, signal.SIGINT)


@pytest.fixture(scope="module")
def proxy_connection(stack: ControlPlane) -> Iterator[FaultProxy]:
    with restore.healthy_stack(stack) as plane, fault_proxy(plane) as proxy:
        yield proxy


@pytest.fixture
def proxy(proxy_connection: FaultProxy) -> Iterator[FaultProxy]:
    yield proxy_connection
    proxy_connection.clear_rules()


# ---------------------------------------------------------------- before the first request


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_stop_while_the_program_is_loaded_ends_it_without_a_trace(
    number: signal.Signals, code: int
) -> None:
    command = (PROGRAM[0], "-X", "importtime", *PROGRAM[1:], "run", "--leader-elect=false")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        loading = next(line for line in process.stderr if line.endswith(" reporter.model\n"))
        process.send_signal(number)
        output = loading + process.stderr.read()
        assert process.wait(GRACE) == code
    assert "Traceback" not in output


@pytest.mark.parametrize("number", variants({each.name: each for each in SIGNALS}, "SIGTERM"))
def test_stop_while_a_credential_plugin_runs_ends_both(
    tmp_path: Path, number: signal.Signals
) -> None:
    pid_file = tmp_path / "pid"
    plugin = tmp_path / "plugin"
    plugin.write_text(
        f"#!/bin/sh\necho $$ >{pid_file}.new\nmv {pid_file}.new {pid_file}\nexec sleep 60\n"
    )
    plugin.chmod(0o755)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(_with_plugin(plugin)))
    command = (*PROGRAM, "run", f"--kubeconfig={kubeconfig}", "--leader-elect=false")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        until(pid_file.exists, within=PROMPT_TIMEOUT, what="the plugin runs")
        process.send_signal(number)
        assert process.wait(GRACE) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    pid = pid_file.read_text().strip()
    until(
        lambda: not Path("/proc", pid).exists(), within=PROMPT_TIMEOUT, what="the plugin has ended"
    )


# ---------------------------------------------------------------- with a server that hangs


@dataclass(frozen=True)
class StopPhase:
    """The request that hangs during the stop, and whether the Lease was held by then."""

    where: str
    methods: tuple[str, ...] = ("GET",)
    holds: bool = False


PHASES = {
    "discovery": StopPhase(r"^/apis\b(?!/)"),
    "the first list": StopPhase(r"/api/v1/namespaces\?"),
    "one of the lists": StopPhase(r"/deployments\?"),
    "the look at its rights": StopPhase("selfsubjectaccessreviews", WRITES, holds=True),
    "the look at the lease": StopPhase(r"/leases/"),
    "the bid for the lease": StopPhase(r"/leases", WRITES),
    "read-back of earlier Events": StopPhase(r"/events\?", holds=True),
    "an Event": StopPhase(r"/events", WRITES, holds=True),
}


@pytest.mark.parametrize("phase", variants(PHASES, "the bid for the lease", "an Event"))
def test_stop_while_something_hangs_ends_in_time_and_gives_the_lease_back(
    proxy: FaultProxy, stack: ControlPlane, phase: StopPhase
) -> None:
    begun, reporter = time.monotonic(), _reporter(proxy, stack)
    with (
        proxy.with_rule(ProxyRule(phase.where, phase.methods, hang=True)),
        _broken(stack),
        _ended(reporter.start(ready=False)),
    ):
        until(
            lambda: proxy.count(phase.where, methods=phase.methods, since=begun),
            within=PROMPT_TIMEOUT,
            what=f"{phase} is reached",
        )
        if phase.holds:
            reporter.until_leading()
            assert _holder(stack).startswith("reporter_")
        _assert_stops_well(reporter)
    assert _holder(stack) == ""


def test_a_stop_while_the_server_hangs_ends_in_time_and_logs_that_the_lease_stays(
    proxy: FaultProxy, stack: ControlPlane
) -> None:
    with _reporter(proxy, stack) as reporter:
        proxy.freeze()
        _assert_stops_well(reporter)
        assert len(reporter.lines("was not released and must expire")) == 1
    proxy.unfreeze()
    assert _holder(stack).startswith("reporter_")
    stack.client.delete(LEASE)


def test_stop_of_one_that_stands_by_leaves_the_lease_to_its_holder(
    proxy: FaultProxy, stack: ControlPlane
) -> None:
    with _reporter(proxy, stack):
        pass  # so that there is a Lease
    with _held_by(stack, "another"), _ended(_reporter(proxy, stack).start(leading=False)) as one:
        until(
            lambda: one.lines("standing by: another leads"),
            within=PROMPT_TIMEOUT,
            what="it stands by",
        )
        _assert_stops_well(one)
        assert _holder(stack) == "another"


def test_an_event_in_flight_at_the_stop_is_written_once_by_the_next_leader(
    proxy: FaultProxy, stack: ControlPlane
) -> None:
    """
    An Event about something else, written later, shows that the next process has no Event left to
    write.
    """
    with (
        _broken(stack),
        proxy.with_rule(ProxyRule(r"/events", ("POST",), drop_answer=True, hang=True)),
    ):
        with _reporter(proxy, stack) as one:
            events.wait_for(stack.client, BBR, within=PROMPT_TIMEOUT)
            _assert_stops_well(one)
        proxy.clear_rules()
        with _reporter(proxy, stack), _out(stack, ISTIOD):
            events.wait_for(stack.client, ISTIO, within=PROMPT_TIMEOUT)
        assert events.reasons(stack.client) == [BBR, ISTIO]


# ---------------------------------------------------------------- used above


def _reporter(proxy: FaultProxy, stack: ControlPlane) -> ReporterProcess:
    return ReporterProcess(stack, *SHORT_FLAGS, proxy.flag())


@contextlib.contextmanager
def _ended(reporter: ReporterProcess) -> Iterator[ReporterProcess]:
    """Stop a process after the block, also one that was never ready."""
    try:
        yield reporter
    finally:
        reporter.__exit__()


def _assert_stops_well(reporter: ReporterProcess) -> None:
    begun = time.monotonic()
    assert reporter.stop(grace=GRACE) == 0
    print(f"ended within {time.monotonic() - begun:.2f} s")
    assert "Traceback" not in reporter.log()


@contextlib.contextmanager
def _broken(plane: ControlPlane) -> Iterator[None]:
    """A stack with one finding to announce."""
    events.clear(plane.client)
    with _out(plane, BODY_BASED_ROUTER):
        yield
    events.clear(plane.client)


@contextlib.contextmanager
def _out(plane: ControlPlane, component: StackComponent) -> Iterator[None]:
    components.scale(plane.client, component, 0)
    try:
        yield
    finally:
        components.scale(plane.client, component, component.replicas)


@contextlib.contextmanager
def _held_by(plane: ControlPlane, holder: str) -> Iterator[None]:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 3600}
    plane.client.patch(LEASE, {"spec": spec})
    try:
        yield
    finally:
        plane.client.delete(LEASE)


def _holder(plane: ControlPlane) -> str:
    try:
        spec = plane.client.get(LEASE)["spec"]
    except ApiError:
        return ""
    return str(spec.get("holderIdentity") or "")


def _with_plugin(plugin: Path) -> Json:
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(plugin),
            "interactiveMode": "Never",
        }
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "any",
        "clusters": [{"name": "any", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "any", "user": user}],
        "contexts": [{"name": "any", "context": {"cluster": "any", "user": "any"}}],
    }
