"""The page /status: every subject with the state of each reason, since when and why."""

import json
from datetime import timedelta

import pytest

from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.gateway_api import GATEWAYS
from reporter.model.enums import TroubleKind
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, WatchLost
from reporter.status.diagnosis import render_diagnosis
from tests.support.builders import (
    NOON,
    a_trouble,
    an_active_verdict,
)
from tests.unit.status.status_fixture import BBR, ISTIO, KAITO, PODS_OF, SET, DiagnosisPage


@pytest.fixture
def diagnosis_page() -> DiagnosisPage:
    return DiagnosisPage()


def at(span: float) -> str:
    return (NOON + timedelta(seconds=span)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_every_subject_is_listed_with_its_clear_reasons(diagnosis_page):
    assert diagnosis_page.page()["identity"] == "reporter-0"
    assert diagnosis_page.subject()["clear"] == ["clusterIstio", "clusterBBR", "clusterKaito"]
    assert diagnosis_page.subject(SET)["clear"] == ["inferencesetPods"]
    assert diagnosis_page.subject()["verdicts"] == []
    assert not diagnosis_page.subject()["readyOwed"]


def test_a_follower_shows_due_instead_of_announced(diagnosis_page):
    diagnosis_page.leading = False
    diagnosis_page.replay.advance(5).set_verdicts(an_active_verdict(BBR))
    assert diagnosis_page.verdict(BBR)["state"] == "due"
    diagnosis_page.replay.advance(10)
    diagnosis_page.leading = True
    assert (diagnosis_page.verdict(BBR)["state"], diagnosis_page.verdict(BBR)["since"]) == (
        "announced",
        at(15),
    )


def test_a_held_reason_has_its_since_and_held_until(diagnosis_page):
    diagnosis_page.replay.advance(5).set_verdicts(
        an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST))
    )
    diagnosis_page.page()
    diagnosis_page.replay.advance(10)
    verdict = diagnosis_page.verdict(BBR)
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
    assert diagnosis_page.subject()["clear"] == ["clusterIstio", "clusterKaito"]
    diagnosis_page.replay.advance(20)
    verdict = diagnosis_page.verdict(BBR)
    assert (verdict["state"], verdict["since"]) == ("announced", at(35))


def test_an_announced_reason_has_its_event(diagnosis_page):
    diagnosis_page.replay.set_verdicts(an_active_verdict(BBR))
    verdict = diagnosis_page.verdict(BBR)
    assert (verdict["state"], verdict["heldUntil"]) == ("announced", None)
    assert (verdict["episode"], verdict["count"]) == (at(0), 1)
    assert verdict["message"] == "Thing thing is broken. Platform: look at it."
    assert diagnosis_page.subject()["readyOwed"]


def test_an_outranked_reason_has_its_own_text(diagnosis_page):
    diagnosis_page.replay.set_verdicts(
        an_active_verdict(ISTIO, a_trouble("istiod")), an_active_verdict(BBR, a_trouble("router"))
    )
    verdict = diagnosis_page.verdict(BBR)
    assert (verdict["state"], verdict["message"]) == ("outranked", "")
    assert verdict["text"] == "Thing router is broken. Platform: look at it."


def test_a_suppressed_reason_has_its_sources_and_its_own_text(diagnosis_page):
    diagnosis_page.replay.set_verdicts(
        an_active_verdict(KAITO, a_trouble("kaito", is_out=True)), an_active_verdict(PODS_OF)
    )
    verdict = diagnosis_page.verdict(PODS_OF)
    assert verdict["state"] == "suppressed"
    assert verdict["suppressedBy"] == ["cluster clusterKaito"]
    assert verdict["text"].startswith("Thing thing is broken.")


def test_foreign_text_is_sanitized_as_in_an_event(diagnosis_page):
    foreign = "see https://example.com/x?sig=abcd1234 \x1b[31mtoken=abcdefghij\nnow"
    diagnosis_page.replay.set_verdicts(
        an_active_verdict(ISTIO), an_active_verdict(BBR, a_trouble(foreign_text=foreign))
    )
    text = json.dumps(diagnosis_page.page())
    assert "example.com" not in text
    assert "abcdefghij" not in text
    assert "\\u001b" not in text


def test_a_settling_reason_is_shown_until_it_has_settled(diagnosis_page):
    diagnosis_page.replay.set_verdicts(an_active_verdict(BBR)).advance(10)
    diagnosis_page.page()
    diagnosis_page.replay.set_clear(BBR).advance(10)
    verdict = diagnosis_page.verdict(BBR)
    assert verdict["state"] == "settling"
    assert verdict["causes"][0]["quietSeconds"] == 10.0
    diagnosis_page.replay.advance(21)
    assert diagnosis_page.subject()["verdicts"] == []


def test_an_unknown_reason_has_its_cause_and_since(diagnosis_page):
    diagnosis_page.replay.advance(7).set_unknown(BBR, PODS_OF)
    assert diagnosis_page.verdict(BBR)["unknown"] == "forbidden"
    assert (
        diagnosis_page.verdict(PODS_OF)["state"],
        diagnosis_page.verdict(PODS_OF)["since"],
    ) == (
        "unknown",
        at(7),
    )
    diagnosis_page.replay.set_verdicts(an_active_verdict(ISTIO)).set_unknown(ISTIO)
    verdict = diagnosis_page.verdict(ISTIO)
    assert (verdict["state"], verdict["unknown"]) == ("unknown", "forbidden")
    assert verdict["causes"][0]["code"] == "Broken"


def test_a_state_that_returns_begins_anew(diagnosis_page):
    diagnosis_page.replay.set_verdicts(an_active_verdict(BBR))
    assert diagnosis_page.verdict(BBR)["since"] == at(0)
    diagnosis_page.replay.set_clear(BBR).advance(40)
    assert diagnosis_page.subject()["verdicts"] == []
    diagnosis_page.replay.set_verdicts(an_active_verdict(BBR))
    assert diagnosis_page.verdict(BBR)["since"] == at(40)


def test_each_kind_and_crd_has_its_watch_state(diagnosis_page):
    diagnosis_page.store.set_watch_state(PODS, WatchLost(NOON, "connection refused"))
    diagnosis_page.store.set_watch_state(DEPLOYMENTS, NotSynced("may not list deployments.apps"))
    diagnosis_page.store.set_watch_state(NAMESPACES, NotSynced())
    kinds = diagnosis_page.page()["kinds"]
    assert kinds["pods"] == f"not watched since {at(0)}: connection refused"
    assert kinds["deployments"] == "not listed: may not list deployments.apps"
    assert kinds["namespaces"] == "being listed"
    diagnosis_page.store.set_watch_state(GATEWAYS, NotServed())
    kind = diagnosis_page.page()["kinds"]["gateways"]
    assert kind == "not listed: answered with 404 Not Found, and not discovered yet"
    name = "gateways.gateway.networking.k8s.io"
    assert diagnosis_page.page()["crds"] == {name: "unknown: not discovered yet"}
    diagnosis_page.store.record_discovery(DiscoveryResult({}), now=NOON - timedelta(minutes=1))
    diagnosis_page.store.record_discovery(DiscoveryResult({}), now=NOON)
    assert diagnosis_page.page()["kinds"]["gateways"] == "not served"
    diagnosis_page.store.record_discovery(DiscoveryResult({name: ("v1", "v1beta1")}), now=NOON)
    assert diagnosis_page.page()["crds"] == {name: "v1, v1beta1"}
    diagnosis_page.store.record_discovery(DiscoveryResult({}), now=NOON + timedelta(seconds=1))
    assert diagnosis_page.page()["crds"] == {name: "missing in one answer, a second is awaited"}
    diagnosis_page.store.record_discovery(None, "HTTP 503", now=NOON + timedelta(seconds=2))
    assert diagnosis_page.page()["crds"] == {name: "unknown: HTTP 503"}


def test_the_verdicts_of_a_subject_are_sorted_by_reason():
    diagnosis_page = DiagnosisPage()
    diagnosis_page.replay.set_verdicts(
        *(an_active_verdict(key, a_trouble(kind=TroubleKind.LOST)) for key in (KAITO, ISTIO, BBR))
    )
    reasons = [verdict["reason"] for verdict in diagnosis_page.subject()["verdicts"]]
    assert reasons == ["clusterBBR", "clusterIstio", "clusterKaito"]


def test_a_new_state_that_the_history_has_not_seen_is_not_dated_by_the_one_before():
    diagnosis_page = DiagnosisPage()
    diagnosis_page.replay.set_verdicts(an_active_verdict(ISTIO, a_trouble(kind=TroubleKind.LOST)))
    diagnosis_page.page()
    diagnosis_page.replay.advance(60)
    since = diagnosis_page.history.freeze()
    chunks = render_diagnosis(
        diagnosis_page.replay.context,
        diagnosis_page.store.snapshot(),
        since=since,
        process={"leading": True},
    )
    page = json.loads("".join(chunks))
    (verdict,) = page["subjects"][0]["verdicts"]
    assert (verdict["state"], verdict["since"]) == ("announced", "2026-05-01T12:01:00Z")
