"""
The Lease edited or deleted by hand, and a Lease API that is slow or refuses: at most one replica
announces, and the state recovers when the fault ends.
"""

import datetime as dt
import time
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, Json, until
from e2e.faults.support.lease_lost import assert_announces_once, assert_stops_and_resumes
from e2e.faults.support.proxy_rules import ProxyRule, StubAnswer
from e2e.faults.support.replicas import ProxiedReplica, running_replicas, wait_for_leader
from e2e.faults.support.variants import variants
from e2e.support import events
from e2e.support.elections import LEASE_SECONDS, RENEW_DEADLINE
from e2e.support.production_stack import restore
from e2e.support.reporter_process import LEASE
from e2e.support.timeouts import PROMPT_TIMEOUT, SHORT_FLAGS


FOR_EVER = 2**31 - 1
"""The longest lease duration, in seconds, that the API server accepts."""

LEASES = r"/leases"
WRITES = ("POST", "PUT", "PATCH")
TOO_LONG = 2 * RENEW_DEADLINE + 4
"""Seconds in which a read is answered, and a write after it just too late."""

REFUSALS = 4
"""Refused writes, which take a leader two seconds of its deadline."""


@pytest.fixture(scope="module")
def both(stack: ControlPlane) -> Iterator[list[ProxiedReplica]]:
    """The replicas of all tests. The last test decides which one leads."""
    with restore.healthy_stack(stack) as plane, running_replicas(plane, 2, *SHORT_FLAGS) as both:
        yield both


@pytest.fixture
def plane(stack: ControlPlane, both: list[ProxiedReplica]) -> Iterator[ControlPlane]:
    """A plane with one leader and no Events; at the end exactly one replica must announce."""
    events.clear(stack.client)
    wait_for_leader(both, within=LEASE_SECONDS + PROMPT_TIMEOUT)
    yield stack
    for each in both:
        each.proxy.clear_rules()
    assert_announces_once(stack, both)


# ---------------------------------------------------------------- by hand


EDITS = {
    "renewed in the future": {"renewTime": "2099-01-01T00:00:00.000000Z"},
    "renewed long ago": {"renewTime": "1970-01-01T00:00:00.000000Z", "acquireTime": None},
    "for ever": {"leaseDurationSeconds": FOR_EVER, "leaseTransitions": FOR_EVER - 1},
    "for a second": {"leaseDurationSeconds": 1},
}
LEFT = {"nothing": {}, "the duration": {"leaseDurationSeconds": LEASE_SECONDS}}


@pytest.mark.parametrize("change", variants(EDITS, "renewed long ago"))
def test_leader_goes_on_with_a_lease_that_was_edited(
    plane: ControlPlane, both: list[ProxiedReplica], change: Json
) -> None:
    leader, lost = _leader(both), _losses(both)
    plane.client.patch(LEASE, {"spec": change})
    until(
        lambda: _renewed_lately(plane), within=PROMPT_TIMEOUT, what="it is renewed as it should be"
    )
    assert (_leader(both), _losses(both)) == (leader, lost)


def test_leader_goes_on_with_a_lease_that_was_deleted(
    plane: ControlPlane, both: list[ProxiedReplica]
) -> None:
    leader, lost = _leader(both), _losses(both)
    for _ in range(3):
        plane.client.delete(LEASE)
        until(lambda: plane.client.exists(LEASE), within=PROMPT_TIMEOUT, what="it is there again")
    assert (_leader(both), _losses(both)) == (leader, lost)


@pytest.mark.parametrize("left", variants(LEFT, "nothing"))
def test_leader_goes_on_with_a_lease_that_was_emptied(
    plane: ControlPlane, both: list[ProxiedReplica], left: Json
) -> None:
    leader, lost = _leader(both), _losses(both)
    for _ in range(3):
        emptied = dict.fromkeys(plane.client.get(LEASE)["spec"])
        plane.client.patch(LEASE, {"spec": emptied | left})
        until(lambda: _renewed_lately(plane), within=PROMPT_TIMEOUT, what="it is renewed")
    assert (_leader(both), _losses(both)) == (leader, lost)


def test_lease_given_to_another_holder_is_waited_for_and_then_taken(
    plane: ControlPlane, both: list[ProxiedReplica]
) -> None:
    leader = _leader(both)
    given = time.monotonic()
    spec = {"holderIdentity": "another-holder", "leaseTransitions": FOR_EVER}
    plane.client.patch(LEASE, {"spec": spec})
    until(lambda: not leader.is_leader, within=PROMPT_TIMEOUT, what="the leader has noticed")
    wait_for_leader(both, within=LEASE_SECONDS + PROMPT_TIMEOUT)
    took = time.monotonic() - given
    print(f"a lease given away by hand is taken back after {took:.2f} s")
    assert took > LEASE_SECONDS - 1
    _assert_one_leads(plane, both)


@pytest.mark.slow
def test_lease_given_to_another_holder_for_ever_is_taken_once_it_is_deleted(
    plane: ControlPlane, both: list[ProxiedReplica]
) -> None:
    spec = {"holderIdentity": "another-holder", "leaseDurationSeconds": FOR_EVER}
    plane.client.patch(LEASE, {"spec": spec})
    until(lambda: all(map(_stands_by, both)), within=PROMPT_TIMEOUT, what="both stand by")
    time.sleep(LEASE_SECONDS + 3)
    assert not any(each.is_leader for each in both)
    plane.client.delete(LEASE)
    wait_for_leader(both, within=LEASE_SECONDS + PROMPT_TIMEOUT)
    _assert_one_leads(plane, both)


# ---------------------------------------------------------------- the API of Leases


FAULTS = {
    "429": ProxyRule(LEASES, answer=StubAnswer(429, "later", {"Retry-After": "1"})),
    "409": ProxyRule(
        LEASES, WRITES, answer=StubAnswer(409, '{"kind":"Status","reason":"Conflict"}')
    ),
    "500": ProxyRule(LEASES, answer=StubAnswer(500, '{"kind":"Status","reason":"InternalError"}')),
    "too slow": ProxyRule(LEASES, delay=RENEW_DEADLINE - 1),
}


@pytest.mark.parametrize("rule", variants(FAULTS, "409"))
def test_nobody_announces_while_the_lease_api_fails_for_all(
    plane: ControlPlane, both: list[ProxiedReplica], rule: ProxyRule
) -> None:
    assert_stops_and_resumes(plane, both, rule, TOO_LONG)


@pytest.mark.parametrize("status", variants({"429": 429, "409": 409, "500": 500}, "500"))
def test_lease_api_that_fails_for_less_than_the_deadline_is_not_noticed(
    plane: ControlPlane, both: list[ProxiedReplica], status: int
) -> None:
    leader, lost = _leader(both), _losses(both)
    rule = ProxyRule(LEASES, WRITES, times=REFUSALS, answer=StubAnswer(status, "no"))
    with leader.proxy.with_rule(rule):
        until(lambda: rule.hits == REFUSALS, within=PROMPT_TIMEOUT, what="renewals are refused")
    refused = plane.client.get(LEASE)["spec"]["renewTime"]
    until(
        lambda: plane.client.get(LEASE)["spec"]["renewTime"] > refused,
        within=PROMPT_TIMEOUT,
        what="it is renewed",
    )
    assert (_leader(both), _losses(both)) == (leader, lost)


@pytest.mark.parametrize(
    "rule", variants({each: FAULTS[each] for each in ("500", "too slow")}, "500")
)
def test_a_leader_that_alone_cannot_renew_stops_before_the_other_announces(
    plane: ControlPlane, both: list[ProxiedReplica], rule: ProxyRule
) -> None:
    leader = _leader(both)
    (other,) = (each for each in both if each is not leader)
    with leader.proxy.with_rule(rule):
        until(
            lambda: other.is_leader, within=LEASE_SECONDS + PROMPT_TIMEOUT, what="the other leads"
        )
        assert leader.log_time("no longer leading") < other.log_time("leading:")
        assert not leader.is_leader


# ---------------------------------------------------------------- used above


def _assert_one_leads(plane: ControlPlane, both: list[ProxiedReplica]) -> None:
    (leader,) = (each for each in both if each.is_leader)
    assert plane.client.get(LEASE)["spec"]["holderIdentity"].startswith(f"{leader.name}_")


def _leader(both: list[ProxiedReplica]) -> ProxiedReplica:
    return next(each for each in both if each.is_leader)


def _losses(both: list[ProxiedReplica]) -> int:
    return sum(len(each.reporter.lines("no longer leading")) for each in both)


def _stands_by(replica: ProxiedReplica) -> bool:
    last = replica.reporter.lines("standing by")[-1:]
    return any("standing by: another-holder leads" in line for line in last)


def _renewed_lately(plane: ControlPlane) -> bool:
    spec = plane.client.get(LEASE)["spec"]
    if not spec.get("renewTime") or spec["leaseDurationSeconds"] != LEASE_SECONDS:
        return False
    renewed = dt.datetime.fromisoformat(spec["renewTime"])
    return abs(dt.datetime.now(dt.UTC) - renewed) < dt.timedelta(seconds=RENEW_DEADLINE)
