"""
Single requests that fail while others succeed: each is made again, not sooner than the server
asked for, and also if it was never answered at all.
"""

import pytest

from e2e import events, stack
from e2e.controlplane import ControlPlane, until
from e2e.faults.proxy import Proxy
from e2e.faults.rules import Answer, Rule, refusal
from e2e.patience import AT_ONCE, QUICK, SETTLE
from e2e.reporter_process import ReporterProcess
from e2e.stack import (
    BODY_BASED_ROUTER,
    ISTIOD,
    KAITO_WORKSPACE,
    KEDA_KAITO_SCALER,
    KEDA_OPERATOR,
    Component,
)


ASKED = 6
"""
Seconds that the server asks for; nobody would wait as long for a second or third try.
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
BUSY = Answer(429, "Too many requests, please try again later.\n", {"Retry-After": str(ASKED)})
"""
As an API server says it before it has read who asks, in plain text.
"""

FAILURES = (
    refusal(500, "InternalError", "etcdserver: leader changed"),
    refusal(503, "ServiceUnavailable", "apiserver is shutting down"),
    refusal(504, "Timeout", "request did not complete within 60s"),
    Answer(502, "<html>Bad gateway</html>", {"Content-Type": "text/html"}),
    BUSY,
)
OUT: dict[str, Component] = {
    "clusterIstioControlPlaneNotReady": ISTIOD,
    "clusterBBRNotReady": BODY_BASED_ROUTER,
    "clusterKaitoControllerNotReady": KAITO_WORKSPACE,
    "clusterKedaNotReady": KEDA_OPERATOR,
    "clusterKedaKaitoScalerNotReady": KEDA_KAITO_SCALER,
}
BBR, READY = "clusterBBRNotReady", "clusterReady"

UNANSWERED = {
    "discovery": Rule(r"^/apis(\?|$)", times=1, hang=True),
    "a list": Rule(LISTS, times=1, hang=True),
    "a look at the lease": Rule(LEASES, ("GET",), times=1, hang=True),
    "a bid for the lease": Rule(LEASES, WRITES, times=1, hang=True),
    "a look at the Events of before": Rule(EVENTS, ("GET",), times=1, hang=True),
    "an Event": Rule(EVENTS, ("POST",), times=1, hang=True),
}


@pytest.fixture
def plane(stack: ControlPlane) -> ControlPlane:
    """
    The proxy's, which is mended with it.
    """
    return stack


def test_events_that_are_refused_each_in_another_way_are_all_told_once_and_no_sooner_than_asked(
    plane: ControlPlane, proxy: Proxy
) -> None:
    client = plane.client
    with ReporterProcess(plane, *QUICK, "--emission=all", proxy.flag()) as reporter:
        with proxy.ruled(*(Rule(EVENTS, ("POST",), times=1, answer=each) for each in FAILURES)):
            for component in OUT.values():
                stack.scale(client, component, 0)
            for reason in OUT:
                events.wait_for(client, reason, within=ASKED + AT_ONCE)
        posted = proxy.times(EVENTS, methods=("POST",))
        assert len(posted) == 2 * len(FAILURES)
        assert posted[-1] - posted[0] >= ASKED
        for result, times in {"throttled": 1, "uncertain": 3, "failed": 1}.items():
            assert reporter.metric("event_writes_total", result=result) == times
        for component in OUT.values():
            stack.scale(client, component, component.replicas)
        events.wait_for(client, READY, within=SETTLE + AT_ONCE)
        assert sorted(events.reasons(client)) == sorted([*OUT, READY])


def test_event_whose_answer_was_lost_is_found_under_its_name_and_renewed_like_any_other(
    plane: ControlPlane, proxy: Proxy
) -> None:
    lost = Rule(EVENTS, ("POST",), times=1, swallow=True)
    flags = (*QUICK, f"--heartbeat-seconds={HEARTBEAT}", proxy.flag())
    with proxy.ruled(lost), ReporterProcess(plane, *flags) as reporter:
        stack.scale(plane.client, BODY_BASED_ROUTER, 0)
        first = events.wait_for(plane.client, BBR, within=AT_ONCE)
        again = events.wait_for(plane.client, BBR, within=HEARTBEAT + AT_ONCE, count=2)
        assert (again.uid, again.first) == (first.uid, first.first)
        assert reporter.metric("event_writes_total", result="found") == 1
        stack.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
        events.wait_for(plane.client, READY, within=SETTLE + AT_ONCE)
        assert events.reasons(plane.client) == [BBR, READY]


def test_list_that_is_refused_as_one_too_many_is_not_asked_for_sooner_than_asked(
    plane: ControlPlane, proxy: Proxy
) -> None:
    refused = Rule(LISTS, times=2, answer=BUSY)
    with (
        proxy.ruled(refused),
        ReporterProcess(plane, *QUICK, proxy.flag()) as reporter,
    ):
        until(
            lambda: reporter.status()["kinds"]["deployments"] == "watched",
            within=2 * ASKED + AT_ONCE,
            what="Deployments are watched",
        )
        first, second, third, *_ = proxy.times(LISTS)
        assert second - first >= ASKED
        assert third - second >= ASKED


@pytest.mark.slow
def test_requests_that_are_never_answered_are_given_up_and_made_again(
    plane: ControlPlane, proxy: Proxy
) -> None:
    """
    Deployments are listed after the first has timed out, which what was said before waits for.
    """
    stack.scale(plane.client, BODY_BASED_ROUTER, 0)
    reporter = ReporterProcess(plane, *QUICK, proxy.flag())
    with proxy.ruled(*UNANSWERED.values()):
        reporter.start(ready=False)
        try:
            events.wait_for(plane.client, BBR, within=2 * LONGEST)
            assert {what: rule.taken for what, rule in UNANSWERED.items()} == dict.fromkeys(
                UNANSWERED, 1
            )
            stack.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
            events.wait_for(plane.client, READY, within=SETTLE + AT_ONCE)
            assert events.reasons(plane.client) == [BBR, READY]
        finally:
            reporter.__exit__()
