"""
Faults that last for minutes: nothing that is kept in memory may pile up, and nothing expires.

The longest runs on a control plane of its own while the others take their time.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from e2e import repair
from e2e import stack as example
from e2e.controlplane import ControlPlane
from e2e.faults.ordeal import Ordeal
from e2e.faults.proxy import Proxy
from e2e.faults.rules import Rule
from e2e.patience import QUICK
from e2e.reporter_process import ReporterProcess


FLAGS = (*QUICK, "--emission=all", "--resync-seconds=10")
GONE, HALF_OPEN, SLOW = 600, 300, 90
ANSWERS_AFTER = 30

pytestmark = pytest.mark.slow


class Outage(NamedTuple):
    """
    *over* is closed to end it.
    """

    ordeal: Ordeal
    over: ExitStack


@pytest.fixture(scope="module")
def gone() -> Iterator[Outage]:
    """
    An API server that has just gone, in the middle of an episode. It is back at the end, also when
    the test that waits for that was not chosen.
    """
    with ExitStack() as ends:
        plane = ends.enter_context(ControlPlane())
        example.install(plane.client)
        ends.enter_context(repair.mended(plane))
        reporter = ends.enter_context(ReporterProcess(plane, *FLAGS))
        ordeal = Ordeal(plane, reporter)
        ordeal.prepare()
        with ExitStack() as over:
            over.enter_context(plane.api_server_down())
            yield Outage(ordeal, over)


def test_connections_that_are_half_open_for_five_minutes_are_given_up(
    gone: Outage, stack: ControlPlane, proxy: Proxy
) -> None:
    with ReporterProcess(stack, *FLAGS, proxy.flag()) as reporter:
        ordeal = Ordeal(stack, reporter)
        ordeal.prepare()
        proxy.freeze()
        ordeal.change(unseen=True)
        ordeal.last(HALF_OPEN)
        assert set(reporter.states().values()) == {"unknown"}
        proxy.thaw(lost=True)
        ordeal.over()
        ordeal.end()
        ordeal.assert_only_the_truth_was_told()
        ordeal.assert_cheap()
        ordeal.assert_logged("timed out")
    assert gone.ordeal.reporter.running


def test_answers_that_take_half_a_minute_are_no_answers(
    gone: Outage, stack: ControlPlane, proxy: Proxy
) -> None:
    with ReporterProcess(stack, *FLAGS, proxy.flag()) as reporter:
        ordeal = Ordeal(stack, reporter)
        ordeal.prepare()
        with proxy.ruled(Rule(delay=ANSWERS_AFTER)):
            proxy.cut()
            ordeal.change(unseen=True)
            ordeal.last(SLOW)
            assert set(reporter.states().values()) == {"unknown"}
        ordeal.over()
        ordeal.end()
        ordeal.assert_only_the_truth_was_told()
        ordeal.assert_cheap()
        ordeal.assert_logged("timed out")
    assert gone.ordeal.reporter.running


def test_api_server_that_was_gone_for_ten_minutes_finds_all_as_it_was(gone: Outage) -> None:
    ordeal = gone.ordeal
    ordeal.last(GONE)
    assert set(ordeal.reporter.states().values()) == {"unknown"}
    gone.over.close()
    ordeal.over()
    ordeal.change()
    ordeal.end()
    ordeal.assert_only_the_truth_was_told()
    ordeal.assert_cheap()
    ordeal.assert_logged("not watched: Cannot connect to host")
