"""
Faults that last for minutes: nothing accumulates in memory, and nothing expires.

The longest fault runs on a control plane of its own, in parallel with the others.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from e2e.controlplane import ControlPlane
from e2e.faults.support.fault_check import FaultCheck
from e2e.faults.support.proxy import FaultProxy
from e2e.faults.support.proxy_rules import ProxyRule
from e2e.support.production_stack import components as example
from e2e.support.production_stack import restore
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS


FLAGS = (*SHORT_FLAGS, "--emission=all", "--resync-seconds=10")
GONE, HALF_OPEN, SLOW = 600, 300, 90
ANSWERS_AFTER = 30

pytestmark = pytest.mark.slow


class LongOutage(NamedTuple):
    """An outage that ends when *over* is closed."""

    fault_check: FaultCheck
    over: ExitStack


@pytest.fixture(scope="module")
def outage() -> Iterator[LongOutage]:
    """
    An API server that has just stopped in the middle of an episode. It is restarted at the end,
    also when the test that waits for that was not selected.
    """
    with ExitStack() as ends:
        plane = ends.enter_context(ControlPlane())
        example.install(plane.client)
        ends.enter_context(restore.healthy_stack(plane))
        reporter = ends.enter_context(ReporterProcess(plane, *FLAGS))
        check = FaultCheck(plane, reporter)
        check.prepare()
        with ExitStack() as over:
            over.enter_context(plane.api_server_down())
            yield LongOutage(check, over)


def test_connections_that_are_half_open_for_five_minutes_are_given_up(
    outage: LongOutage, stack: ControlPlane, proxy: FaultProxy
) -> None:
    with ReporterProcess(stack, *FLAGS, proxy.flag()) as reporter:
        check = FaultCheck(stack, reporter)
        check.prepare()
        proxy.freeze()
        check.change_stack(unseen=True)
        check.wait_until_age(HALF_OPEN)
        assert set(reporter.states().values()) == {"unknown"}
        proxy.unfreeze(lost=True)
        check.fault_ended()
        check.wait_recovered()
        check.assert_expected_events()
        check.assert_cheap()
        check.assert_logged("timed out")
    assert outage.fault_check.reporter.running


def test_answers_that_take_half_a_minute_are_no_answers(
    outage: LongOutage, stack: ControlPlane, proxy: FaultProxy
) -> None:
    with ReporterProcess(stack, *FLAGS, proxy.flag()) as reporter:
        check = FaultCheck(stack, reporter)
        check.prepare()
        with proxy.with_rule(ProxyRule(delay=ANSWERS_AFTER)):
            proxy.cut()
            check.change_stack(unseen=True)
            check.wait_until_age(SLOW)
            assert set(reporter.states().values()) == {"unknown"}
        check.fault_ended()
        check.wait_recovered()
        check.assert_expected_events()
        check.assert_cheap()
        check.assert_logged("timed out")
    assert outage.fault_check.reporter.running


def test_after_ten_minutes_without_an_api_server_nothing_has_changed(outage: LongOutage) -> None:
    check = outage.fault_check
    check.wait_until_age(GONE)
    assert set(check.reporter.states().values()) == {"unknown"}
    outage.over.close()
    check.fault_ended()
    check.change_stack()
    check.wait_recovered()
    check.assert_expected_events()
    check.assert_cheap()
    check.assert_logged("not watched: Cannot connect to host")
