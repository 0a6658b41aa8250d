"""
Two replicas that cannot renew the Lease: neither announces until the fault ends, then one does.
"""

import datetime as dt
import time

from e2e.controlplane import ControlPlane, until
from e2e.faults.support.proxy_rules import ProxyRule
from e2e.faults.support.replicas import ProxiedReplica, wait_for_leader
from e2e.support import events
from e2e.support.elections import LEASE_SECONDS
from e2e.support.production_stack import components
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import LEASE
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE


TRIES = 4
"""Requests for a Lease that has run out, of both replicas."""

BBR, READY = "clusterBBRNotReady", "clusterReady"


def assert_stops_and_resumes(
    plane: ControlPlane, both: list[ProxiedReplica], rule: ProxyRule, seconds: float
) -> None:
    before = [len(each.reporter.lines()) for each in both]
    for each in both:
        each.proxy.add(rule)
    until(lambda: not any(each.is_leader for each in both), within=seconds, what="nobody leads")
    asked, begun = rule.hits, time.monotonic()
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    # One that is only slow may be renewed all the same.
    until(
        lambda: _is_expired(plane) or time.monotonic() > begun + seconds,
        within=2 * seconds,
        what="the Lease has run out",
    )
    tried = rule.hits
    until(lambda: rule.hits >= tried + TRIES, within=seconds, what="it is tried in vain")
    assert not any(each.is_leader for each in both)
    assert events.reporter_events(plane.client) == []
    assert (rule.hits - asked) / (time.monotonic() - begun) < 20  # a second, of both
    for each, lines in zip(both, before, strict=True):
        assert len(each.reporter.lines()) - lines < 10
        each.proxy.clear_rules()
    began = time.monotonic()
    events.wait_for(plane.client, BBR, within=LEASE_SECONDS + PROMPT_TIMEOUT)
    print(f"announced {time.monotonic() - began:.2f} s after the end")
    components.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
    events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
    assert sorted(events.reasons(plane.client)) == [BBR, READY]
    events.clear(plane.client)


def _is_expired(plane: ControlPlane) -> bool:
    spec = plane.client.get(LEASE)["spec"]
    renewed = dt.datetime.fromisoformat(spec["renewTime"])
    return dt.datetime.now(dt.UTC) - renewed > dt.timedelta(seconds=spec["leaseDurationSeconds"])


def assert_announces_once(plane: ControlPlane, both: list[ProxiedReplica]) -> None:
    """Assert that the leader alone announces a new finding and its end."""
    leader = wait_for_leader(both, within=LEASE_SECONDS + PROMPT_TIMEOUT)
    begun = time.monotonic()
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
    components.scale(plane.client, BODY_BASED_ROUTER, BODY_BASED_ROUTER.replicas)
    components.until_ready(plane.client, BODY_BASED_ROUTER)
    events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
    written = [(each.reason, each.count) for each in events.reporter_events(plane.client)]
    assert written == [(BBR, 1), (READY, 1)], written
    assert [each.name for each in both if each.writes(since=begun)] == [leader.name]
