"""
The status page: every subject, in which state each reason is, since when and why.
"""

import json
from datetime import timedelta
from time import perf_counter

import pytest

from reporter.model.kinds import DEPLOYMENTS, NAMESPACES, PODS
from reporter.model.observations import Discovery, Unlisted, Unserved, Unwatched
from reporter.model.subjects import CLUSTER, Subject
from reporter.model.verdicts import Clear
from reporter.model.words import Kind, Layer
from reporter.sinks.status import PART, History, page
from tests.builders import (
    NOON,
    a_catalogue,
    a_key,
    a_row,
    a_store,
    a_trouble,
    active,
    an_entry,
)
from tests.play import Play


SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
ISTIO, BBR, KAITO = a_key("clusterIstio"), a_key("clusterBBR"), a_key("clusterKaito")
PODS_OF = a_key("inferencesetPods", SET)
CATALOGUE = a_catalogue(
    an_entry("clusterIstio", 10),
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    rows=(a_row("clusterKaito", "inferencesetPods"),),
)


class Shown:
    """
    A play, and the page that goes with it.
    """

    def __init__(self, subjects=frozenset({CLUSTER, SET})) -> None:
        self.play = Play(CATALOGUE, subjects=subjects)
        self.leading = True
        self.history = History(lambda: self.play.now, lambda: self.leading)
        self.store = a_store(crds=("gateways.gateway.networking.k8s.io",))

    def page(self):
        self.history.passed(self.play.judged, self.play.judged, timedelta(0))
        shown = page(
            self.play.stage,
            self.store.view(),
            since=self.history.since(),
            process={"identity": "reporter-0", "leading": self.leading},
        )
        return json.loads("".join(shown))

    def subject(self, subject: Subject = CLUSTER):
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
def shown() -> Shown:
    return Shown()


def at(span: float) -> str:
    return (NOON + timedelta(seconds=span)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_every_subject_is_there_with_what_is_clear(shown):
    assert shown.page()["identity"] == "reporter-0"
    assert shown.subject()["clear"] == ["clusterIstio", "clusterBBR", "clusterKaito"]
    assert shown.subject(SET)["clear"] == ["inferencesetPods"]
    assert shown.subject()["verdicts"] == []
    assert not shown.subject()["readyOwed"]


def test_one_that_does_not_lead_announces_nothing(shown):
    shown.leading = False
    shown.play.after(5).say(active(BBR))
    assert shown.verdict(BBR)["state"] == "due"
    shown.play.after(10)
    shown.leading = True
    assert (shown.verdict(BBR)["state"], shown.verdict(BBR)["since"]) == ("announced", at(15))


def test_what_is_held_tells_since_when_and_until_when(shown):
    shown.play.after(5).say(active(BBR, a_trouble(kind=Kind.LOST)))
    shown.page()
    shown.play.after(10)
    verdict = shown.verdict(BBR)
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
    assert shown.subject()["clear"] == ["clusterIstio", "clusterKaito"]
    shown.play.after(20)
    verdict = shown.verdict(BBR)
    assert (verdict["state"], verdict["since"]) == ("announced", at(35))


def test_what_is_announced_tells_its_event(shown):
    shown.play.say(active(BBR))
    verdict = shown.verdict(BBR)
    assert (verdict["state"], verdict["heldUntil"]) == ("announced", None)
    assert (verdict["episode"], verdict["count"]) == (at(0), 1)
    assert verdict["message"] == "Thing thing is broken. Platform: look at it."
    assert shown.subject()["readyOwed"]


def test_what_another_one_speaks_for_is_shown_with_its_own_text(shown):
    shown.play.say(active(ISTIO, a_trouble("istiod")), active(BBR, a_trouble("router")))
    verdict = shown.verdict(BBR)
    assert (verdict["state"], verdict["message"]) == ("outranked", "")
    assert verdict["text"] == "Thing router is broken. Platform: look at it."


def test_what_is_suppressed_tells_by_what_and_its_own_text(shown):
    shown.play.say(active(KAITO, a_trouble("kaito", out=True)), active(PODS_OF))
    verdict = shown.verdict(PODS_OF)
    assert verdict["state"] == "suppressed"
    assert verdict["suppressedBy"] == ["cluster clusterKaito"]
    assert verdict["text"].startswith("Thing thing is broken.")


def test_texts_of_others_are_as_clean_as_in_an_event(shown):
    foreign = "see https://example.com/x?sig=abcd1234 \x1b[31mtoken=abcdefghij\nnow"
    shown.play.say(active(ISTIO), active(BBR, a_trouble(foreign=foreign)))
    text = json.dumps(shown.page())
    assert "example.com" not in text
    assert "abcdefghij" not in text
    assert "\\u001b" not in text


def test_what_settles_is_shown_until_it_has(shown):
    shown.play.say(active(BBR)).after(10)
    shown.page()
    shown.play.clear(BBR).after(10)
    verdict = shown.verdict(BBR)
    assert verdict["state"] == "settling"
    assert verdict["causes"][0]["quietSeconds"] == 10.0
    shown.play.after(21)
    assert shown.subject()["verdicts"] == []


def test_what_cannot_be_seen_says_why_and_since_when(shown):
    shown.play.after(7).unknown(BBR, PODS_OF)
    assert shown.verdict(BBR)["unknown"] == "blind"
    assert (shown.verdict(PODS_OF)["state"], shown.verdict(PODS_OF)["since"]) == ("unknown", at(7))
    shown.play.say(active(ISTIO)).unknown(ISTIO)
    verdict = shown.verdict(ISTIO)
    assert (verdict["state"], verdict["unknown"]) == ("unknown", "blind")
    assert verdict["causes"][0]["code"] == "Broken"


def test_a_state_begins_anew_when_it_comes_back(shown):
    shown.play.say(active(BBR))
    assert shown.verdict(BBR)["since"] == at(0)
    shown.play.clear(BBR).after(40)
    assert shown.subject()["verdicts"] == []
    shown.play.say(active(BBR))
    assert shown.verdict(BBR)["since"] == at(40)


def test_each_kind_and_crd_tells_how_well_it_is_seen(shown):
    shown.store.sight(PODS, Unwatched(NOON, "connection refused"))
    shown.store.sight(DEPLOYMENTS, Unlisted("may not list deployments.apps"))
    shown.store.sight(NAMESPACES, Unlisted())
    kinds = shown.page()["kinds"]
    assert kinds["pods"] == f"not watched since {at(0)}: connection refused"
    assert kinds["deployments"] == "not listed: may not list deployments.apps"
    assert kinds["namespaces"] == "being listed"
    shown.store.sight(PODS, Unserved())
    assert shown.page()["kinds"]["pods"] == "not served"
    name = "gateways.gateway.networking.k8s.io"
    assert shown.page()["crds"] == {name: "unknown: not discovered yet"}
    shown.store.discovered(Discovery({name: ("v1", "v1beta1")}), now=NOON)
    assert shown.page()["crds"] == {name: "v1, v1beta1"}
    shown.store.discovered(Discovery({}), now=NOON + timedelta(seconds=1))
    assert shown.page()["crds"] == {name: "missing in one answer, a second is awaited"}
    shown.store.discovered(None, "HTTP 503", now=NOON + timedelta(seconds=2))
    assert shown.page()["crds"] == {name: "unknown: HTTP 503"}


def test_a_page_of_thousands_is_made_at_once():
    sets = [Subject(Layer.MODELDEPLOYMENT, f"team-{i % 50}", f"model-{i}") for i in range(2000)]
    shown = Shown(frozenset({CLUSTER, *sets}))
    shown.play.speaking = False
    lost = [active(a_key("inferencesetPods", s), a_trouble(kind=Kind.LOST)) for s in sets]
    shown.play.say(*lost)
    begun = perf_counter()
    assert len(shown.page()["subjects"]) == 2001
    assert perf_counter() - begun < 2


def test_what_is_said_of_a_subject_stands_in_the_order_of_reasons():
    shown = Shown()
    shown.play.say(*(active(key, a_trouble(kind=Kind.LOST)) for key in (KAITO, ISTIO, BBR)))
    reasons = [verdict["reason"] for verdict in shown.subject()["verdicts"]]
    assert reasons == ["clusterBBR", "clusterIstio", "clusterKaito"]


def test_a_page_is_made_in_small_parts_and_tells_of_one_moment_whatever_comes_meanwhile():
    sets = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i}") for i in range(10 * PART)]
    shown = Shown(frozenset({CLUSTER, *sets}))
    pods = [a_key("inferencesetPods", each) for each in sets]

    def say(verdict) -> None:
        before = shown.play.judged
        shown.play.say(*map(verdict, pods))
        shown.history.passed(before, shown.play.judged, timedelta(0))

    def parts():
        since, process = shown.history.since(), {"leading": True}
        return page(shown.play.stage, shown.store.view(), since=since, process=process)

    say(lambda key: active(key, a_trouble(kind=Kind.LOST)))
    shown.play.after(120)
    whole, found, changes = "".join(parts()), [], [Clear, lambda key: active(key, a_trouble())]
    for number, part in enumerate(parts()):
        found.append(part)
        shown.play.after(50)
        say(changes[number % 2])
    assert "".join(found) == whole != "".join(parts())
    assert len(json.loads(whole)["subjects"]) == len(sets) + 1
    assert max(part.count('"verdicts": [') for part in found) == PART


def test_a_page_between_a_pass_and_the_telling_of_it_dates_no_state_by_the_one_before():
    shown = Shown()
    shown.play.say(active(ISTIO, a_trouble(kind=Kind.LOST)))
    shown.page()
    shown.play.after(60)
    since = shown.history.since()
    parts = page(shown.play.stage, shown.store.view(), since=since, process={"leading": True})
    untold = json.loads("".join(parts))
    (verdict,) = untold["subjects"][0]["verdicts"]
    assert (verdict["state"], verdict["since"]) == ("announced", "2026-05-01T12:01:00Z")
