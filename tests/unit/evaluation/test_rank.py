"""The ranks of findings of one subject."""

from reporter.evaluation.clocks import ZERO, Delays
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.evaluation.rank import Ranking
from reporter.model.enums import Emission, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.support.builders import a_key, a_trouble, an_active_verdict
from tests.support.replay_builders import BBR, ISTIO, PODS, SET, cluster_replay, stack_replay


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


def test_a_reason_outranks_until_its_last_trouble_has_been_over_for_the_settle():
    first, last = a_trouble("one", is_crash=True), a_trouble("two", is_crash=True)
    replay = cluster_replay().set_verdicts(
        an_active_verdict(ISTIO, first, last), an_active_verdict(BBR)
    )
    replay.set_verdicts(an_active_verdict(ISTIO, last)).advance(20).set_clear(ISTIO)
    assert replay.advance(29).new_writes == ["clusterIstio x1", "clusterIstio x2"]
    assert replay.advance(1).new_writes == ["clusterBBR x1"]


def test_trouble_that_was_held_until_its_end_prolongs_no_rank():
    crash, start = a_trouble("one", is_crash=True), a_trouble("two", TroubleKind.STARTING)
    replay = cluster_replay().set_verdicts(
        an_active_verdict(ISTIO, crash, start), an_active_verdict(BBR)
    )
    replay.set_verdicts(an_active_verdict(ISTIO, start)).advance(20).set_clear(ISTIO)
    assert replay.advance(9).new_writes == ["clusterIstio x1"]
    assert replay.advance(1).new_writes == ["clusterBBR x1"]


def test_a_settle_of_zero_ends_a_finding_that_is_clear_and_hides_none_that_lasts():
    replay = cluster_replay(settings=EvaluationSettings(delays=Delays(settle=ZERO)))
    assert replay.set_verdicts(an_active_verdict(BBR)).new_writes == ["clusterBBR x1"]
    assert replay.set_clear(BBR).advance(1).new_writes == ["clusterReady x1"]


def test_the_findings_of_one_reason_are_in_the_order_of_their_items():
    second, first = a_key("clusterIstio", item="b"), a_key("clusterIstio", item="a")
    replay = cluster_replay().set_verdicts(an_active_verdict(second), an_active_verdict(BBR))
    ranking = replay.set_verdicts(an_active_verdict(first)).evaluation.ranking_of(CLUSTER_SUBJECT)
    assert (ranking.primary, ranking.ranked) == ((first, second), (first, second, BBR))


def test_other_reasons_are_sorted_so_that_every_process_makes_the_same_digest_of_them():
    keys = tuple(a_key(f"cluster{letter}") for letter in "FADBEC")
    others = tuple(f"cluster{letter}" for letter in "ABCDE")
    assert Ranking(keys[:1], keys).other_reasons(keys[0]) == others


def test_a_pass_without_a_change_keeps_the_rankings():
    replay = cluster_replay().set_verdicts(an_active_verdict(BBR))
    before = replay.evaluation.rankings
    assert before.keys() == {CLUSTER_SUBJECT}
    assert replay.run_pass().evaluation.rankings is before


def test_a_change_of_one_subject_keeps_the_ranking_of_the_others():
    replay = stack_replay().set_verdicts(an_active_verdict(PODS))
    before = replay.evaluation.rankings[SET]
    after = replay.set_verdicts(an_active_verdict(BBR)).evaluation.rankings
    assert after.keys() == {CLUSTER_SUBJECT, SET}
    assert after[SET] is before


def test_a_subject_with_one_reason_has_one_tuple_of_keys():
    ranking = cluster_replay().set_verdicts(an_active_verdict(BBR)).evaluation.rankings
    assert ranking[CLUSTER_SUBJECT].primary is ranking[CLUSTER_SUBJECT].ranked


def test_an_unknown_finding_hides_none_of_lower_rank_and_takes_its_place_back_as_one_episode():
    replay = cluster_replay().set_verdicts(an_active_verdict(ISTIO), an_active_verdict(BBR))
    assert replay.advance(100).new_writes == ["clusterIstio x1"]
    replay.set_unknown(ISTIO)
    assert replay.advance(29).new_writes == []
    assert replay.advance(1).new_writes == ["clusterBBR x1"]
    assert replay.last_message.endswith(" (also: clusterIstio)")
    assert replay.state(ISTIO) == "unknown"
    replay.set_verdicts(an_active_verdict(ISTIO))
    assert (replay.new_writes, replay.state(BBR)) == (["clusterIstio x2"], "outranked")


def test_the_only_finding_keeps_its_place_while_it_is_unknown():
    replay = cluster_replay().set_verdicts(an_active_verdict(ISTIO)).advance(100)
    replay.set_unknown(ISTIO).advance(100).set_verdicts(an_active_verdict(ISTIO))
    assert replay.new_writes == ["clusterIstio x1"]


def test_a_finding_that_was_never_announced_hides_none_once_it_is_unknown():
    replay = cluster_replay()
    replay.verdicts = {ISTIO: an_active_verdict(ISTIO, a_trouble(kind=TroubleKind.LOST))}
    replay.run_pass().advance(29).set_unknown(ISTIO).set_verdicts(an_active_verdict(BBR))
    assert replay.new_writes == ["clusterBBR x1"]
