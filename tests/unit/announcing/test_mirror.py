"""Beside which InferenceSets an Event is written as well, and for how long that is true."""

from reporter.announcing.announcement_state import WriteOutcome
from reporter.announcing.involved import involved_beside
from reporter.announcing.mirror import is_mirror_true, mirror_subjects
from reporter.kube.event_record import EventRecord
from reporter.model.enums import EventType, Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import (
    HOUR,
    NOON,
    a_catalogue,
    a_key,
    a_trouble,
    an_active_verdict,
    an_entry,
)
from tests.support.replay import Replay
from tests.support.rollups import stack_after
from tests.support.silences import a_silence, silenced


SETS = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:02}") for i in range(12)]
PODS = [a_key("inferencesetPods", each) for each in SETS]
BBR = a_key("clusterBBR")
HARNESS = Subject(Layer.MODELHARNESS, "team-a")
GATE = a_key("modelharnessGate", HARNESS)
SLOW = [a_key("inferencesetSlow", each) for each in SETS]
CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20),
    an_entry("modelharnessGate", 10, layer=Layer.MODELHARNESS),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    an_entry("inferencesetSlow", None, orthogonal=True, layer=Layer.MODELDEPLOYMENT),
)


class PausedReplay(Replay):
    """Writes nothing while it is paused."""

    paused = False

    def write_pending(self, outcome: WriteOutcome | None = None) -> None:
        if not self.paused:
            super().write_pending(outcome)


def a_replay() -> PausedReplay:
    harness = Subject(Layer.MODELHARNESS, "team-a")
    return PausedReplay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, harness, *SETS}))


def due(replay: Replay) -> EventRecord:
    """Return the first Event that is due, before it is written."""
    (write, *_) = replay.context.pending_writes(now=replay.now)
    record = replay.context.compose_event(write.key, now=replay.now)
    assert record is not None
    return record


def test_an_event_of_an_inference_set_is_mirrored_beside_it():
    replay = a_replay().set_verdicts(an_active_verdict(PODS[0]))
    assert mirror_subjects(replay.writes[0], replay.context) == {SETS[0]}


def test_an_event_of_a_harness_is_mirrored_beside_its_gateway_until_it_is_over():
    replay = a_replay().set_verdicts(an_active_verdict(GATE))
    assert mirror_subjects(replay.writes[0], replay.context) == {HARNESS}
    assert is_mirror_true(replay.writes[0], HARNESS, replay.context)
    replay.set_clear(GATE)
    assert not is_mirror_true(replay.writes[0], HARNESS, replay.advance(60).context)


def test_the_gateway_of_a_harness_is_found_by_its_routes_or_labels():
    here = stack_after().store.snapshot()
    found = involved_beside(lambda: here, lambda _: None, Subject(Layer.MODELHARNESS, "team-m"))
    assert found is not None
    assert (found.kind, found.name, found.namespace) == ("Gateway", "team-m-gw", "team-m")
    gone = stack_after({"Gateway team-m/team-m-gw": None}).store.snapshot()
    harness = Subject(Layer.MODELHARNESS, "team-m")
    assert involved_beside(lambda: gone, lambda _: None, harness) is None


def test_an_event_of_the_cluster_is_not():
    replay = a_replay().set_verdicts(an_active_verdict(BBR))
    assert mirror_subjects(replay.writes[0], replay.context) == frozenset()


def test_the_event_of_a_group_is_mirrored_beside_each_member_that_it_may_name():
    replay = a_replay().set_verdicts(*map(an_active_verdict, PODS))
    place = {"namespace": "team-a", "inferenceset": SETS[3].name}
    silenced(replay, a_silence("all", until=NOON + HOUR, **place))
    replay.set_clear(PODS[5])
    assert mirror_subjects(replay.writes[0], replay.context) == {*SETS} - {SETS[3], SETS[5]}


def test_the_ready_of_a_group_is_mirrored_beside_all_that_it_names():
    replay = a_replay().set_verdicts(*map(an_active_verdict, PODS))
    replay.set_clear(*PODS)
    replay.paused = True
    record = due(replay.advance(30))
    assert record.type is EventType.NORMAL
    assert mirror_subjects(record, replay.context) == {*SETS}


def test_the_ready_of_a_group_is_not_mirrored_beside_those_with_orthogonal_trouble_alone():
    replay = a_replay().set_verdicts(*map(an_active_verdict, (*PODS[:11], *SLOW)))
    replay.set_clear(*PODS)
    replay.paused = True
    record = due(replay.advance(30))
    assert record.type is EventType.NORMAL
    assert mirror_subjects(record, replay.context) == {*SETS[:11]}


def test_a_warning_is_true_while_it_may_be_announced():
    replay = a_replay().set_verdicts(an_active_verdict(PODS[0]))
    record = replay.writes[0]
    assert is_mirror_true(record, SETS[0], replay.context)
    replay.set_verdicts(an_active_verdict(PODS[0], a_trouble(code="Other")))
    assert is_mirror_true(record, SETS[0], replay.context)
    replay.set_clear(PODS[0])
    assert not is_mirror_true(record, SETS[0], replay.context)


def test_nothing_is_true_about_a_silenced_or_deleted_set():
    replay = a_replay().set_verdicts(an_active_verdict(PODS[0]))
    record = replay.writes[0]
    silenced(replay, a_silence("all", until=NOON + HOUR, namespace="team-a"))
    assert not is_mirror_true(record, SETS[0], replay.context)
    silenced(replay)
    replay.subjects -= {SETS[0]}
    replay.verdicts.clear()
    replay.run_pass()
    assert not is_mirror_true(record, SETS[0], replay.context)


def test_a_ready_is_true_until_there_is_trouble_again():
    replay = a_replay().set_verdicts(an_active_verdict(PODS[0])).set_clear(PODS[0]).advance(30)
    record = replay.writes[-1]
    assert record.type is EventType.NORMAL
    assert is_mirror_true(record, SETS[0], replay.context)
    replay.set_verdicts(an_active_verdict(PODS[0]))
    assert not is_mirror_true(record, SETS[0], replay.context)
