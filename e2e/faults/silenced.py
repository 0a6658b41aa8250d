"""
Two replicas that cannot renew the Lease: nobody speaks until it is over, then one does.
"""

import time

from e2e import events, stack
from e2e.controlplane import ControlPlane, until
from e2e.faults.replicas import Replica, until_one_leads
from e2e.faults.rules import Rule
from e2e.patience import AT_ONCE, SETTLE
from e2e.stack import BODY_BASED_ROUTER


BBR, READY = "clusterBBRNotReady", "clusterReady"
LEASE_SECONDS = 15
"""
The longest that a Lease lasts in tests.
"""


def silenced_and_back(
    plane: ControlPlane, both: list[Replica], rule: Rule, seconds: float
) -> None:
    before = [len(each.reporter.lines()) for each in both]
    for each in both:
        each.proxy.add(rule)
    until(lambda: not any(each.leads for each in both), within=seconds, what="nobody leads")
    asked, begun = rule.taken, time.monotonic()
    stack.scale(plane.client, BODY_BASED_ROUTER, 0)
    time.sleep(seconds)
    assert not any(each.leads for each in both)
    assert events.ours(plane.client) == []
    assert (rule.taken - asked) / (time.monotonic() - begun) < 20  # a second, of both
    for each, lines in zip(both, before, strict=True):
        assert len(each.reporter.lines()) - lines < 10
        each.proxy.mend()
    began = time.monotonic()
    events.wait_for(plane.client, BBR, within=LEASE_SECONDS + AT_ONCE)
    print(f"it was said {time.monotonic() - began:.2f} s after the end")
    stack.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
    events.wait_for(plane.client, READY, within=SETTLE + AT_ONCE)
    assert sorted(events.reasons(plane.client)) == [BBR, READY]
    events.clear(plane.client)


def assert_says_all_once(plane: ControlPlane, both: list[Replica]) -> None:
    """
    What is announced now, and its end, is announced by the one that leads.
    """
    leader = until_one_leads(both, within=LEASE_SECONDS + AT_ONCE)
    begun = time.monotonic()
    stack.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=AT_ONCE)
    stack.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
    stack.until_ready(plane.client, BODY_BASED_ROUTER)
    events.wait_for(plane.client, READY, within=SETTLE + AT_ONCE)
    said = [(each.reason, each.count) for each in events.ours(plane.client)]
    assert said == [(BBR, 1), (READY, 1)]
    assert [each.name for each in both if each.writes(since=begun)] == [leader.name]
