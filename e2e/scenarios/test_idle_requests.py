"""
The cost of an idle reporter to the API server, read from the audit log.

A short window shows that nothing is polled; discovery takes a longer one to be seen twice.
QUIET_SECONDS=300 makes that five minutes.
"""

import datetime as dt
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from e2e.controlplane import ControlPlane, Json, until
from e2e.controlplane.reporter_rights import NAME
from e2e.support.production_stack import workload
from e2e.support.reporter_process import LEASE, NAMESPACE, ReporterProcess
from e2e.support.shared_plane import SharedPlane


WINDOW = 15.0
LONG_WINDOW = float(os.environ.get("QUIET_SECONDS", "75"))
INFERENCE_SETS = 20
USER = f"system:serviceaccount:{NAMESPACE}:{NAME}"
RENEWAL = 2
"""Seconds from one renewal of the lease to the next, by default."""

ELECTION = (
    # Longer than by default, which costs no request: one that has lost the lease reads more.
    "--lease-duration-seconds=60",
    "--renew-deadline-seconds=40",
    f"--retry-period-seconds={RENEWAL}",
)
RULES = ("create", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews")
RULES_IN = 2
"""The namespaces in which something is needed: for Events, and for the Lease."""

DISCOVERIES = 2
"""The most discovery requests in a minute, unless the window begins and ends with one."""


@dataclass(frozen=True)
class IdleRequests:
    """The requests of a window and their counts. *open*: kinds with a watch at the end."""

    seconds: float
    requests: Counter[tuple[str, str]]
    open: dict[str, str]


@dataclass(frozen=True)
class IdleReporter:
    plane: ControlPlane
    reporter: ReporterProcess


@pytest.fixture(scope="module")
def idle(small_plane: SharedPlane) -> Iterator[IdleReporter]:
    """A reporter that has listed all kinds, checked its rights and read its Events back."""
    with small_plane.lent() as plane:
        workload.write(plane, INFERENCE_SETS)
        # Metrics pages are read in intervals of their own, and here there are none.
        with ReporterProcess(plane, "--scrape=off", *ELECTION) as reporter:
            until(
                lambda: reporter.lines("permission_review"),
                within=60,
                what="the rights are checked",
            )
            until(
                lambda: any(_is_read_back(entry) for entry in plane.audit()),
                within=60,
                what="the leader has read its Events back",
            )
            yield IdleReporter(plane, reporter)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(WINDOW, id="short"),
        pytest.param(LONG_WINDOW, id="long", marks=pytest.mark.slow),
    ],
)
def idle_requests(request: pytest.FixtureRequest, idle: IdleReporter) -> IdleRequests:
    seconds: float = request.param
    begin = dt.datetime.now(dt.UTC)
    end = begin + dt.timedelta(seconds=seconds)
    time.sleep(seconds)
    asked = Counter(_request(e) for e in idle.plane.audit() if _asked_between(e, begin, end))
    print(f"in {seconds:g} s: {dict(asked)}")
    return IdleRequests(seconds, asked, idle.reporter.status()["kinds"])


def test_nothing_is_asked_for_but_watches_the_lease_and_discovery(
    idle_requests: IdleRequests,
) -> None:
    expected = {("get", "/apis"), ("update", LEASE), RULES}
    others = {each for each in idle_requests.requests if each[0] != "watch"} - expected
    assert others == set()


def test_discovery_is_asked_for_twice_a_minute(idle_requests: IdleRequests) -> None:
    asked = idle_requests.requests["get", "/apis"]
    assert asked <= DISCOVERIES * (idle_requests.seconds / 60) * 1.05 + 1
    assert asked or idle_requests.seconds <= WINDOW


def test_the_rules_of_permissions_are_read_every_45_seconds(idle_requests: IdleRequests) -> None:
    asked = idle_requests.requests[RULES]
    assert asked <= RULES_IN * (idle_requests.seconds / 45 * 1.06 + 1)
    assert asked or idle_requests.seconds <= WINDOW


def test_lease_is_renewed_once_in_each_period(idle_requests: IdleRequests) -> None:
    assert idle_requests.requests["update", LEASE] <= idle_requests.seconds / RENEWAL + 1


def test_watches_are_left_open(idle_requests: IdleRequests) -> None:
    """Each goes on for at least five minutes."""
    assert set(idle_requests.open.values()) == {"watched"}
    opened = [count for (verb, _), count in idle_requests.requests.items() if verb == "watch"]
    assert max(opened, default=0) <= idle_requests.seconds // 300 + 1


def _asked_between(entry: Json, begin: dt.datetime, end: dt.datetime) -> bool:
    """
    Return whether the reporter began this request in the window, however late the audit log is read.
    A watch has two entries: its begin and its end.
    """
    received = dt.datetime.fromisoformat(entry["requestReceivedTimestamp"])
    ended_watch = entry["verb"] == "watch" and entry["stage"] == "ResponseComplete"
    return _user(entry) == USER and begin <= received < end and not ended_watch


def _is_read_back(entry: Json) -> bool:
    """Return whether a leader has listed the Events that its predecessor wrote."""
    ended = entry["stage"] == "ResponseComplete" and _user(entry) == USER
    return ended and _request(entry) == ("list", "/api/v1/namespaces/kube-system/events")


def _user(entry: Json) -> str:
    name: str = entry["user"]["username"]
    return name


def _request(entry: Json) -> tuple[str, str]:
    """Return verb and path."""
    return entry["verb"], entry["requestURI"].partition("?")[0]
