"""
Single requests that fail while others succeed: each is retried, not sooner than the server asked
for, and also if it was never answered.
"""

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.faults.support.proxy import FaultProxy
from e2e.faults.support.proxy_rules import ProxyRule, StubAnswer, refusal
from e2e.support import events
from e2e.support.production_stack import components
from e2e.support.production_stack.components import (
    BODY_BASED_ROUTER,
    ISTIOD,
    KAITO_WORKSPACE,
    KEDA_KAITO_SCALER,
    KEDA_OPERATOR,
    StackComponent,
)
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS


ASKED = 6
"""
Seconds in the server's Retry-After, longer than the reporter's own delay before a second or third
try.
"""

HEARTBEAT = 10
LONGEST = 60
"""
Seconds after which a request without an answer is given up at the latest, and one that depends on
it, too.
"""

EVENTS = r"/namespaces/kube-system/events"
LEASES = r"/leases"
LISTS = r"/deployments\?"
WRITES = ("POST", "PUT", "PATCH")
BUSY = StubAnswer(429, "Too many requests, please try again later.\n", {"Retry-After": str(ASKED)})
"""The plain text answer of an API server that refuses a request before authentication."""

FAILURES = (
    refusal(500, "InternalError", "etcdserver: leader changed"),
    refusal(503, "ServiceUnavailable", "apiserver is shutting down"),
    refusal(504, "Timeout", "request did not complete within 60s"),
    StubAnswer(502, "<html>Bad gateway</html>", {"Content-Type": "text/html"}),
    BUSY,
)
OUT: dict[str, StackComponent] = {
    "clusterIstioControlPlaneNotReady": ISTIOD,
    "clusterBBRNotReady": BODY_BASED_ROUTER,
    "clusterKaitoControllerNotReady": KAITO_WORKSPACE,
    "clusterKedaNotReady": KEDA_OPERATOR,
    "clusterKedaKaitoScalerNotReady": KEDA_KAITO_SCALER,
}
BBR, READY = "clusterBBRNotReady", "clusterReady"

UNANSWERED = {
    "discovery": ProxyRule(r"^/apis(\?|$)", times=1, hang=True),
    "a list": ProxyRule(LISTS, times=1, hang=True),
    "a look at the lease": ProxyRule(LEASES, ("GET",), times=1, hang=True),
    "a bid for the lease": ProxyRule(LEASES, WRITES, times=1, hang=True),
    "a look at the Events of before": ProxyRule(EVENTS, ("GET",), times=1, hang=True),
    "an Event": ProxyRule(EVENTS, ("POST",), times=1, hang=True),
}


@pytest.fixture
def plane(stack: ControlPlane) -> ControlPlane:
    """The control plane of the proxy, which is repaired with it."""
    return stack


def test_refused_events_are_all_written_once_and_no_sooner_than_retry_after(
    plane: ControlPlane, proxy: FaultProxy
) -> None:
    client = plane.client
    with ReporterProcess(plane, *SHORT_FLAGS, "--emission=all", proxy.flag()) as reporter:
        with proxy.with_rule(
            *(ProxyRule(EVENTS, ("POST",), times=1, answer=each) for each in FAILURES)
        ):
            for component in OUT.values():
                components.scale(client, component, 0)
            for reason in OUT:
                events.wait_for(client, reason, within=ASKED + PROMPT_TIMEOUT)
        posted = proxy.times(EVENTS, methods=("POST",))
        assert len(posted) == 2 * len(FAILURES)
        assert posted[-1] - posted[0] >= ASKED
        for result, times in {"throttled": 1, "uncertain": 3, "failed": 1}.items():
            assert reporter.metric("event_writes_total", result=result) == times
        for component in OUT.values():
            components.scale(client, component, component.replicas)
        events.wait_for(client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert sorted(events.reasons(client)) == sorted([*OUT, READY])


def test_event_whose_answer_was_lost_is_found_under_its_name_and_renewed_like_any_other(
    plane: ControlPlane, proxy: FaultProxy
) -> None:
    lost = ProxyRule(EVENTS, ("POST",), times=1, drop_answer=True)
    flags = (*SHORT_FLAGS, f"--heartbeat-seconds={HEARTBEAT}", proxy.flag())
    with proxy.with_rule(lost), ReporterProcess(plane, *flags) as reporter:
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        first = events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        again = events.wait_for(plane.client, BBR, within=HEARTBEAT + PROMPT_TIMEOUT, count=2)
        assert (again.uid, again.first) == (first.uid, first.first)
        assert reporter.metric("event_writes_total", result="found") == 1
        components.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert events.reasons(plane.client) == [BBR, READY]


def test_list_that_is_refused_as_one_too_many_is_not_asked_for_sooner_than_asked(
    plane: ControlPlane, proxy: FaultProxy
) -> None:
    refused = ProxyRule(LISTS, times=2, answer=BUSY)
    with (
        proxy.with_rule(refused),
        ReporterProcess(plane, *SHORT_FLAGS, proxy.flag()) as reporter,
    ):
        until(
            lambda: reporter.status()["kinds"]["deployments"] == "watched",
            within=2 * ASKED + PROMPT_TIMEOUT,
            what="Deployments are watched",
        )
        first, second, third, *_ = proxy.times(LISTS)
        assert second - first >= ASKED
        assert third - second >= ASKED


@pytest.mark.slow
def test_requests_that_are_never_answered_are_given_up_and_made_again(
    plane: ControlPlane, proxy: FaultProxy
) -> None:
    """
    Deployments are listed only after the first request has timed out, and reading earlier Events
    back waits for that list.
    """
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    reporter = ReporterProcess(plane, *SHORT_FLAGS, proxy.flag())
    with proxy.with_rule(*UNANSWERED.values()):
        reporter.start(ready=False)
        try:
            events.wait_for(plane.client, BBR, within=2 * LONGEST)
            assert {what: rule.hits for what, rule in UNANSWERED.items()} == dict.fromkeys(
                UNANSWERED, 1
            )
            components.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
            events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
            assert events.reasons(plane.client) == [BBR, READY]
        finally:
            reporter.__exit__()
