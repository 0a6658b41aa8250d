"""
The ranks of findings of one subject.
"""

from reporter.model.enums import Emission, TroubleKind
from reporter.stages.evaluation.evaluation import EvaluationSettings
from tests.support.builders import a_trouble, an_active_verdict
from tests.support.replay_builders import BBR, ISTIO, cluster_replay


def test_only_the_highest_rank_is_announced_and_names_the_others():
    replay = cluster_replay().set_verdicts(
        an_active_verdict(BBR), an_active_verdict(ISTIO, a_trouble("istiod"))
    )
    assert "clusterIstio x1" in replay.new_writes
    assert replay.last_message.endswith(" (also: clusterBBR)")


def test_at_once_the_cause_of_higher_rank_is_the_only_one_announced():
    replay = cluster_replay()
    replay.verdicts = {BBR: an_active_verdict(BBR), ISTIO: an_active_verdict(ISTIO)}
    assert replay.run_pass().new_writes == ["clusterIstio x1"]
    assert replay.state(BBR) == "outranked"


def test_a_higher_cause_that_is_still_held_outranks_nobody():
    replay = cluster_replay()
    replay.verdicts = {
        BBR: an_active_verdict(BBR),
        ISTIO: an_active_verdict(ISTIO, a_trouble(kind=TroubleKind.LOST)),
    }
    assert replay.run_pass().new_writes == ["clusterBBR x1"]


def test_emission_all_announces_each():
    replay = cluster_replay(settings=EvaluationSettings(emission=Emission.ALL))
    replay.verdicts = {BBR: an_active_verdict(BBR), ISTIO: an_active_verdict(ISTIO)}
    assert replay.run_pass().new_writes == ["clusterIstio x1", "clusterBBR x1"]


def test_an_outranked_finding_is_announced_when_the_other_has_settled():
    replay = cluster_replay()
    replay.verdicts = {BBR: an_active_verdict(BBR), ISTIO: an_active_verdict(ISTIO)}
    replay.run_pass().set_clear(ISTIO)
    assert replay.advance(29).new_writes == ["clusterIstio x1"]
    assert replay.advance(2).new_writes == ["clusterBBR x1"]
    assert replay.set_clear(BBR).advance(31).new_writes == ["clusterReady x1"]


def test_a_crash_that_has_been_over_for_the_settle_outranks_nobody():
    replay = cluster_replay().set_verdicts(
        an_active_verdict(ISTIO, a_trouble(is_crash=True)), an_active_verdict(BBR)
    )
    replay.set_clear(ISTIO).advance(29)
    assert replay.new_writes == ["clusterIstio x1"]
    assert replay.advance(1).new_writes == ["clusterBBR x1"]
