"""The API server and its etcd in trouble: down for a moment, hung, or overloaded."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from e2e.controlplane import ControlPlane, Options, until
from e2e.faults.support.fault_check import STAMP, FaultCheck
from e2e.faults.support.priority_and_fairness import throttled_account
from e2e.faults.support.proxy import FaultProxy
from e2e.faults.test_network import LASTS
from e2e.support import events
from e2e.support.production_stack import components
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import DEPLOYMENT_REASONS, SHORT_FLAGS


ALL = "--emission=all"
DOWN = 20
"""Seconds; longer than the lease, and than most tries wait for an answer."""

RATE_LIMIT = """
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
  - name: EventRateLimit
    configuration:
      apiVersion: eventratelimit.admission.k8s.io/v1alpha1
      kind: Configuration
      limits: [{type: SourceAndObject, qps: 1, burst: 1, cacheSize: 100}]
"""


@contextlib.contextmanager
def _restarted(plane: ControlPlane, *, kill: bool) -> Iterator[None]:
    with plane.paused("kwok"):
        plane.stop_api_server(kill=kill)
        plane.start_api_server()
    yield


Begin: TypeAlias = Callable[[ControlPlane], contextlib.AbstractContextManager[None]]

FAULTS: dict[str, tuple[Begin, float, str]] = {
    "API-server-restarted": (lambda plane: _restarted(plane, kill=False), 0, ""),
    "API-server-killed-and-started": (lambda plane: _restarted(plane, kill=True), 0, ""),
    "API-server-hung": (lambda plane: plane.paused("kube-apiserver"), DOWN, "no answer in time"),
    "etcd-stopped": (lambda plane: plane.etcd_down(), DOWN, "no longer leading"),
    "etcd-hung": (lambda plane: plane.paused("etcd"), DOWN, "no longer leading"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_change_after_a_fault_of_the_server_is_announced_once(
    stack: ControlPlane, proxy: FaultProxy, fault: str
) -> None:
    """All components change as soon as the fault is over, because nothing can change during it."""
    begin, seconds, message = FAULTS[fault]
    with ReporterProcess(stack, *SHORT_FLAGS, ALL, proxy.flag()) as reporter:
        check = FaultCheck(stack, reporter)
        check.prepare()
        with begin(stack):
            check.wait_until_age(seconds)
        check.fault_ended()
        check.change_stack()
        check.wait_recovered()
        check.assert_expected_events()
        check.assert_cheap()
        check.assert_logged(message)


@pytest.mark.slow
def test_refusals_by_priority_and_fairness_only_delay_events(
    stack: ControlPlane, proxy: FaultProxy
) -> None:
    """
    One request at a time has a seat, so refusals alternate with successes, and may be logged each
    second.
    """
    with ReporterProcess(stack, *SHORT_FLAGS, ALL, proxy.flag()) as reporter:
        check = FaultCheck(stack, reporter)
        check.prepare()
        with throttled_account(stack):
            proxy.cut()
            check.change_stack()
            check.wait_until_age(LASTS)
        check.fault_ended()
        check.wait_recovered()
        check.assert_expected_events()
        check.assert_cheap()
        check.assert_logged("HTTP 429: Too many requests", at_most=LASTS)


@pytest.mark.slow
def test_event_rate_limit_delays_events_and_loses_none(
    new_control_plane: Callable[[Options], ControlPlane], tmp_path: Path
) -> None:
    """
    The plugin limits Events in the API server. Without controllers nobody else writes Events, and
    the scaling of a Deployment to zero still counts.
    """
    config = tmp_path / "admission.yaml"
    config.write_text(RATE_LIMIT)
    plugin = "--enable-admission-plugins=EventRateLimit"
    flags = (plugin, f"--admission-control-config-file={config}")
    bare = Options(controllers=False, scheduler=False, kwok=False, apiserver_flags=flags)
    plane = new_control_plane(bare)
    for manifest in components.manifests():
        plane.client.apply(manifest)
    with ReporterProcess(plane, *SHORT_FLAGS, ALL) as reporter:
        for component in components.COMPONENTS:
            components.scale(plane.client, component, 0)
        out = sorted(DEPLOYMENT_REASONS)
        until(
            lambda: set(events.reasons(plane.client)) == set(out),
            within=90,
            what="all are announced",
        )
        assert sorted(events.reasons(plane.client)) == out
        assert reporter.metric("event_writes_total", result="throttled") > 0
        lines = [STAMP.sub("", line) for line in reporter.lines("429")]
        assert len(lines) == len(set(lines))
