"""Silenced findings wait; recovery, rank and suppression do not."""

from datetime import timedelta

from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import Emission, Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import (
    HOUR,
    MINUTE,
    NOON,
    a_catalogue,
    a_key,
    a_suppression,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay
from tests.support.silences import a_silence, silenced


SETS = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:02}") for i in range(12)]
BBR, KEDA, KAITO = a_key("clusterBBR"), a_key("clusterKeda"), a_key("clusterKaito")
PODS = [a_key("inferencesetPods", each) for each in SETS]
CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
    an_entry("clusterKeda", 40),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    rows=(a_suppression("clusterKaito", "inferencesetPods"),),
)
HARNESS = Subject(Layer.MODELHARNESS, "team-a")
TEN_MINUTES = timedelta(minutes=10)
LATER = NOON + TEN_MINUTES


def a_replay(**settings) -> Replay:
    subjects = frozenset({CLUSTER_SUBJECT, HARNESS, *SETS})
    return Replay(CATALOGUE, EvaluationSettings(**settings), subjects=subjects)


def test_a_finding_is_announced_when_its_silence_ends_and_not_before():
    replay = silenced(a_replay(), a_silence("clusterBBR", until=LATER))
    replay.set_verdicts(an_active_verdict(BBR)).advance(TEN_MINUTES - timedelta(seconds=1))
    assert (replay.new_writes, replay.state(BBR)) == ([], "silenced")
    replay.advance(1)
    assert (replay.new_writes, replay.state(BBR)) == (["clusterBBR x1"], "announced")
    assert replay.writes[0].episode_start == LATER


def test_the_longest_of_several_silences_counts():
    replay = silenced(
        a_replay(),
        a_silence("clusterBBR", until=LATER),
        a_silence("all", until=LATER + MINUTE, origin="silences.yaml:2"),
    )
    replay.set_verdicts(an_active_verdict(BBR)).advance(TEN_MINUTES)
    assert replay.new_writes == []
    assert replay.evaluation.silence_of(BBR).until == LATER + MINUTE
    assert replay.advance(60).new_writes == ["clusterBBR x1"]


def test_a_running_episode_is_not_renewed_and_goes_on_when_the_silence_ends():
    replay = a_replay().set_verdicts(an_active_verdict(BBR))
    silenced(replay, a_silence("clusterBBR", until=LATER)).advance(TEN_MINUTES - MINUTE)
    assert replay.new_writes == ["clusterBBR x1"]
    assert replay.advance(60).new_writes == ["clusterBBR x2"]
    assert len({record.episode_start for record in replay.writes}) == 1


def test_a_change_of_cause_is_not_written_while_silenced():
    replay = a_replay().set_verdicts(an_active_verdict(BBR))
    silenced(replay, a_silence("clusterBBR", until=LATER))
    replay.set_verdicts(an_active_verdict(BBR, a_trouble(code="Other"))).advance(120)
    assert replay.new_writes == ["clusterBBR x1"]


def test_recovery_passes():
    replay = a_replay().set_verdicts(an_active_verdict(BBR))
    silenced(replay, a_silence("all", until=NOON + HOUR)).set_clear(BBR).advance(30)
    assert replay.new_writes == ["clusterBBR x1", "clusterReady x1"]


def test_what_was_never_announced_has_no_recovery():
    replay = silenced(a_replay(), a_silence("all", until=NOON + HOUR))
    replay.set_verdicts(an_active_verdict(BBR)).set_clear(BBR).advance(120)
    assert replay.new_writes == []


def test_a_silenced_finding_outranks_no_other():
    replay = silenced(a_replay(), a_silence("clusterBBR", until=LATER))
    replay.set_verdicts(an_active_verdict(BBR), an_active_verdict(KEDA))
    assert replay.new_writes == ["clusterKeda x1"]
    assert replay.last_message.endswith(" (also: clusterBBR)")
    assert (replay.state(BBR), replay.state(KEDA)) == ("silenced", "announced")
    replay.advance(LATER - replay.now)
    assert replay.new_writes[-1:] == ["clusterBBR x1"]
    assert (replay.state(BBR), replay.state(KEDA)) == ("announced", "outranked")


def test_a_silence_of_all_hides_what_is_outranked_as_well():
    replay = silenced(a_replay(), a_silence("all", until=LATER))
    replay.set_verdicts(an_active_verdict(BBR), an_active_verdict(KEDA)).advance(60)
    assert replay.new_writes == []
    assert (replay.state(BBR), replay.state(KEDA)) == ("silenced", "silenced")
    replay.advance(LATER - replay.now)
    assert replay.new_writes == ["clusterBBR x1"]


def test_a_silence_of_the_primary_that_was_announced_announces_the_next():
    replay = a_replay().set_verdicts(an_active_verdict(BBR), an_active_verdict(KEDA))
    assert replay.new_writes == ["clusterBBR x1"]
    silenced(replay, a_silence("clusterBBR", until=LATER))
    assert replay.new_writes == ["clusterKeda x1"]
    silenced(replay)
    assert replay.new_writes == ["clusterBBR x2"]


def test_an_outage_is_announced_beside_a_silenced_one_of_higher_rank():
    replay = silenced(a_replay(), a_silence("clusterBBR", until=LATER))
    replay.set_verdicts(an_active_verdict(BBR), an_active_verdict(KAITO, a_trouble(is_out=True)))
    replay.set_verdicts(an_active_verdict(PODS[0])).advance(60)
    assert (replay.state(KAITO), replay.state(PODS[0])) == ("announced", "suppressed")
    assert replay.last_message.endswith(
        "(also: clusterBBR) (suppressing downstream reasons: inferencesetPods in 1 namespace(s))"
    )


def test_the_outage_that_a_silenced_source_suppresses_is_named_by_the_one_that_is_announced():
    replay = silenced(a_replay(), a_silence("clusterKaito", until=LATER))
    replay.set_verdicts(an_active_verdict(KAITO, a_trouble(is_out=True)), an_active_verdict(KEDA))
    replay.set_verdicts(an_active_verdict(PODS[0])).advance(60)
    assert {record.key for record in replay.writes} == {KEDA}
    assert replay.last_message.endswith(
        "(also: clusterKaito) (suppressing downstream reasons: inferencesetPods in 1 namespace(s))"
    )


def test_with_all_findings_announced_the_others_are():
    replay = silenced(a_replay(emission=Emission.ALL), a_silence("clusterBBR", until=LATER))
    replay.set_verdicts(an_active_verdict(BBR), an_active_verdict(KEDA))
    assert replay.new_writes == ["clusterKeda x1"]


def test_a_silenced_upstream_still_suppresses():
    replay = silenced(a_replay(), a_silence("clusterKaito", until=LATER))
    replay.set_verdicts(an_active_verdict(KAITO, a_trouble(is_out=True)))
    replay.set_verdicts(an_active_verdict(PODS[0])).advance(60)
    assert (replay.new_writes, replay.state(PODS[0])) == ([], "suppressed")
    replay.advance(TEN_MINUTES)
    assert replay.writes[0].message.endswith(
        "(suppressing downstream reasons: inferencesetPods in 1 namespace(s))"
    )


def test_silenced_members_are_neither_counted_nor_named():
    replay = silenced(
        a_replay(),
        *(
            a_silence("all", until=LATER, namespace=s.namespace, inferenceset=s.name)
            for s in SETS[:2]
        ),
    )
    replay.set_verdicts(*map(an_active_verdict, PODS))
    assert len(replay.writes) == 10
    assert {record.key for record in replay.writes} == {*PODS[2:]}


def test_a_group_does_not_name_who_is_silenced_later():
    replay = a_replay().set_verdicts(*map(an_active_verdict, PODS))
    assert "12 InferenceSets (model-00, model-01, model-02" in replay.last_message
    place = {"namespace": "team-a", "inferenceset": "model-01"}
    silenced(replay, a_silence("all", until=NOON + HOUR, **place)).advance(330)
    assert "11 InferenceSets (model-00, model-02, model-03" in replay.last_message


def test_a_group_is_not_renewed_while_all_are_silenced():
    replay = a_replay().set_verdicts(*map(an_active_verdict, PODS))
    silenced(replay, a_silence("all", until=NOON + HOUR, namespace="team-a"))
    assert replay.advance(HOUR - MINUTE).new_writes == ["inferencesetPods x1"]
    assert replay.advance(MINUTE).new_writes == ["inferencesetPods x2"]


def test_a_silenced_episode_is_continued_by_the_next_leader_and_not_renewed():
    replay = a_replay().set_verdicts(an_active_verdict(BBR), an_active_verdict(PODS[0]))
    silenced(
        replay,
        a_silence("all", until=LATER),
        a_silence("all", until=LATER, namespace="team-a", origin="silences.yaml:2"),
    )
    replay.advance(60).restart(back_after=5).advance(60)
    assert sorted(replay.new_writes) == ["clusterBBR x1", "inferencesetPods x1"]
    assert replay.set_clear(PODS[0]).advance(30).new_writes == ["inferencesetReady x1"]
    replay.advance(LATER - replay.now)
    assert replay.new_writes == ["clusterBBR x2"]


def test_what_began_while_silenced_is_announced_by_the_next_leader_at_the_end():
    replay = silenced(a_replay(), a_silence("all", until=LATER))
    replay.set_verdicts(an_active_verdict(BBR)).advance(60).restart(back_after=5)
    assert replay.advance(60).new_writes == []
    replay.advance(LATER - replay.now)
    assert replay.new_writes == ["clusterBBR x1"]


def test_held_trouble_stays_held_and_shows_its_silence():
    replay = silenced(a_replay(), a_silence("clusterBBR", until=LATER))
    replay.set_unknown(BBR)
    assert replay.state(BBR) == "unknown"
    assert replay.evaluation.silence_of(BBR) is not None


def test_a_finding_of_another_pack_is_silenced_by_kind_and_name():
    gateway = Subject(Layer.MODELHARNESS, "team-r", "Gateway/edge")
    key = a_key("gatewayOut", gateway)
    entry = an_entry(key.reason, layer=Layer.MODELHARNESS, subject_kind="Gateway")
    replay = Replay(a_catalogue(entry), subjects=frozenset({gateway}))
    place = {"namespace": "team-r", "inferenceset": gateway.name}
    silenced(replay, a_silence(key.reason, until=LATER, **place))
    replay.set_verdicts(an_active_verdict(key)).advance(60)
    assert (replay.new_writes, replay.state(key)) == ([], "silenced")
