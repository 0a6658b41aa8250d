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
    """
    An outage that ends when *over* is closed.
    """

    fault_check: FaultCheck
    over: ExitStack


@pytest.fixture(scope="module")
def gone() -> Iterator[LongOutage]:
    """
    An API server that has just stopped in the middle of an episode. It is restarted at the end,
    also when the test that waits for that was not selected.
    """
    with ExitStack() as ends:
        plane = ends.enter_context(ControlPlane())
        example.install(plane.client)
        ends.enter_context(restore.healthy_stack(plane))
        reporter = ends.enter_context(ReporterProcess(plane, *FLAGS))
        ordeal = FaultCheck(plane, reporter)
        ordeal.prepare()
        with ExitStack() as over:
            over.enter_context(plane.api_server_down())
            yield LongOutage(ordeal, over)


def test_connections_that_are_half_open_for_five_minutes_are_given_up(
    gone: LongOutage, stack: ControlPlane, proxy: FaultProxy
) -> None:
    with ReporterProcess(stack, *FLAGS, proxy.flag()) as reporter:
        ordeal = FaultCheck(stack, reporter)
        ordeal.prepare()
        proxy.freeze()
        ordeal.change_stack(unseen=True)
        ordeal.wait_until_age(HALF_OPEN)
        assert set(reporter.states().values()) == {"unknown"}
        proxy.unfreeze(lost=True)
        ordeal.fault_ended()
        ordeal.wait_recovered()
        ordeal.assert_expected_events()
        ordeal.assert_cheap()
        ordeal.assert_logged("timed out")
    assert gone.fault_check.reporter.running


def test_answers_that_take_half_a_minute_are_no_answers(
    gone: LongOutage, stack: ControlPlane, proxy: FaultProxy
) -> None:
    with ReporterProcess(stack, *FLAGS, proxy.flag()) as reporter:
        ordeal = FaultCheck(stack, reporter)
        ordeal.prepare()
        with proxy.with_rule(ProxyRule(delay=ANSWERS_AFTER)):
            proxy.cut()
            ordeal.change_stack(unseen=True)
            ordeal.wait_until_age(SLOW)
            assert set(reporter.states().values()) == {"unknown"}
        ordeal.fault_ended()
        ordeal.wait_recovered()
        ordeal.assert_expected_events()
        ordeal.assert_cheap()
        ordeal.assert_logged("timed out")
    assert gone.fault_check.reporter.running


def test_api_server_that_was_gone_for_ten_minutes_finds_all_as_it_was(gone: LongOutage) -> None:
    ordeal = gone.fault_check
    ordeal.wait_until_age(GONE)
    assert set(ordeal.reporter.states().values()) == {"unknown"}
    gone.over.close()
    ordeal.fault_ended()
    ordeal.change_stack()
    ordeal.wait_recovered()
    ordeal.assert_expected_events()
    ordeal.assert_cheap()
    ordeal.assert_logged("not watched: Cannot connect to host")
