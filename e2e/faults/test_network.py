"""
Answers that do not come, come late, come broken, or say that there is too much to do.

Whatever was in the way: what is true after it is told after it, nothing else, and nothing twice.
"""

from dataclasses import dataclass

import pytest

from e2e import events
from e2e.controlplane import ControlPlane
from e2e.faults.ordeal import BREAKS, Ordeal
from e2e.faults.proxy import Proxy
from e2e.faults.rules import WATCH, Answer, Rule, half, refusal, status
from e2e.patience import QUICK
from e2e.reporter_process import ReporterProcess


LASTS = 12
"""
The seconds of a fault: twice the renew deadline of the lease, and several tries of everything.
"""

REQUESTS = 20
"""
A second: twelve kinds, and a lease that is tried twice as fast as a kind may be.
"""

CONTINUED = r"\?(.*&)?resourceVersion="
"""
Of watches that begin where a list ended.
"""

EVENTS = r"/namespaces/kube-system/events"
EXPIRED = status(410, "Expired", "too old resource version: 1 (2)")
ERROR = f'{{"type":"ERROR","object":{EXPIRED}}}\n'.encode()
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Fault:
    """
    *rules*: what requests suffer under it, those of open watches too. *says*: what is logged of
    it. *blind*: nothing of what changes is seen before its end; where it is not, all is told under
    the fault. *lasts*: seconds.
    """

    name: str
    rules: tuple[Rule, ...]
    says: str = ""
    blind: bool = True
    lasts: float = LASTS


FAULTS = (
    Fault(
        "storm of 500",
        (Rule(answer=refusal(500, "InternalError", "etcdserver: leader changed")),),
        says="HTTP 500: etcdserver: leader changed",
    ),
    Fault(
        "storm of 503",
        (Rule(answer=refusal(503, "ServiceUnavailable", "apiserver is shutting down")),),
        says="HTTP 503: apiserver is shutting down",
    ),
    Fault(
        "storm of 504",
        (Rule(answer=refusal(504, "Timeout", "request did not complete within 60s")),),
        says="HTTP 504: request did not complete",
    ),
    Fault(
        "429 as plain text",
        (
            Rule(
                answer=Answer(
                    429, "Too many requests, please try again later.\n", {"Retry-After": "2"}
                )
            ),
        ),
        says="HTTP 429: Too many requests",
    ),
    Fault(
        "page of a balancer",
        (Rule(answer=Answer(502, "<html>Bad gateway</html>", {"Content-Type": "text/html"})),),
        says="not an answer of an API server",
    ),
    Fault("no answer", (Rule(hang=True),), says="timed out"),
    Fault("truncated JSON", (Rule(change=half),), says="not a list"),
    Fault(
        "connections that break within an answer",
        (Rule(cut_at=60),),
        says="not watched",
        lasts=2 * LASTS,  # Three watches in a row must break until a list is tried, and break too.
    ),
    Fault(
        "410 on every watch",
        (Rule(WATCH, answer=Answer(410, EXPIRED, JSON)),),
        says="not watched: too old resource version",
        blind=False,
    ),
    Fault(
        "410 within every watch",
        (Rule(WATCH, change=lambda _: ERROR),),
        blind=False,
    ),
    Fault("watch that is cut every second", (Rule(WATCH, cut_after=1),), blind=False),
    Fault(
        "answers to writes are lost",
        (Rule(EVENTS, ("POST", "PATCH"), swallow=True),),
        says="it is sent again under the same name",
        blind=False,
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_what_is_true_after_a_fault_is_told_once(
    stack: ControlPlane, proxy: Proxy, fault: Fault
) -> None:
    with ReporterProcess(stack, *QUICK, "--emission=all", proxy.flag()) as reporter:
        ordeal = Ordeal(stack, reporter)
        ordeal.prepare()
        with proxy.ruled(*fault.rules):
            proxy.cut()
            ordeal.change(unseen=fault.blind)
            ordeal.last(fault.lasts)
            if fault.blind:
                ordeal.assert_nothing_is_made_up()
            else:
                assert BREAKS in events.reasons(stack.client)
            asked = proxy.count(since=ordeal.begun)
        ordeal.over()
        ordeal.end()
        ordeal.assert_only_the_truth_was_told()
        ordeal.assert_cheap()
        ordeal.assert_logged(fault.says)
        print(f"{asked / ordeal.lasted:.1f} requests a second")
        assert asked < REQUESTS * ordeal.lasted


@pytest.mark.slow
def test_continue_token_that_expires_is_no_end_of_a_list(
    stack: ControlPlane, proxy: Proxy
) -> None:
    """
    Of lists that break off when they are sent as a whole; pages of two objects, as the server
    itself makes them.
    """
    proxy.add(Rule(r"/(deployments|pods)$", ("GET",), cut_at=100))
    proxy.add(Rule(r"[?&]limit=500", ask=lambda target: target.replace("limit=500", "limit=2")))
    with ReporterProcess(stack, *QUICK, "--emission=all", proxy.flag()) as reporter:
        ordeal = Ordeal(stack, reporter)
        ordeal.prepare()
        pages = proxy.count("continue=")
        gone = Rule(r"/(deployments|pods)\?.*continue=", answer=Answer(410, EXPIRED, JSON))
        anew = Rule(rf"/(deployments|pods){CONTINUED}", times=2, answer=Answer(410, EXPIRED, JSON))
        with proxy.ruled(gone, anew):
            proxy.cut()
            ordeal.change(unseen=True)
            ordeal.last(LASTS)
            ordeal.assert_nothing_is_made_up()
        ordeal.over()
        ordeal.end()
        ordeal.assert_only_the_truth_was_told()
        ordeal.assert_cheap()
        ordeal.assert_logged("deployments.apps: not watched: too old resource version")
    assert pages >= 4
