"""
Answers that are missing, late, broken, or report an overloaded server.

After every fault each current finding is announced once, and nothing else is.
"""

from dataclasses import dataclass

import pytest

from e2e.controlplane import ControlPlane
from e2e.faults.support.fault_check import BROKEN_REASON, FaultCheck
from e2e.faults.support.proxy import FaultProxy
from e2e.faults.support.proxy_rules import (
    WATCH,
    ProxyRule,
    StubAnswer,
    refusal,
    status,
    truncate_body,
)
from e2e.support import events
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS


LASTS = 12
"""
The seconds of a fault: twice the renew deadline of the lease, and several tries of everything.
"""

REQUESTS = 20
"""A second: twelve kinds, and a lease that is tried twice as fast as a kind may be."""

CONTINUED = r"\?(.*&)?resourceVersion="
"""The target of watches that begin where a list ended."""

EVENTS = r"/namespaces/kube-system/events"
EXPIRED = status(410, "Expired", "too old resource version: 1 (2)")
ERROR = f'{{"type":"ERROR","object":{EXPIRED}}}\n'.encode()
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class NetworkFault:
    """
    *rules*: the faults of requests, those of open watches too. *expected_log*: a part of what is
    logged. *is_unseen*: no change is seen before the end; otherwise all is announced during the
    fault. *lasts*: seconds.
    """

    name: str
    rules: tuple[ProxyRule, ...]
    expected_log: str = ""
    is_unseen: bool = True
    lasts: float = LASTS


FAULTS = (
    NetworkFault(
        "storm of 500",
        (ProxyRule(answer=refusal(500, "InternalError", "etcdserver: leader changed")),),
        expected_log="HTTP 500: etcdserver: leader changed",
    ),
    NetworkFault(
        "storm of 503",
        (ProxyRule(answer=refusal(503, "ServiceUnavailable", "apiserver is shutting down")),),
        expected_log="HTTP 503: apiserver is shutting down",
    ),
    NetworkFault(
        "storm of 504",
        (ProxyRule(answer=refusal(504, "Timeout", "request did not complete within 60s")),),
        expected_log="HTTP 504: request did not complete",
    ),
    NetworkFault(
        "429 as plain text",
        (
            ProxyRule(
                answer=StubAnswer(
                    429, "Too many requests, please try again later.\n", {"Retry-After": "2"}
                )
            ),
        ),
        expected_log="HTTP 429: Too many requests",
    ),
    NetworkFault(
        "page of a balancer",
        (
            ProxyRule(
                answer=StubAnswer(502, "<html>Bad gateway</html>", {"Content-Type": "text/html"})
            ),
        ),
        expected_log="not a response of an API server",
    ),
    NetworkFault("no answer", (ProxyRule(hang=True),), expected_log="timed out"),
    NetworkFault(
        "truncated JSON", (ProxyRule(transform=truncate_body),), expected_log="not a list"
    ),
    NetworkFault(
        "connections that break within an answer",
        (ProxyRule(cut_at=60),),
        expected_log="not watched",
        lasts=2 * LASTS,  # Three watches in a row must break until a list is tried, and break too.
    ),
    NetworkFault(
        "410 on every watch",
        (ProxyRule(WATCH, answer=StubAnswer(410, EXPIRED, JSON)),),
        expected_log="not watched: too old resource version",
        is_unseen=False,
    ),
    NetworkFault(
        "410 within every watch",
        (ProxyRule(WATCH, transform=lambda _: ERROR),),
        is_unseen=False,
    ),
    NetworkFault(
        "watch that is cut every second", (ProxyRule(WATCH, cut_after=1),), is_unseen=False
    ),
    NetworkFault(
        "answers to writes are lost",
        (ProxyRule(EVENTS, ("POST", "PATCH"), drop_answer=True),),
        expected_log="it is sent again under the same name",
        is_unseen=False,
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_what_is_true_after_a_fault_is_announced_once(
    stack: ControlPlane, proxy: FaultProxy, fault: NetworkFault
) -> None:
    with ReporterProcess(stack, *SHORT_FLAGS, "--emission=all", proxy.flag()) as reporter:
        check = FaultCheck(stack, reporter)
        check.prepare()
        with proxy.with_rule(*fault.rules):
            proxy.cut()
            check.change_stack(unseen=fault.is_unseen)
            check.wait_until_age(fault.lasts)
            if fault.is_unseen:
                check.assert_only_known_states()
            else:
                assert BROKEN_REASON in events.reasons(stack.client)
            asked = proxy.count(since=check.began_at)
        check.fault_ended()
        check.wait_recovered()
        check.assert_expected_events()
        check.assert_cheap()
        check.assert_logged(fault.expected_log)
        print(f"{asked / check.fault_seconds:.1f} requests a second")
        assert asked < REQUESTS * check.fault_seconds


@pytest.mark.slow
def test_continue_token_that_expires_is_no_end_of_a_list(
    stack: ControlPlane, proxy: FaultProxy
) -> None:
    """
    Complete lists break off here, so the reporter reads pages of two objects, which the server
    itself makes.
    """
    proxy.add(ProxyRule(r"/(deployments|pods)$", ("GET",), cut_at=100))
    proxy.add(
        ProxyRule(
            r"[?&]limit=500", rewrite_target=lambda target: target.replace("limit=500", "limit=2")
        )
    )
    with ReporterProcess(stack, *SHORT_FLAGS, "--emission=all", proxy.flag()) as reporter:
        check = FaultCheck(stack, reporter)
        check.prepare()
        pages = proxy.count("continue=")
        gone = ProxyRule(
            r"/(deployments|pods)\?.*continue=", answer=StubAnswer(410, EXPIRED, JSON)
        )
        anew = ProxyRule(
            rf"/(deployments|pods){CONTINUED}", times=2, answer=StubAnswer(410, EXPIRED, JSON)
        )
        with proxy.with_rule(gone, anew):
            proxy.cut()
            check.change_stack(unseen=True)
            check.wait_until_age(LASTS)
            check.assert_only_known_states()
        check.fault_ended()
        check.wait_recovered()
        check.assert_expected_events()
        check.assert_cheap()
        check.assert_logged("deployments.apps: not watched: too old resource version")
    assert pages >= 4
