"""The series of the states of reasons: by namespace, by InferenceSet, and since when."""

import re
from datetime import datetime, timedelta
from pathlib import Path
from sys import getrefcount

import pytest
from prometheus_client.parser import text_string_to_metric_families

from reporter.metrics.index import STATE_NAMES, StateIndex
from reporter.metrics.input_collectors import InputReport
from reporter.metrics.page import Metrics
from reporter.metrics.state_collector import ALWAYS_SHOWN, StateCollector
from reporter.model.enums import Layer, Owner, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from reporter.process.clock import Clock
from tests.support.builders import (
    LONG_AGO,
    NOON,
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.finished_passes import finished_pass
from tests.support.metrics_text import ToldLeadership, metrics_text
from tests.support.replay import Replay


PREFIX = "productionstack_status_reporter_"
METRICS_PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
MILLISECOND, HOUR = timedelta(milliseconds=1), 3600
QWEN, PHI = (Subject(Layer.MODELDEPLOYMENT, "team-a", name) for name in ("qwen", "phi"))
KAITO, BBR = a_key("clusterKaito"), a_key("clusterBBR")
PODS, SCALING = a_key("inferencesetPods", QWEN), a_key("inferencesetScaling", QWEN)
SOME = a_catalogue(
    an_entry("clusterBBR", 20, severity_while_out="critical"),
    an_entry("clusterKaito", 30),
    an_entry("inferencesetScaling", 10, layer=Layer.MODELDEPLOYMENT, owner=Owner.USER),
    an_entry("inferencesetPods", 20, layer=Layer.MODELDEPLOYMENT),
    rows=(a_suppression("clusterKaito", "inferencesetPods"),),
)
Samples = dict[tuple[str, ...], float]


def a_play(*subjects: Subject) -> Replay:
    return Replay(SOME, subjects=frozenset({CLUSTER_SUBJECT, *(subjects or (QWEN,))}))


class Page:
    """Scrapes one page after another."""

    def __init__(self, limit: int | None = None) -> None:
        self.leadership = ToldLeadership(is_leader=True)
        self.metrics = Metrics(SOME, InputReport, self.leadership, Clock())
        self.knows_episodes = True
        self.starts: dict[FindingKey, datetime] = {}
        self.metrics.show_findings(lambda: self.starts, knows_episodes=lambda: self.knows_episodes)
        if limit is not None:
            self.metrics._states = StateCollector(SOME, limit=limit)

    def scrape(self, play: Replay) -> "Page":
        self.metrics.follow(finished_pass(play.evaluation, took=MILLISECOND))
        self.text = metrics_text(self.metrics)
        return self

    def read(self, metric: str, *labels: str) -> Samples:
        return {
            tuple(sample.labels[label] for label in labels): sample.value
            for family in text_string_to_metric_families(self.text)
            for sample in family.samples
            if sample.name == PREFIX + metric
        }

    def states(self, reason: str) -> set[str]:
        """Return the states of a reason in the namespaces of its subjects."""
        found = self.read("reason_state", "reason", "state")
        return {state for (r, state), value in found.items() if r == reason and value}

    def states_of_sets(self) -> dict[tuple[str, str], dict[str, float]]:
        found: dict[tuple[str, str], dict[str, float]] = {}
        samples = self.read("inferenceset_reason_state", "inferenceset", "reason", "state")
        for (name, reason, state), value in samples.items():
            found.setdefault((name, reason), {})[state] = value
        return found


# ---------------------------------------------------------------- by namespace


def test_the_subjects_of_a_page_are_not_kept_until_the_next_page():
    evaluation, index = a_play().evaluation, StateIndex()
    held = getrefcount(evaluation)
    index.update(evaluation)
    assert getrefcount(evaluation) == held


def test_each_state_of_a_reason_is_named():
    play, page = a_play(), Page()
    play.set_verdicts(an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST)))
    assert page.scrape(play).states("clusterBBR") == {"held"}
    assert page.scrape(play.advance(31)).states("clusterBBR") == {"active", "announced"}
    assert page.scrape(play.set_unknown(BBR)).states("clusterBBR") == {"active", "unknown"}
    play.set_verdicts(an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST)))
    assert page.scrape(play.set_clear(BBR)).states("clusterBBR") == {"active", "settling"}
    assert page.scrape(play.advance(31)).states("clusterBBR") == set()


def test_what_is_outranked_and_what_is_suppressed_is_still_active():
    play, page = a_play(), Page()
    play.set_verdicts(an_active_verdict(SCALING), an_active_verdict(PODS))
    assert page.scrape(play).states("inferencesetPods") == {"active", "outranked"}
    play.set_verdicts(an_active_verdict(KAITO, a_trouble(is_out=True)))
    assert page.scrape(play).states("inferencesetPods") == {"active", "suppressed"}


def test_the_states_that_are_asked_for_have_series_with_the_owner_of_the_reason():
    page = Page().scrape(a_play())
    found = page.read("reason_state", "reason", "owner", "state")
    assert {state for _, _, state in found} == ALWAYS_SHOWN
    owners = {reason: owner for reason, owner, _ in found}
    assert (owners["inferencesetScaling"], owners["clusterBBR"]) == ("user", "platform")


def test_states_that_are_rare_have_series_while_they_are_and_zeros_for_an_hour():
    play, page = a_play(), Page()

    def held() -> set[float]:
        found = page.read("reason_state", "reason", "workload_namespace", "state").items()
        return {value for (reason, _, state), value in found if state == "held"}

    play.set_verdicts(an_active_verdict(BBR, a_trouble(kind=TroubleKind.LOST)))
    page.scrape(play)
    assert held() == {1}
    page.scrape(play.advance(31))
    assert held() == {0}
    page.scrape(play.set_clear(BBR).advance(HOUR))
    assert held() == set()


def test_the_document_has_the_number_of_series_of_a_reason_and_of_an_inference_set():
    series = [
        sample.labels
        for family in text_string_to_metric_families(Page().scrape(a_play()).text)
        for sample in family.samples
    ]
    of_one = [each for each in series if each.get("reason") == "clusterBBR" and len(each) > 2]
    found = re.findall(
        r"(\d+) for each reason (?:of the|and namespace with)|not clear, (\d+) at most",
        METRICS_PAGE.read_text("utf-8"),
    )
    by_namespace, by_namespace_again, most = (int(one or other) for one, other in found)
    assert by_namespace == by_namespace_again == len(of_one)
    assert most == len(STATE_NAMES)


def test_reasons_of_another_catalogue_are_shown_beside_the_others():
    page = Page()
    more = a_catalogue(an_entry("clusterMore", 40, owner=Owner.INFRASTRUCTURE))
    page.metrics._states.add_reasons(more)
    found = page.scrape(a_play()).read("reason_state", "reason", "owner")
    assert {("clusterMore", "infrastructure"), ("clusterBBR", "platform")} <= found.keys()


def test_the_cause_of_what_is_suppressed_is_named_while_it_is():
    play, page = a_play(), Page()
    labels = ("cause", "cause_namespace", "layer", "reason", "workload_namespace")
    play.set_verdicts(an_active_verdict(PODS))
    assert page.scrape(play).read("suppression_info", *labels) == {}
    play.set_verdicts(an_active_verdict(KAITO, a_trouble(is_out=True)))
    suppressed = ("clusterKaito", "", "modeldeployment", "inferencesetPods", "team-a")
    assert page.scrape(play).read("suppression_info", *labels) == {suppressed: 1}
    play.set_clear(KAITO).advance(31)
    assert page.scrape(play).read("suppression_info", *labels) == {}


def test_subjects_are_counted_by_their_most_important_state():
    play, page = a_play(QWEN, PHI), Page()
    counts = page.scrape(play).read("subjects", "layer", "state")
    assert counts["cluster", "clear"] == 1
    assert counts["modeldeployment", "clear"] == 2
    play.set_verdicts(an_active_verdict(SCALING), an_active_verdict(PODS))
    play.set_unknown(a_key("inferencesetPods", PHI))
    counts = page.scrape(play).read("subjects", "layer", "state")
    wanted = {"announced": 1.0, "unknown": 1.0, "clear": 0.0, "outranked": 0.0}
    assert {state: counts["modeldeployment", state] for state in wanted} == wanted


# ---------------------------------------------------------------- by InferenceSet


def test_only_what_is_not_clear_has_series_of_an_inference_set():
    play, page = a_play(QWEN, PHI), Page()
    assert page.scrape(play).states_of_sets() == {}
    play.set_verdicts(an_active_verdict(PODS))
    wanted = {("qwen", "inferencesetPods"): {"active": 1, "announced": 1}}
    assert page.scrape(play).states_of_sets() == wanted


def test_states_that_are_over_read_zero_for_an_hour_and_are_gone_then():
    play, page = a_play(), Page()
    page.scrape(play.set_verdicts(an_active_verdict(PODS)))
    play.set_clear(PODS)
    over = {"active": 1, "announced": 0, "settling": 1}
    assert page.scrape(play).states_of_sets() == {("qwen", "inferencesetPods"): over}
    zeros = {("qwen", "inferencesetPods"): dict.fromkeys(over, 0)}
    assert page.scrape(play.advance(31)).states_of_sets() == zeros
    assert page.scrape(play.advance(HOUR - 1)).states_of_sets() == zeros
    assert page.scrape(play.advance(1)).states_of_sets() == {}


def test_trouble_that_returns_within_the_hour_keeps_its_series():
    play, page = a_play(), Page()
    page.scrape(play.set_verdicts(an_active_verdict(PODS)))
    page.scrape(play.set_clear(PODS).advance(31 + HOUR / 2))
    page.scrape(play.set_verdicts(an_active_verdict(PODS)))
    page.scrape(play.advance(HOUR))
    assert page.states_of_sets()["qwen", "inferencesetPods"]["announced"] == 1


@pytest.mark.parametrize("recovered", [False, True])
def test_a_deleted_inference_set_leaves_nothing(recovered):
    play, page = a_play(QWEN, PHI), Page()
    page.scrape(play.set_verdicts(an_active_verdict(PODS)))
    if recovered:
        page.scrape(play.set_clear(PODS).advance(31))
    assert "qwen" in page.text
    play.subjects = frozenset({CLUSTER_SUBJECT, PHI})
    play.set_clear(PODS).run_pass()
    assert "qwen" not in page.scrape(play).text


def test_a_deleted_namespace_leaves_nothing():
    play, page = a_play(), Page()
    page.scrape(play.set_verdicts(an_active_verdict(PODS)))
    assert "team-a" in page.text
    play.subjects = frozenset({CLUSTER_SUBJECT})
    play.set_clear(PODS).run_pass()
    assert "team-a" not in page.scrape(play).text


def test_the_most_important_pairs_are_shown_up_to_the_limit_and_the_others_counted():
    names = [f"model-{number}" for number in range(5)]
    sets = [Subject(Layer.MODELDEPLOYMENT, "team-a", name) for name in names]
    play, page = a_play(*sets), Page(limit=3)
    held = a_trouble(kind=TroubleKind.LOST)
    for each in sets[:3]:
        play.set_verdicts(an_active_verdict(a_key("inferencesetPods", each), held))
    for each in sets[3:]:
        play.set_verdicts(an_active_verdict(a_key("inferencesetPods", each)))
    page.scrape(play)
    shown = {name for name, _ in page.states_of_sets()}
    assert shown == {"model-0", "model-3", "model-4"}
    assert page.read("inferenceset_series_left_out") == {(): 2}
    assert page.states("inferencesetPods") == {"active", "announced", "held"}


def test_items_of_one_reason_are_one_pair():
    play, page = a_play(), Page()
    items = [a_key("inferencesetPods", QWEN, item) for item in ("one", "two")]
    play.set_verdicts(an_active_verdict(items[0]), an_active_verdict(items[1]))
    states = page.scrape(play.set_unknown(items[1])).states_of_sets()
    assert states["qwen", "inferencesetPods"] == {"active": 1, "announced": 1, "unknown": 1}
    play.set_clear(items[0]).advance(31)
    states = page.scrape(play).states_of_sets()
    assert states["qwen", "inferencesetPods"] == {"active": 1, "announced": 0, "unknown": 1}


# ---------------------------------------------------------------- findings on which alerts fire


FINDING = ("finding", "reason", "severity", "workload_namespace", "inferenceset")
OF_PODS = ("inferencesetPods", "warning", "team-a", "qwen")


def test_a_finding_is_shown_from_the_end_of_its_hold_until_it_has_settled():
    play, page = a_play(), Page()
    play.set_verdicts(an_active_verdict(PODS, a_trouble(kind=TroubleKind.LOST)))
    assert page.scrape(play).read(*FINDING) == {}, "held"
    assert page.scrape(play.advance(31)).read(*FINDING) == {OF_PODS: 1}
    assert page.scrape(play.set_unknown(PODS)).read(*FINDING) == {OF_PODS: 1}, "nobody saw it end"
    play.set_verdicts(an_active_verdict(PODS, a_trouble(kind=TroubleKind.LOST)))
    assert page.scrape(play.set_clear(PODS)).read(*FINDING) == {OF_PODS: 1}, "settling"
    assert page.scrape(play.advance(31)).read(*FINDING) == {}


def test_a_finding_has_its_owner_and_layer():
    page = Page().scrape(a_play().set_verdicts(an_active_verdict(SCALING)))
    found = page.read("finding", "layer", "reason", "owner", "inferenceset")
    assert found == {("modeldeployment", "inferencesetScaling", "user", "qwen"): 1}


def test_a_finding_beside_a_higher_one_is_shown_too_and_a_suppressed_one_is_not():
    play, page = a_play(), Page()
    play.set_verdicts(an_active_verdict(SCALING), an_active_verdict(PODS))
    assert {reason for reason, *_ in page.scrape(play).read(*FINDING)} == {
        "inferencesetScaling",
        "inferencesetPods",
    }
    play.set_verdicts(an_active_verdict(KAITO, a_trouble(is_out=True)))
    shown = {reason for reason, *_ in page.scrape(play).read(*FINDING)}
    assert shown == {"inferencesetScaling", "clusterKaito"}


def test_of_two_items_of_which_one_is_suppressed_the_other_one_counts():
    play, page = a_play(), Page()
    items = [a_key("inferencesetPods", QWEN, item) for item in ("one", "two")]
    play.set_verdicts(*map(an_active_verdict, items))
    assert page.scrape(play).read(*FINDING) == {OF_PODS: 1}
    assert page.scrape(play.set_clear(items[0]).advance(31)).read(*FINDING) == {OF_PODS: 1}
    assert page.scrape(play.set_clear(items[1]).advance(31)).read(*FINDING) == {}


def test_what_is_out_has_its_second_severity_until_it_only_lacks_something():
    """The first one lasts, so that no alert resolves when it gets worse."""
    play, page = a_play(), Page()
    warning, critical = (("clusterBBR", each, "", "") for each in ("warning", "critical"))
    play.set_verdicts(an_active_verdict(BBR, a_trouble()))
    assert page.scrape(play).read(*FINDING) == {warning: 1}
    play.set_verdicts(an_active_verdict(BBR, a_trouble(is_out=True)))
    assert page.scrape(play).read(*FINDING) == {warning: 1, critical: 1}
    assert page.scrape(play.set_unknown(BBR)).read(*FINDING) == {warning: 1, critical: 1}
    play.set_verdicts(an_active_verdict(BBR, a_trouble()))
    assert page.scrape(play).read(*FINDING) == {warning: 1}


def test_a_reason_without_alerts_is_not_shown():
    play, page = a_play(), Page()
    none = a_catalogue(an_entry("clusterBBR", 20, severity="none", severity_while_out="none"))
    page.metrics._states.add_reasons(none)
    play.set_verdicts(an_active_verdict(BBR, a_trouble(is_out=True)))
    page.scrape(play)
    assert page.read(*FINDING) == {}
    assert page.states("clusterBBR") == {"active", "announced"}


def test_findings_without_series_of_their_own_share_that_of_their_namespace():
    play, page = a_play(QWEN, PHI), Page(limit=0)
    phi = a_key("inferencesetPods", PHI)
    page.scrape(play.set_verdicts(an_active_verdict(PODS), an_active_verdict(phi)))
    assert page.read(*FINDING) == {("inferencesetPods", "warning", "team-a", ""): 1}


def test_only_the_leader_shows_findings():
    play, page = a_play().set_verdicts(an_active_verdict(PODS)), Page()
    page.leadership.is_leader = False
    page.scrape(play)
    assert (page.read(*FINDING), page.read("findings_complete")) == ({}, {(): 0})
    page.leadership.is_leader = True
    page.scrape(play)
    assert (page.read(*FINDING), page.read("findings_complete")) == ({OF_PODS: 1}, {(): 1})


def test_findings_are_complete_with_the_first_pass_that_knows_earlier_episodes():
    play, page = a_play(), Page()
    page.knows_episodes = False
    assert page.scrape(play).read("findings_complete") == {(): 0}
    page.knows_episodes = True
    page.text = metrics_text(page.metrics)
    assert page.read("findings_complete") == {(): 0}, "the pass was before"
    assert page.scrape(play).read("findings_complete") == {(): 1}
    page.knows_episodes = False
    page.text = metrics_text(page.metrics)
    assert page.read("findings_complete") == {(): 0}, "stood down"


# ---------------------------------------------------------------- since when


SINCE = ("finding_since_timestamp_seconds", "workload_namespace", "inferenceset", "reason")


def test_a_finding_has_the_time_of_its_first_sight_and_none_once_it_is_over():
    play, page = a_play(), Page()
    page.scrape(play.advance(60))
    play.set_verdicts(an_active_verdict(PODS, a_trouble(kind=TroubleKind.LOST)))
    assert page.scrape(play).read(*SINCE) == {}, "held"
    begun = (NOON + timedelta(seconds=60)).timestamp()
    wanted = {("team-a", "qwen", "inferencesetPods"): begun}
    assert page.scrape(play.advance(31)).read(*SINCE) == wanted
    assert page.scrape(play.advance(600)).read(*SINCE) == wanted
    assert page.scrape(play.set_clear(PODS).advance(31)).read(*SINCE) == {}


def test_the_time_of_the_component_that_reports_it_counts():
    play, page = a_play(), Page()
    written = NOON - timedelta(minutes=7)
    trouble = a_trouble(since=written, object_created_at=LONG_AGO)
    page.scrape(play.set_verdicts(an_active_verdict(BBR, trouble)))
    assert page.read(*SINCE) == {("", "", "clusterBBR"): written.timestamp()}


def test_the_start_of_an_episode_counts_after_a_restart():
    play, page = a_play(), Page()
    announced = NOON - timedelta(minutes=20)
    page.starts = {BBR: announced}
    page.scrape(play.set_verdicts(an_active_verdict(BBR)))
    assert page.read(*SINCE) == {("", "", "clusterBBR"): announced.timestamp()}


def test_pairs_beyond_the_limit_share_the_earliest_time_of_their_namespace():
    play, page = a_play(QWEN, PHI), Page(limit=0)
    page.scrape(play)
    play.set_verdicts(an_active_verdict(PODS)).advance(60)
    play.set_verdicts(an_active_verdict(a_key("inferencesetPods", PHI)))
    page.scrape(play)
    assert page.read(*SINCE) == {("team-a", "", "inferencesetPods"): NOON.timestamp()}
