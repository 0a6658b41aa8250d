"""
A stop in every phase of a start, and while an Event is on its way: the process ends with success,
in time, without a trace in its log, and gives back the Lease if it holds it.
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

from e2e import events, repair, stack
from e2e.controlplane import ApiError, ControlPlane, Json, until
from e2e.faults.proxy import Proxy, proxied
from e2e.faults.rules import Rule
from e2e.patience import AT_ONCE, QUICK
from e2e.reporter_process import LEASE, PROGRAM, ReporterProcess
from e2e.stack import BODY_BASED_ROUTER, ISTIOD, Component


BBR, ISTIO = "clusterBBRNotReady", "clusterIstioControlPlaneNotReady"
GRACE = 30
"""
Seconds that Kubernetes gives a pod by default.
"""

RELEASE = 2.5
"""
Seconds in which the Lease is given back or left to run out: half the renew deadline.
"""

WRITES = ("POST", "PUT", "PATCH")


@pytest.fixture(scope="module")
def way(stack: ControlPlane) -> Iterator[Proxy]:
    with repair.mended(stack) as plane, proxied(plane) as proxy:
        yield proxy


@pytest.fixture
def proxy(way: Proxy) -> Iterator[Proxy]:
    yield way
    way.mend()


# ---------------------------------------------------------------- before it speaks to anyone


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_stop_while_the_program_is_loaded_ends_it_without_a_trace(
    number: signal.Signals, code: int
) -> None:
    command = (PROGRAM[0], "-X", "importtime", *PROGRAM[1:], "run", "--leader-elect=false")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        loading = next(line for line in process.stderr if line.endswith(" reporter.model\n"))
        process.send_signal(number)
        said = loading + process.stderr.read()
        assert process.wait(GRACE) == code
    assert "Traceback" not in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
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
        until(pid_file.exists, within=AT_ONCE, what="the plugin runs")
        process.send_signal(number)
        assert process.wait(GRACE) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    pid = pid_file.read_text().strip()
    until(lambda: not Path("/proc", pid).exists(), within=AT_ONCE, what="the plugin has ended")


# ---------------------------------------------------------------- with a server that hangs


@dataclass(frozen=True)
class Phase:
    """
    What hangs when it is stopped, and whether the Lease was held by then.
    """

    where: str
    methods: tuple[str, ...] = ("GET",)
    holds: bool = False


PHASES = {
    "discovery": Phase(r"^/apis\b(?!/)"),
    "the first list": Phase(r"/api/v1/namespaces\?"),
    "one of the lists": Phase(r"/deployments\?"),
    "the look at its rights": Phase("selfsubjectaccessreviews", WRITES, holds=True),
    "the look at the lease": Phase(r"/leases/"),
    "the bid for the lease": Phase(r"/leases", WRITES),
    "what was said before": Phase(r"/events\?", holds=True),
    "an Event": Phase(r"/events", WRITES, holds=True),
}


@pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES)
def test_stop_while_something_hangs_ends_in_time_and_gives_the_lease_back(
    proxy: Proxy, stack: ControlPlane, phase: Phase
) -> None:
    begun, reporter = time.monotonic(), _reporter(proxy, stack)
    with (
        proxy.ruled(Rule(phase.where, phase.methods, hang=True)),
        _broken(stack),
        _ended(reporter.start(ready=False)),
    ):
        until(
            lambda: proxy.count(phase.where, methods=phase.methods, since=begun),
            within=AT_ONCE,
            what=f"{phase} is reached",
        )
        if phase.holds:
            reporter.until_leading()
            assert _holder(stack).startswith("reporter_")
        _assert_stops_well(reporter)
    assert _holder(stack) == ""


def test_stop_while_the_server_is_silent_ends_in_time_and_says_that_the_lease_stays(
    proxy: Proxy, stack: ControlPlane
) -> None:
    with _reporter(proxy, stack) as reporter:
        proxy.freeze()
        _assert_stops_well(reporter, grace=RELEASE + AT_ONCE / 2)
        assert len(reporter.lines("was not released and must run out")) == 1
    proxy.thaw()
    assert _holder(stack).startswith("reporter_")
    stack.client.delete(LEASE)


def test_stop_of_one_that_stands_by_leaves_the_lease_to_its_holder(
    proxy: Proxy, stack: ControlPlane
) -> None:
    with _reporter(proxy, stack):
        pass  # so that there is a Lease
    with _held_by(stack, "another"), _ended(_reporter(proxy, stack).start(leading=False)) as one:
        until(lambda: one.lines("standing by: another leads"), within=AT_ONCE, what="it stands by")
        _assert_stops_well(one)
        assert _holder(stack) == "another"


def test_event_that_was_under_way_at_the_stop_is_said_once_by_the_next(
    proxy: Proxy, stack: ControlPlane
) -> None:
    """
    What the next one says of something else shows that it has said all that it had to say before.
    """
    with _broken(stack), proxy.ruled(Rule(r"/events", ("POST",), swallow=True, hang=True)):
        with _reporter(proxy, stack) as one:
            events.wait_for(stack.client, BBR, within=AT_ONCE)
            _assert_stops_well(one)
        proxy.mend()
        with _reporter(proxy, stack), _out(stack, ISTIOD):
            events.wait_for(stack.client, ISTIO, within=AT_ONCE)
        assert events.reasons(stack.client) == [BBR, ISTIO]


# ---------------------------------------------------------------- used above


def _reporter(proxy: Proxy, stack: ControlPlane) -> ReporterProcess:
    return ReporterProcess(stack, *QUICK, proxy.flag())


@contextlib.contextmanager
def _ended(reporter: ReporterProcess) -> Iterator[ReporterProcess]:
    """
    Also one that was never ready.
    """
    try:
        yield reporter
    finally:
        reporter.__exit__()


def _assert_stops_well(reporter: ReporterProcess, *, grace: float = GRACE) -> None:
    begun = time.monotonic()
    assert reporter.stop(grace=grace) == 0
    print(f"ended within {time.monotonic() - begun:.2f} s")
    assert "Traceback" not in reporter.log()


@contextlib.contextmanager
def _broken(plane: ControlPlane) -> Iterator[None]:
    """
    With something to say.
    """
    events.clear(plane.client)
    with _out(plane, BODY_BASED_ROUTER):
        yield
    events.clear(plane.client)


@contextlib.contextmanager
def _out(plane: ControlPlane, component: Component) -> Iterator[None]:
    stack.scale(plane.client, component, 0)
    try:
        yield
    finally:
        stack.scale(plane.client, component, component.replicas)


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
