"""
The Lease edited or deleted by hand, and a Lease API that is slow or refuses: one speaks or nobody
does, never two, and all is as before once it is over.
"""

import datetime as dt
import time
from collections.abc import Iterator

import pytest

from e2e import events, repair
from e2e.controlplane import ControlPlane, Json, until
from e2e.faults.replicas import Replica, replicas, until_one_leads
from e2e.faults.rules import Answer, Rule
from e2e.faults.silenced import assert_says_all_once, silenced_and_back
from e2e.patience import AT_ONCE, QUICK
from e2e.reporter_process import LEASE


LEASE_SECONDS, GIVES_UP = 6, 5
FOR_EVER = 2**31 - 1
"""
The longest duration, in seconds, that the API server takes.
"""

LEASES = r"/leases"
WRITES = ("POST", "PUT", "PATCH")


@pytest.fixture(scope="module")
def both(stack: ControlPlane) -> Iterator[list[Replica]]:
    """
    The replicas of all tests with the quick terms; who of them leads is as the last test left it.
    """
    with repair.mended(stack) as plane, replicas(plane, 2, *QUICK) as both:
        yield both


@pytest.fixture
def plane(stack: ControlPlane, both: list[Replica]) -> Iterator[ControlPlane]:
    """
    With one leader and nothing said; at the end it is tried whether exactly one speaks.
    """
    events.clear(stack.client)
    until_one_leads(both, within=LEASE_SECONDS + AT_ONCE)
    yield stack
    for each in both:
        each.proxy.mend()
    assert_says_all_once(stack, both)


# ---------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    "change",
    [
        {"renewTime": "2099-01-01T00:00:00.000000Z"},
        {"renewTime": "1970-01-01T00:00:00.000000Z", "acquireTime": None},
        {"leaseDurationSeconds": FOR_EVER, "leaseTransitions": FOR_EVER - 1},
        {"leaseDurationSeconds": 1},
    ],
    ids=["renewed in the future", "renewed long ago", "for ever", "for a second"],
)
def test_leader_goes_on_with_a_lease_that_was_edited(
    plane: ControlPlane, both: list[Replica], change: Json
) -> None:
    leader, lost = _leader(both), _losses(both)
    plane.client.patch(LEASE, {"spec": change})
    until(lambda: _renewed_lately(plane), within=AT_ONCE, what="it is renewed as it should be")
    assert (_leader(both), _losses(both)) == (leader, lost)


def test_leader_goes_on_with_a_lease_that_was_deleted(
    plane: ControlPlane, both: list[Replica]
) -> None:
    leader, lost = _leader(both), _losses(both)
    for _ in range(3):
        plane.client.delete(LEASE)
        until(lambda: plane.client.exists(LEASE), within=AT_ONCE, what="it is there again")
    assert (_leader(both), _losses(both)) == (leader, lost)


@pytest.mark.parametrize("left", [{}, {"leaseDurationSeconds": LEASE_SECONDS}])
def test_leader_goes_on_with_a_lease_that_was_emptied(
    plane: ControlPlane, both: list[Replica], left: Json
) -> None:
    leader, lost = _leader(both), _losses(both)
    for _ in range(3):
        emptied = dict.fromkeys(plane.client.get(LEASE)["spec"])
        plane.client.patch(LEASE, {"spec": emptied | left})
        until(lambda: _renewed_lately(plane), within=AT_ONCE, what="it is renewed")
    assert (_leader(both), _losses(both)) == (leader, lost)


def test_lease_given_to_a_stranger_is_waited_for_and_then_taken(
    plane: ControlPlane, both: list[Replica]
) -> None:
    leader = _leader(both)
    given = time.monotonic()
    spec = {"holderIdentity": "stranger", "leaseTransitions": FOR_EVER}
    plane.client.patch(LEASE, {"spec": spec})
    until(lambda: not leader.leads, within=AT_ONCE, what="the leader has noticed")
    until_one_leads(both, within=LEASE_SECONDS + AT_ONCE)
    took = time.monotonic() - given
    print(f"a lease given away by hand is taken back after {took:.2f} s")
    assert took > LEASE_SECONDS - 1
    _assert_one_leads(plane, both)


def test_lease_given_to_a_stranger_for_ever_is_taken_once_it_is_deleted(
    plane: ControlPlane, both: list[Replica]
) -> None:
    spec = {"holderIdentity": "stranger", "leaseDurationSeconds": FOR_EVER}
    plane.client.patch(LEASE, {"spec": spec})
    until(lambda: all(map(_stands_by, both)), within=AT_ONCE, what="both stand by")
    time.sleep(LEASE_SECONDS + 3)
    assert not any(each.leads for each in both)
    plane.client.delete(LEASE)
    until_one_leads(both, within=LEASE_SECONDS + AT_ONCE)
    _assert_one_leads(plane, both)


# ---------------------------------------------------------------- the API of Leases


FAULTS = {
    "429": Rule(LEASES, answer=Answer(429, "later", {"Retry-After": "1"})),
    "409": Rule(LEASES, WRITES, answer=Answer(409, '{"kind":"Status","reason":"Conflict"}')),
    "500": Rule(LEASES, answer=Answer(500, '{"kind":"Status","reason":"InternalError"}')),
    "too slow": Rule(LEASES, delay=GIVES_UP - 1),
}


@pytest.mark.parametrize("rule", FAULTS.values(), ids=FAULTS)
def test_lease_api_that_fails_for_all_silences_all_until_it_is_over(
    plane: ControlPlane, both: list[Replica], rule: Rule
) -> None:
    """
    Long enough for a bid that is answered only just too late, after a look that was.
    """
    silenced_and_back(plane, both, rule, 2 * LEASE_SECONDS)


@pytest.mark.parametrize("status", [429, 409, 500])
def test_lease_api_that_fails_for_less_than_the_deadline_is_not_noticed(
    plane: ControlPlane, both: list[Replica], status: int
) -> None:
    leader, lost = _leader(both), _losses(both)
    rule = Rule(LEASES, WRITES, answer=Answer(status, "no"))
    with leader.proxy.ruled(rule):
        time.sleep(GIVES_UP / 2)
        assert rule.taken > 1
    until(lambda: _renewed_lately(plane), within=AT_ONCE, what="it is renewed")
    assert (_leader(both), _losses(both)) == (leader, lost)


@pytest.mark.parametrize("rule", [FAULTS["500"], FAULTS["too slow"]], ids=["500", "too slow"])
def test_leader_for_whom_alone_it_fails_is_silent_before_the_other_speaks(
    plane: ControlPlane, both: list[Replica], rule: Rule
) -> None:
    leader = _leader(both)
    (other,) = (each for each in both if each is not leader)
    with leader.proxy.ruled(rule):
        until(lambda: other.leads, within=LEASE_SECONDS + AT_ONCE, what="the other leads")
        assert leader.when("no longer leading") < other.when("leading:")
        assert not leader.leads


# ---------------------------------------------------------------- used above


def _assert_one_leads(plane: ControlPlane, both: list[Replica]) -> None:
    (leader,) = (each for each in both if each.leads)
    assert plane.client.get(LEASE)["spec"]["holderIdentity"].startswith(f"{leader.name}_")


def _leader(both: list[Replica]) -> Replica:
    return next(each for each in both if each.leads)


def _losses(both: list[Replica]) -> int:
    return sum(len(each.reporter.lines("no longer leading")) for each in both)


def _stands_by(replica: Replica) -> bool:
    last = replica.reporter.lines("standing by")[-1:]
    return any("standing by: stranger leads" in line for line in last)


def _renewed_lately(plane: ControlPlane) -> bool:
    spec = plane.client.get(LEASE)["spec"]
    if not spec.get("renewTime") or spec["leaseDurationSeconds"] != LEASE_SECONDS:
        return False
    renewed = dt.datetime.fromisoformat(spec["renewTime"])
    return abs(dt.datetime.now(dt.UTC) - renewed) < dt.timedelta(seconds=GIVES_UP)
