"""
Writes of Events that the API server refuses, and Events that somebody else takes away.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e import events
from e2e.controlplane import Client, ControlPlane, reporter_rights, until
from e2e.faults import models
from e2e.faults.expense import expense
from e2e.faults.models import CURED, TROUBLE
from e2e.patience import AT_ONCE, QUICK, SETTLE
from e2e.refusal import refused_events
from e2e.reporter_process import NAMESPACE, ReporterProcess


HEARTBEAT = 10
BEATING = (*QUICK, f"--heartbeat-seconds={HEARTBEAT}")
MANY = 12
"""
InferenceSets in two namespaces, in none of which enough for one Event of all.
"""

BACK_OFF = 60
"""
Seconds that a refused write waits at the longest.
"""

SPENT: dict[str, Any] = {"cpu": 5.0, "peak": 16.0}
"""
The most that any of these faults may cost, in seconds of CPU and MiB.
"""

QUOTA = "exceeded quota: events, requested: count/events=1, used: count/events=9, limited: 9"


@pytest.fixture(scope="module")
def bare() -> Iterator[ControlPlane]:
    with models.bare(MANY) as plane:
        yield plane


@pytest.fixture
def plane(bare: ControlPlane) -> ControlPlane:
    return models.untroubled(bare)


# ---------------------------------------------------------------- taken away


def test_event_deleted_in_mid_episode_comes_back_while_it_is_true_and_only_then(
    plane: ControlPlane,
) -> None:
    lasting, cured, client = 0, 1, plane.client
    with ReporterProcess(plane, *BEATING) as reporter:
        for number in (lasting, cured):
            models.misconfigure(client, number)
        before = models.wait_for(client, TROUBLE, lasting, within=AT_ONCE)
        models.wait_for(client, TROUBLE, cured, within=AT_ONCE)
        with expense(reporter, "Events deleted by hand") as spent:
            events.clear(client)
            models.cure(client, cured)
            models.wait_for(client, CURED, cured, within=SETTLE + AT_ONCE)
            again = models.wait_for(client, TROUBLE, lasting, within=HEARTBEAT + AT_ONCE)
        assert again.uid != before.uid
        assert (again.name, again.count > before.count) == (before.name, True)
        models.cure(client, lasting)
        models.wait_for(client, CURED, lasting, within=SETTLE + AT_ONCE)
        said = [(TROUBLE, "model-0"), (CURED, "model-0"), (CURED, "model-1")]
        assert sorted(models.said(client)) == sorted(said)
    assert spent.within(**SPENT, lines=6)


# ---------------------------------------------------------------- refused


@pytest.mark.slow
def test_what_is_refused_like_by_a_quota_is_said_when_there_is_room_if_it_is_true_then(
    plane: ControlPlane,
) -> None:
    """
    A ResourceQuota never counts Events, whatever it is told to; a policy refuses in its words.
    """
    client, healed = plane.client, {2, 11}
    with ReporterProcess(plane, *QUICK) as reporter:
        with expense(reporter, f"{MANY} Events refused") as spent:
            with refused_events(client, QUOTA):
                for number in range(MANY):
                    models.misconfigure(client, number)
                until(
                    lambda: reporter.metric("event_writes_total", result="refused") > 2 * MANY,
                    within=30,
                    what="every write was refused more than twice",
                )
                for number in healed:
                    models.cure(client, number)
                for number in healed:
                    models.until_state(reporter, number, "clear", within=SETTLE + AT_ONCE)
                assert events.ours(client) == []
            lasting = [models.name(each) for each in range(MANY) if each not in healed]
            _until_told(client, TROUBLE, lasting)
        _cured_again(client, lasting)
        _told_once(client, lasting)
        assert len(reporter.lines("was refused")) == 1
        assert QUOTA in reporter.lines("was refused")[0]
    assert spent.within(**SPENT, lines=5 * MANY)


def test_without_the_right_to_patch_news_are_told_and_old_ones_renewed_when_it_is_back(
    plane: ControlPlane,
) -> None:
    old, news, client = 0, 1, plane.client
    with ReporterProcess(plane, *BEATING) as reporter:
        models.misconfigure(client, old)
        first = models.wait_for(client, TROUBLE, old, within=AT_ONCE)
        with expense(reporter, "the right to patch revoked") as spent:
            with reporter_rights.revoked(client, NAMESPACE, "events", "patch"):
                until(
                    lambda: reporter.lines("was refused"), within=HEARTBEAT + AT_ONCE, what="403"
                )
                for _ in range(2):
                    models.misconfigure(client, news)
                    models.wait_for(client, TROUBLE, news, within=AT_ONCE)
                    models.cure(client, news)
                    models.wait_for(client, CURED, news, within=SETTLE + AT_ONCE)
                    _forget(client, news)
                assert models.wait_for(client, TROUBLE, old, within=1).version == first.version
            renewed = models.wait_for(client, TROUBLE, old, within=BACK_OFF + AT_ONCE, count=2)
        assert (renewed.uid, renewed.first) == (first.uid, first.first)
        assert len(reporter.lines("was refused")) == 1
        assert len(reporter.lines("its Event is written, after")) == 1
    assert spent.within(**SPENT, lines=20)


# ---------------------------------------------------------------- rationed


@pytest.fixture
def rationed(tmp_path: Path) -> Iterator[ControlPlane]:
    """
    The API server takes one Event a second of each user, and two more at first.
    """
    limit = {"type": "User", "qps": 1, "burst": 3, "cacheSize": 100}
    version = "eventratelimit.admission.k8s.io/v1alpha1"
    plugin = {"apiVersion": version, "kind": "Configuration", "limits": [limit]}
    config = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": "EventRateLimit", "configuration": plugin}],
    }
    path = tmp_path / "admission.json"
    path.write_text(json.dumps(config))
    flags = (
        "--enable-admission-plugins=EventRateLimit",
        f"--admission-control-config-file={path}",
    )
    with models.bare(MANY, apiserver_flags=flags) as plane:
        yield plane


@pytest.mark.slow
def test_server_that_rations_events_gets_them_all_one_by_one(rationed: ControlPlane) -> None:
    client, everyone = rationed.client, [models.name(each) for each in range(MANY)]
    with ReporterProcess(rationed, *QUICK) as reporter:
        with expense(reporter, f"{MANY} Events rationed") as spent:
            for number in range(MANY):
                models.misconfigure(client, number)
            _until_told(client, TROUBLE, everyone)
        assert reporter.metric("event_writes_total", result="throttled") > 0
        _cured_again(client, everyone)
        _told_once(client, everyone)
        assert reporter.lines("refused") == []
    assert spent.within(**SPENT, lines=4 * MANY)


# ---------------------------------------------------------------- expired


@pytest.mark.slow
def test_event_that_expires_is_renewed_by_the_heartbeat_and_still_gets_its_ready() -> None:
    """
    Both are told within a minute, the least that an API server keeps Events here.
    """
    lasting, cured, beat = 0, 1, 90
    with models.bare(2, apiserver_flags=("--event-ttl=1m",)) as plane:
        client = plane.client
        flags = (*QUICK, f"--heartbeat-seconds={beat}")
        with ReporterProcess(plane, *flags) as reporter:
            for number in (lasting, cured):
                models.misconfigure(client, number)
            before = models.wait_for(client, TROUBLE, lasting, within=AT_ONCE)
            models.wait_for(client, TROUBLE, cured, within=AT_ONCE)
            with expense(reporter, "Events expired") as spent:
                until(lambda: not events.ours(client), within=90, what="both are expired")
                models.cure(client, cured)
                models.wait_for(client, CURED, cured, within=SETTLE + AT_ONCE)
                again = models.wait_for(client, TROUBLE, lasting, within=1.1 * beat)
            assert (again.name, again.count) == (before.name, 2)
            models.cure(client, lasting)
            models.wait_for(client, CURED, lasting, within=SETTLE + AT_ONCE)
            assert (TROUBLE, "model-1") not in models.said(client)
    assert spent.within(**SPENT, lines=8)


# ---------------------------------------------------------------- used above


def _until_told(client: Client, reason: str, names: Iterable[str]) -> None:
    """
    Models of two namespaces may have the same name, so each counts.
    """
    wanted = Counter(each.partition("/")[2] for each in names)
    until(
        lambda: Counter(model for r, model in models.said(client) if r == reason) >= wanted,
        within=2 * BACK_OFF,
        what=f"{reason} is told of {sorted(wanted)}",
    )


def _cured_again(client: Client, names: Iterable[str]) -> None:
    models.cure_all(client)
    _until_told(client, CURED, names)


def _told_once(client: Client, names: Iterable[str]) -> None:
    """
    That each got its Warning and its Ready, each written once, and nobody else got any.
    """
    own = [each.partition("/")[2] for each in names]
    assert sorted(models.said(client)) == sorted((r, m) for m in own for r in (TROUBLE, CURED))
    assert all(each.count == 1 for each in events.ours(client))


def _forget(client: Client, number: int) -> None:
    for each in events.ours(client):
        if models.name(number) in each.message:
            client.delete(f"{events.PATH}/{each.name}")
