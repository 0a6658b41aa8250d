"""The status page: every subject with the state of each reason, since when and why."""

import json
from datetime import timedelta

import pytest

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.gateway_api import GATEWAYS
from reporter.model.enums import TroubleKind
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, WatchLost
from reporter.status.whole_status import render_status
from tests.support.builders import (
    NOON,
    a_trouble,
    an_active_verdict,
)
from tests.unit.status.status_fixture import BBR, ISTIO, KAITO, PODS_OF, SET, StatusPage


@pytest.fixture
def status_page() -> StatusPage:
    return StatusPage()


def at(span: float) -> str:
    return (NOON + timedelta(seconds=span)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_every_subject_is_listed_with_its_clear_reasons(status_page):
    assert status_page.page()["identity"] == "reporter-0"
    assert status_page.subject()["clear"] == ["clusterIstio", "clusterBBR", "clusterKaito"]
    assert status_page.subject(SET)["clear"] == ["inferencesetPods"]
    assert status_page.subject()["verdicts"] == []
    assert not status_page.subject()["readyOwed"]


def test_a_follower_shows_due_instead_of_announced(status_page):
    status_page.leading = False
    status_page.replay.advance(5).set_verdicts(an_active_verdict(BBR))
    assert status_page.verdict(BBR)["state"] == "due"
    status_page.replay.advance(10)
    status_page.leading = True
    assert (status_page.verdict(BBR)["state"], status_page.verdict(BBR)["since"]) == (
        "announced",
        at(15),
    )


def test_a_held_reason_has_its_since_and_held_until(status_page):
    status_page.replay.advance(5).set_verdicts(
        an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST))
    )
    status_page.page()
    status_page.replay.advance(10)
    verdict = status_page.verdict(BBR)
    assert (verdict["state"], verdict["since"]) == ("held", at(5))
    assert verdict["heldUntil"] == at(35)
    (cause,) = verdict["causes"]
    assert cause == {
        "object": "things system/thing",
        "code": "Broken",
        "kind": "lost",
        "out": False,
        "active": True,
        "unknown": False,
        "held": True,
        "seconds": 10.0,
        "quietSeconds": 0.0,
    }
    assert status_page.subject()["clear"] == ["clusterIstio", "clusterKaito"]
    status_page.replay.advance(20)
    verdict = status_page.verdict(BBR)
    assert (verdict["state"], verdict["since"]) == ("announced", at(35))


def test_an_announced_reason_has_its_event(status_page):
    status_page.replay.set_verdicts(an_active_verdict(BBR))
    verdict = status_page.verdict(BBR)
    assert (verdict["state"], verdict["heldUntil"]) == ("announced", None)
    assert (verdict["episode"], verdict["count"]) == (at(0), 1)
    assert verdict["message"] == "Thing thing is broken. Platform: look at it."
    assert status_page.subject()["readyOwed"]


def test_an_outranked_reason_has_its_own_text(status_page):
    status_page.replay.set_verdicts(
        an_active_verdict(ISTIO, a_trouble("istiod")), an_active_verdict(BBR, a_trouble("router"))
    )
    verdict = status_page.verdict(BBR)
    assert (verdict["state"], verdict["message"]) == ("outranked", "")
    assert verdict["text"] == "Thing router is broken. Platform: look at it."


def test_a_suppressed_reason_has_its_sources_and_its_own_text(status_page):
    status_page.replay.set_verdicts(
        an_active_verdict(KAITO, a_trouble("kaito", is_out=True)), an_active_verdict(PODS_OF)
    )
    verdict = status_page.verdict(PODS_OF)
    assert verdict["state"] == "suppressed"
    assert verdict["suppressedBy"] == ["cluster clusterKaito"]
    assert verdict["text"].startswith("Thing thing is broken.")


def test_foreign_text_is_sanitized_as_in_an_event(status_page):
    foreign = "see https://example.com/x?sig=abcd1234 \x1b[31mtoken=abcdefghij\nnow"
    status_page.replay.set_verdicts(
        an_active_verdict(ISTIO), an_active_verdict(BBR, a_trouble(foreign_text=foreign))
    )
    text = json.dumps(status_page.page())
    assert "example.com" not in text
    assert "abcdefghij" not in text
    assert "\\u001b" not in text


def test_a_settling_reason_is_shown_until_it_has_settled(status_page):
    status_page.replay.set_verdicts(an_active_verdict(BBR)).advance(10)
    status_page.page()
    status_page.replay.set_clear(BBR).advance(10)
    verdict = status_page.verdict(BBR)
    assert verdict["state"] == "settling"
    assert verdict["causes"][0]["quietSeconds"] == 10.0
    status_page.replay.advance(21)
    assert status_page.subject()["verdicts"] == []


def test_an_unknown_reason_has_its_cause_and_since(status_page):
    status_page.replay.advance(7).set_unknown(BBR, PODS_OF)
    assert status_page.verdict(BBR)["unknown"] == "forbidden"
    assert (status_page.verdict(PODS_OF)["state"], status_page.verdict(PODS_OF)["since"]) == (
        "unknown",
        at(7),
    )
    status_page.replay.set_verdicts(an_active_verdict(ISTIO)).set_unknown(ISTIO)
    verdict = status_page.verdict(ISTIO)
    assert (verdict["state"], verdict["unknown"]) == ("unknown", "forbidden")
    assert verdict["causes"][0]["code"] == "Broken"


def test_a_state_that_returns_begins_anew(status_page):
    status_page.replay.set_verdicts(an_active_verdict(BBR))
    assert status_page.verdict(BBR)["since"] == at(0)
    status_page.replay.set_clear(BBR).advance(40)
    assert status_page.subject()["verdicts"] == []
    status_page.replay.set_verdicts(an_active_verdict(BBR))
    assert status_page.verdict(BBR)["since"] == at(40)


def test_each_kind_and_crd_has_its_watch_state(status_page):
    status_page.store.set_watch_state(PODS, WatchLost(NOON, "connection refused"))
    status_page.store.set_watch_state(DEPLOYMENTS, NotSynced("may not list deployments.apps"))
    status_page.store.set_watch_state(NAMESPACES, NotSynced())
    kinds = status_page.page()["kinds"]
    assert kinds["pods"] == f"not watched since {at(0)}: connection refused"
    assert kinds["deployments"] == "not listed: may not list deployments.apps"
    assert kinds["namespaces"] == "being listed"
    status_page.store.set_watch_state(GATEWAYS, NotServed())
    kind = status_page.page()["kinds"]["gateways"]
    assert kind == "not listed: answered with 404 Not Found, and not discovered yet"
    name = "gateways.gateway.networking.k8s.io"
    assert status_page.page()["crds"] == {name: "unknown: not discovered yet"}
    status_page.store.record_discovery(DiscoveryResult({}), now=NOON - timedelta(minutes=1))
    status_page.store.record_discovery(DiscoveryResult({}), now=NOON)
    assert status_page.page()["kinds"]["gateways"] == "not served"
    status_page.store.record_discovery(DiscoveryResult({name: ("v1", "v1beta1")}), now=NOON)
    assert status_page.page()["crds"] == {name: "v1, v1beta1"}
    status_page.store.record_discovery(DiscoveryResult({}), now=NOON + timedelta(seconds=1))
    assert status_page.page()["crds"] == {name: "missing in one answer, a second is awaited"}
    status_page.store.record_discovery(None, "HTTP 503", now=NOON + timedelta(seconds=2))
    assert status_page.page()["crds"] == {name: "unknown: HTTP 503"}


def test_the_verdicts_of_a_subject_are_sorted_by_reason():
    status_page = StatusPage()
    status_page.replay.set_verdicts(
        *(an_active_verdict(key, a_trouble(kind=TroubleKind.LOST)) for key in (KAITO, ISTIO, BBR))
    )
    reasons = [verdict["reason"] for verdict in status_page.subject()["verdicts"]]
    assert reasons == ["clusterBBR", "clusterIstio", "clusterKaito"]


def test_a_new_state_that_the_history_has_not_seen_is_not_dated_by_the_one_before():
    status_page = StatusPage()
    status_page.replay.set_verdicts(an_active_verdict(ISTIO, a_trouble(kind=TroubleKind.LOST)))
    status_page.page()
    status_page.replay.advance(60)
    since = status_page.history.freeze()
    chunks = render_status(
        status_page.replay.context,
        status_page.store.snapshot(),
        since=since,
        process={"leading": True},
    )
    page = json.loads("".join(chunks))
    (verdict,) = page["subjects"][0]["verdicts"]
    assert (verdict["state"], verdict["since"]) == ("announced", "2026-05-01T12:01:00Z")
