"""
An API server that refuses all reads for a while: once it answers, all kinds go on together, and none waits
for the end of its own pause.
"""

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.faults.support.proxy import FaultProxy
from e2e.faults.support.proxy_rules import WATCH, ProxyRule, SeenRequest, StubAnswer, refusal
from e2e.support import events
from e2e.support.production_stack import components
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS


REFUSALS = (
    refusal(503, "ServiceUnavailable", "apiserver is shutting down"),
    StubAnswer(429, "Too many requests, please try again later.\n"),
    refusal(504, "Timeout", "request did not complete within 60s"),
    refusal(410, "Expired", "The resourceVersion for the provided list is too old"),
)
READS = r"^/apis?/(?!coordination\.k8s\.io)(?!.*/events)"
"""Matches reads of all kinds but Leases and Events, so that the reporter goes on leading."""

LEASES = r"/leases"
FAILURES = 4
"""
Failures in a row after which a pause has 6.4 to 12.8 seconds: three to six renewals of the Lease.
"""

RENEWALS = 3
MINUTE, SOON = 60, 10
"""Seconds of refusals, and those after their end within which a change is announced."""

BBR = "clusterBBRNotReady"


@pytest.fixture
def plane(stack: ControlPlane) -> ControlPlane:
    """The control plane of the proxy, which is repaired with it."""
    return stack


def _refusing(pattern: str, *methods: str) -> list[ProxyRule]:
    """Return the rules that refuse as many requests as may come, in each way in turn."""
    each_way = 500
    return [
        ProxyRule(pattern, methods, times=1, answer=answer)
        for _ in range(each_way)
        for answer in REFUSALS
    ]


def _reads(proxy: FaultProxy, pattern: str = READS, *, since: float = 0) -> Iterator[SeenRequest]:
    rule = ProxyRule(pattern, ("GET",))
    return (e for e in proxy.seen if e.at >= since and rule.matches(e.method, e.target))


def _kind(request: SeenRequest) -> str:
    return request.target.partition("?")[0]


def test_all_kinds_are_read_again_together_once_the_server_answers(
    plane: ControlPlane, proxy: FaultProxy
) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS, proxy.flag()) as reporter:
        open_watches = reporter.metric("watch_up")
        kinds = {_kind(each) for each in _reads(proxy, WATCH)}
        began = time.monotonic()
        with proxy.with_rule(*_refusing(READS, "GET")):
            proxy.cut()
            components.scale(plane.client, BODY_BASED_ROUTER, 0)
            until(
                lambda: _fewest(proxy, kinds, since=began) >= FAILURES,
                within=PROMPT_TIMEOUT,
                what="each kind was refused several times in a row",
            )
        ended = time.monotonic()
        events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        until(
            lambda: reporter.metric("watch_up") == open_watches,
            within=PROMPT_TIMEOUT,
            what="all kinds are watched again",
        )
        first = {_kind(each): each.at for each in reversed([*_reads(proxy, since=ended)])}
        assert first.keys() >= kinds
        moments = sorted(first[kind] for kind in kinds)
        renewed = proxy.times(LEASES, methods=("PUT", "PATCH"), since=moments[0])
        assert sum(at < moments[-1] for at in renewed) <= RENEWALS


def _fewest(proxy: FaultProxy, kinds: set[str], *, since: float) -> int:
    found = Counter(_kind(each) for each in _reads(proxy, since=since))
    return min(found[kind] for kind in kinds)


@pytest.mark.slow
def test_a_change_after_a_minute_of_refusals_is_announced_within_ten_seconds(
    plane: ControlPlane, proxy: FaultProxy
) -> None:
    with ReporterProcess(plane, *SHORT_FLAGS, proxy.flag()) as reporter:
        with proxy.with_rule(*_refusing("")):
            proxy.cut()
            time.sleep(MINUTE)
        ended = time.monotonic()
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, BBR, within=SOON)
        print(f"announced {time.monotonic() - ended:.1f} s after the end")
        assert reporter.running
