"""
The status page: every subject, in which state each reason is, since when and why.
"""

import json
from datetime import timedelta
from time import perf_counter

import pytest

from reporter.model.enums import Layer, TroubleKind
from reporter.model.kinds.resource_kinds import DEPLOYMENTS, NAMESPACES, PODS
from reporter.model.observations import DiscoveryResult, NotServed, NotSynced, WatchLost
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Clear
from reporter.sinks.status import SUBJECTS_PER_CHUNK, StateHistory, render_status
from tests.support.builders import (
    NOON,
    a_catalogue,
    a_key,
    a_store,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay


SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
ISTIO, BBR, KAITO = a_key("clusterIstio"), a_key("clusterBBR"), a_key("clusterKaito")
PODS_OF = a_key("inferencesetPods", SET)
CATALOGUE = a_catalogue(
    an_entry("clusterIstio", 10),
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    rows=(a_suppression("clusterKaito", "inferencesetPods"),),
)


class StatusPage:
    """
    A play, and the page that goes with it.
    """

    def __init__(self, subjects=frozenset({CLUSTER_SUBJECT, SET})) -> None:
        self.play = Replay(CATALOGUE, subjects=subjects)
        self.leading = True
        self.history = StateHistory(lambda: self.play.now, lambda: self.leading)
        self.store = a_store(crds=("gateways.gateway.networking.k8s.io",))

    def page(self):
        self.history.on_pass(self.play.evaluation, self.play.evaluation, timedelta(0))
        shown = render_status(
            self.play.context,
            self.store.snapshot(),
            since=self.history.freeze(),
            process={"identity": "reporter-0", "leading": self.leading},
        )
        return json.loads("".join(shown))

    def subject(self, subject: Subject = CLUSTER_SUBJECT):
        (found,) = (
            s
            for s in self.page()["subjects"]
            if (s["layer"], s["namespace"], s["name"])
            == (subject.layer, subject.namespace, subject.name)
        )
        return found

    def verdict(self, key):
        (found,) = (v for v in self.subject(key.subject)["verdicts"] if v["reason"] == key.reason)
        return found


@pytest.fixture
def status_page() -> StatusPage:
    return StatusPage()


def at(span: float) -> str:
    return (NOON + timedelta(seconds=span)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_every_subject_is_there_with_what_is_clear(status_page):
    assert status_page.page()["identity"] == "reporter-0"
    assert status_page.subject()["clear"] == ["clusterIstio", "clusterBBR", "clusterKaito"]
    assert status_page.subject(SET)["clear"] == ["inferencesetPods"]
    assert status_page.subject()["verdicts"] == []
    assert not status_page.subject()["readyOwed"]


def test_one_that_does_not_lead_announces_nothing(status_page):
    status_page.leading = False
    status_page.play.advance(5).set_verdicts(an_active_verdict(BBR))
    assert status_page.verdict(BBR)["state"] == "due"
    status_page.play.advance(10)
    status_page.leading = True
    assert (status_page.verdict(BBR)["state"], status_page.verdict(BBR)["since"]) == (
        "announced",
        at(15),
    )


def test_what_is_held_tells_since_when_and_until_when(status_page):
    status_page.play.advance(5).set_verdicts(
        an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST))
    )
    status_page.page()
    status_page.play.advance(10)
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
        "held": True,
        "seconds": 10.0,
        "quietSeconds": 0.0,
    }
    assert status_page.subject()["clear"] == ["clusterIstio", "clusterKaito"]
    status_page.play.advance(20)
    verdict = status_page.verdict(BBR)
    assert (verdict["state"], verdict["since"]) == ("announced", at(35))


def test_what_is_announced_tells_its_event(status_page):
    status_page.play.set_verdicts(an_active_verdict(BBR))
    verdict = status_page.verdict(BBR)
    assert (verdict["state"], verdict["heldUntil"]) == ("announced", None)
    assert (verdict["episode"], verdict["count"]) == (at(0), 1)
    assert verdict["message"] == "Thing thing is broken. Platform: look at it."
    assert status_page.subject()["readyOwed"]


def test_what_another_one_speaks_for_is_shown_with_its_own_text(status_page):
    status_page.play.set_verdicts(
        an_active_verdict(ISTIO, a_trouble("istiod")), an_active_verdict(BBR, a_trouble("router"))
    )
    verdict = status_page.verdict(BBR)
    assert (verdict["state"], verdict["message"]) == ("outranked", "")
    assert verdict["text"] == "Thing router is broken. Platform: look at it."


def test_what_is_suppressed_tells_by_what_and_its_own_text(status_page):
    status_page.play.set_verdicts(
        an_active_verdict(KAITO, a_trouble("kaito", is_out=True)), an_active_verdict(PODS_OF)
    )
    verdict = status_page.verdict(PODS_OF)
    assert verdict["state"] == "suppressed"
    assert verdict["suppressedBy"] == ["cluster clusterKaito"]
    assert verdict["text"].startswith("Thing thing is broken.")


def test_texts_of_others_are_as_clean_as_in_an_event(status_page):
    foreign = "see https://example.com/x?sig=abcd1234 \x1b[31mtoken=abcdefghij\nnow"
    status_page.play.set_verdicts(
        an_active_verdict(ISTIO), an_active_verdict(BBR, a_trouble(foreign_text=foreign))
    )
    text = json.dumps(status_page.page())
    assert "example.com" not in text
    assert "abcdefghij" not in text
    assert "\\u001b" not in text


def test_what_settles_is_shown_until_it_has(status_page):
    status_page.play.set_verdicts(an_active_verdict(BBR)).advance(10)
    status_page.page()
    status_page.play.set_clear(BBR).advance(10)
    verdict = status_page.verdict(BBR)
    assert verdict["state"] == "settling"
    assert verdict["causes"][0]["quietSeconds"] == 10.0
    status_page.play.advance(21)
    assert status_page.subject()["verdicts"] == []


def test_what_cannot_be_seen_says_why_and_since_when(status_page):
    status_page.play.advance(7).set_unknown(BBR, PODS_OF)
    assert status_page.verdict(BBR)["unknown"] == "blind"
    assert (status_page.verdict(PODS_OF)["state"], status_page.verdict(PODS_OF)["since"]) == (
        "unknown",
        at(7),
    )
    status_page.play.set_verdicts(an_active_verdict(ISTIO)).set_unknown(ISTIO)
    verdict = status_page.verdict(ISTIO)
    assert (verdict["state"], verdict["unknown"]) == ("unknown", "blind")
    assert verdict["causes"][0]["code"] == "Broken"


def test_a_state_begins_anew_when_it_comes_back(status_page):
    status_page.play.set_verdicts(an_active_verdict(BBR))
    assert status_page.verdict(BBR)["since"] == at(0)
    status_page.play.set_clear(BBR).advance(40)
    assert status_page.subject()["verdicts"] == []
    status_page.play.set_verdicts(an_active_verdict(BBR))
    assert status_page.verdict(BBR)["since"] == at(40)


def test_each_kind_and_crd_tells_how_well_it_is_seen(status_page):
    status_page.store.set_watch_state(PODS, WatchLost(NOON, "connection refused"))
    status_page.store.set_watch_state(DEPLOYMENTS, NotSynced("may not list deployments.apps"))
    status_page.store.set_watch_state(NAMESPACES, NotSynced())
    kinds = status_page.page()["kinds"]
    assert kinds["pods"] == f"not watched since {at(0)}: connection refused"
    assert kinds["deployments"] == "not listed: may not list deployments.apps"
    assert kinds["namespaces"] == "being listed"
    status_page.store.set_watch_state(PODS, NotServed())
    assert status_page.page()["kinds"]["pods"] == "not served"
    name = "gateways.gateway.networking.k8s.io"
    assert status_page.page()["crds"] == {name: "unknown: not discovered yet"}
    status_page.store.record_discovery(DiscoveryResult({name: ("v1", "v1beta1")}), now=NOON)
    assert status_page.page()["crds"] == {name: "v1, v1beta1"}
    status_page.store.record_discovery(DiscoveryResult({}), now=NOON + timedelta(seconds=1))
    assert status_page.page()["crds"] == {name: "missing in one answer, a second is awaited"}
    status_page.store.record_discovery(None, "HTTP 503", now=NOON + timedelta(seconds=2))
    assert status_page.page()["crds"] == {name: "unknown: HTTP 503"}


def test_a_page_of_thousands_is_made_at_once():
    sets = [Subject(Layer.MODELDEPLOYMENT, f"team-{i % 50}", f"model-{i}") for i in range(2000)]
    shown = StatusPage(frozenset({CLUSTER_SUBJECT, *sets}))
    shown.play.announcing = False
    lost = [
        an_active_verdict(a_key("inferencesetPods", s), a_trouble(kind=TroubleKind.LOST))
        for s in sets
    ]
    shown.play.set_verdicts(*lost)
    begun = perf_counter()
    assert len(shown.page()["subjects"]) == 2001
    assert perf_counter() - begun < 2


def test_what_is_said_of_a_subject_stands_in_the_order_of_reasons():
    shown = StatusPage()
    shown.play.set_verdicts(
        *(an_active_verdict(key, a_trouble(kind=TroubleKind.LOST)) for key in (KAITO, ISTIO, BBR))
    )
    reasons = [verdict["reason"] for verdict in shown.subject()["verdicts"]]
    assert reasons == ["clusterBBR", "clusterIstio", "clusterKaito"]


def test_a_page_is_made_in_small_parts_and_tells_of_one_moment_whatever_comes_meanwhile():
    sets = [
        Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i}")
        for i in range(10 * SUBJECTS_PER_CHUNK)
    ]
    shown = StatusPage(frozenset({CLUSTER_SUBJECT, *sets}))
    pods = [a_key("inferencesetPods", each) for each in sets]

    def say(verdict) -> None:
        before = shown.play.evaluation
        shown.play.set_verdicts(*map(verdict, pods))
        shown.history.on_pass(before, shown.play.evaluation, timedelta(0))

    def parts():
        since, process = shown.history.freeze(), {"leading": True}
        return render_status(
            shown.play.context, shown.store.snapshot(), since=since, process=process
        )

    say(lambda key: an_active_verdict(key, a_trouble(kind=TroubleKind.LOST)))
    shown.play.advance(120)
    whole, found, changes = (
        "".join(parts()),
        [],
        [Clear, lambda key: an_active_verdict(key, a_trouble())],
    )
    for number, part in enumerate(parts()):
        found.append(part)
        shown.play.advance(50)
        say(changes[number % 2])
    assert "".join(found) == whole != "".join(parts())
    assert len(json.loads(whole)["subjects"]) == len(sets) + 1
    assert max(part.count('"verdicts": [') for part in found) == SUBJECTS_PER_CHUNK


def test_a_page_between_a_pass_and_the_telling_of_it_dates_no_state_by_the_one_before():
    shown = StatusPage()
    shown.play.set_verdicts(an_active_verdict(ISTIO, a_trouble(kind=TroubleKind.LOST)))
    shown.page()
    shown.play.advance(60)
    since = shown.history.freeze()
    parts = render_status(
        shown.play.context, shown.store.snapshot(), since=since, process={"leading": True}
    )
    untold = json.loads("".join(parts))
    (verdict,) = untold["subjects"][0]["verdicts"]
    assert (verdict["state"], verdict["since"]) == ("announced", "2026-05-01T12:01:00Z")
