"""One API server of several whose clock is wrong: every fifth answer has a Date that is off."""

import itertools
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.controlplane.faults import IMAGE_PULL, clear_pod_fault, set_pod_fault
from e2e.faults.support.proxy import FaultProxy
from e2e.faults.support.proxy_rules import ProxyRule
from e2e.faults.support.variants import variants
from e2e.faults.test_clocks import is_dated_at_its_write
from e2e.support import events
from e2e.support.production_stack import components
from e2e.support.production_stack.components import ISTIOD
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS, holds_overlay_flag


ISTIO, READY = "clusterIstioControlPlaneNotReady", "clusterReady"
SERVERS = 5
HOLD = 8
WRONG_BY = {"20 s ahead": 20, "an hour ahead": 3600, "an hour behind": -3600}


def every_fifth_answer(wrong_by: float) -> Callable[[dict[str, str]], dict[str, str]]:
    """
    Return a change of headers that shifts the Date of each fifth answer, the first one included.
    """
    numbers = itertools.count()

    def shifted(headers: dict[str, str]) -> dict[str, str]:
        if next(numbers) % SERVERS:
            return headers
        date = parsedate_to_datetime(headers["Date"]) + timedelta(seconds=wrong_by)
        return headers | {"Date": format_datetime(date, usegmt=True)}

    return shifted


@pytest.mark.parametrize("wrong_by", variants(WRONG_BY, "20 s ahead"))
def test_holds_end_and_ready_comes_although_one_server_of_five_has_a_wrong_clock(
    stack: ControlPlane, proxy: FaultProxy, wrong_by: float
) -> None:
    client = stack.client
    flags = (*SHORT_FLAGS, holds_overlay_flag(stack, {"failed": f"{HOLD}s", "lost": f"{HOLD}s"}))
    (pod,) = components.pods(client, ISTIOD)
    wrong = ProxyRule(change_headers=every_fifth_answer(wrong_by))
    with proxy.with_rule(wrong), ReporterProcess(stack, *flags, proxy.flag()) as reporter:
        set_pod_fault(client, pod, IMAGE_PULL)
        event = events.wait_for(client, ISTIO, within=HOLD + PROMPT_TIMEOUT)
        assert is_dated_at_its_write(event)
        clear_pod_fault(client, pod)
        ready = events.wait_for(client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert is_dated_at_its_write(ready)
        assert events.reasons(client) == [ISTIO, READY]
        # An answer that took seconds says less; it no longer decides once there are more.
        until(
            lambda: _shows(reporter, spread=abs(wrong_by)),
            within=PROMPT_TIMEOUT,
            what="the metrics show the one wrong clock",
        )


def _shows(reporter: ReporterProcess, *, spread: float) -> bool:
    skew = reporter.metric("api_server_clock_skew_seconds")
    found = reporter.metric("api_server_clock_spread_seconds")
    return abs(skew) < 3 and abs(found - spread) < 3
