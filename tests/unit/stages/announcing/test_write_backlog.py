"""
More to say than may be written: whose turn it is.
"""

from datetime import timedelta

from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.stages.announcing.outcome import apply_outcome
from reporter.stages.evaluation.evaluation import EvaluationSettings
from tests.support.builders import a_catalogue, a_key, an_active_verdict, an_entry
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
    """
    Writes one Event a second.
    """

    def write_pending(self, outcome=None) -> None:
        due = next(iter(self.context.pending_writes(now=self.now)), None)
        if due is not None and due.due_at <= self.now:
            record = self.context.compose_event(due.key, now=self.now)
            self.writes.append(record)
            self.announcement_state = apply_outcome(
                self.announcement_state, record, outcome or self.write_outcome, self.catalogue
            )

    def seconds(self, count: int) -> "SlowReplay":
        for _ in range(count):
            self.now += timedelta(seconds=1)
            self.run_pass()
        return self


def a_backlog() -> SlowReplay:
    subjects = frozenset({CLUSTER_SUBJECT, *SETS, LATE})
    play = SlowReplay(
        CATALOGUE, settings=EvaluationSettings(heartbeat=HEARTBEAT), subjects=subjects
    )
    play.verdicts = {key: an_active_verdict(key) for key in PODS}
    return play


def test_all_are_announced_before_any_is_repeated():
    play = a_backlog().seconds(MANY)
    assert [record.key for record in play.writes] == PODS


def test_what_was_told_longest_ago_is_repeated_first():
    play = a_backlog().seconds(3 * MANY)
    assert {record.count for record in play.writes[MANY : 2 * MANY]} == {2}
    assert {record.count for record in play.writes[2 * MANY :]} == {3}


def test_what_is_new_does_not_wait_for_repetitions():
    play = a_backlog().seconds(2 * MANY)
    key = a_key("inferencesetPods", LATE)
    play.verdicts[key] = an_active_verdict(key)
    assert play.seconds(1).writes[-1].key == key


def test_the_end_of_trouble_does_not_wait_for_repetitions():
    play = a_backlog().seconds(2 * MANY)
    del play.verdicts[PODS[-1]]
    play.seconds(31)
    assert [r.key.reason for r in play.writes].count("inferencesetReady") == 1
