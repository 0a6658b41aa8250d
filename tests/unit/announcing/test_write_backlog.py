"""The order of writes when more are due than may be written."""

from datetime import timedelta

from msgspec.structs import replace

from reporter.announcing.announcement_state import apply_outcome
from reporter.announcing.schedule import PendingWrite
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from tests.support.builders import NOON, a_catalogue, a_key, an_active_verdict, an_entry
from tests.support.replay import Replay


MANY = 30
HEARTBEAT = timedelta(seconds=10)
SETS = [Subject(Layer.MODELDEPLOYMENT, f"team-{n:02}", "qwen") for n in range(MANY)]
PODS = [a_key("inferencesetPods", each) for each in SETS]
LATE = Subject(Layer.MODELDEPLOYMENT, f"team-{MANY}", "qwen")
CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20), an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT)
)


class SlowReplay(Replay):
    """Writes one Event per pass, and passes come once a second."""

    def write_pending(self, outcome=None) -> None:
        write = next(iter(self.context.pending_writes(now=self.now)), None)
        if write is not None and write.due_at <= self.now:
            event = self.context.compose_event(write.key, now=self.now)
            self.writes.append(event)
            self.announcement_state = apply_outcome(
                self.announcement_state, event, outcome or self.write_outcome, self.catalogue
            )

    def seconds(self, count: int) -> "SlowReplay":
        for _ in range(count):
            self.now += timedelta(seconds=1)
            self.run_pass()
        return self


def a_backlog() -> SlowReplay:
    subjects = frozenset({CLUSTER_SUBJECT, *SETS, LATE})
    replay = SlowReplay(
        CATALOGUE, settings=EvaluationSettings(heartbeat=HEARTBEAT), subjects=subjects
    )
    replay.verdicts = {key: an_active_verdict(key) for key in PODS}
    return replay


def test_all_are_announced_before_any_is_repeated():
    replay = a_backlog().seconds(MANY)
    assert [record.key for record in replay.writes] == PODS


def test_the_oldest_heartbeat_is_written_first():
    replay = a_backlog().seconds(3 * MANY)
    assert {record.count for record in replay.writes[MANY : 2 * MANY]} == {2}
    assert {record.count for record in replay.writes[2 * MANY :]} == {3}


def test_a_first_announcement_does_not_wait_for_heartbeats():
    replay = a_backlog().seconds(2 * MANY)
    key = a_key("inferencesetPods", LATE)
    replay.verdicts[key] = an_active_verdict(key)
    assert replay.seconds(1).writes[-1].key == key


def test_the_event_of_many_comes_before_those_of_one_with_the_same_rank():
    many = [Subject(Layer.MODELDEPLOYMENT, "team-zz", f"model-{n:02}") for n in range(11)]
    replay = SlowReplay(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, *SETS, *many}))
    keys = [*PODS, *(a_key("inferencesetPods", each) for each in many)]
    replay.verdicts = {key: an_active_verdict(key) for key in keys}
    written = [record.key.subject for record in replay.seconds(3).writes]
    assert written == [Subject(Layer.MODELDEPLOYMENT, "team-zz"), *SETS[:2]]


def test_a_ready_does_not_wait_for_heartbeats():
    replay = a_backlog().seconds(2 * MANY)
    del replay.verdicts[PODS[-1]]
    replay.seconds(31)
    assert [r.key.reason for r in replay.writes].count("inferencesetReady") == 1


def test_what_is_due_is_in_the_order_of_content_layer_rank_reach_and_name():
    group, *pods = (
        a_key("inferencesetPods", Subject(Layer.MODELDEPLOYMENT, *names))
        for names in (("team-zz", ""), ("team-a", "qwen"), ("team-b", "phi"))
    )
    expected = [
        PendingWrite(a_key("clusterBBR"), NOON, 20),
        PendingWrite(group, NOON, 10),
        PendingWrite(pods[0], NOON, 10),
        PendingWrite(pods[1], NOON, 10),
        PendingWrite(replace(group, reason="inferencesetRoute"), NOON, 20),
        PendingWrite(a_key("clusterKeda"), NOON - HEARTBEAT, 70, is_repeat=True),
        PendingWrite(a_key("clusterIstio"), NOON, 10, is_repeat=True),
    ]
    writes = expected[::-1]
    assert sorted(writes, key=lambda write: write.sort_key) == expected
