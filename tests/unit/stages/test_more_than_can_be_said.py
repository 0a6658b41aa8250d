"""
More to say than may be written: whose turn it is.
"""

from datetime import timedelta

from reporter.model.subjects import CLUSTER, Subject
from reporter.model.words import Layer
from reporter.stages.judgement import Terms
from reporter.stages.outcome import tell
from tests.builders import a_catalogue, a_key, active, an_entry
from tests.play import Play


MANY = 30
HEARTBEAT = timedelta(seconds=10)
SETS = [Subject(Layer.MODELDEPLOYMENT, f"team-{n:02}", "qwen") for n in range(MANY)]
PODS = [a_key("inferencesetPods", each) for each in SETS]
LATE = Subject(Layer.MODELDEPLOYMENT, f"team-{MANY}", "qwen")
CATALOGUE = a_catalogue(
    an_entry("clusterBBR", 20), an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT)
)


class Slow(Play):
    """
    Writes one Event a second.
    """

    def speak(self, outcome=None) -> None:
        due = next(iter(self.stage.due(now=self.now)), None)
        if due is not None and due.at <= self.now:
            record = self.stage.compose(due.key, now=self.now)
            self.written.append(record)
            self.voice = tell(self.voice, record, outcome or self.outcome, self.catalogue)

    def seconds(self, count: int) -> "Slow":
        for _ in range(count):
            self.now += timedelta(seconds=1)
            self.step()
        return self


def a_flood() -> Slow:
    subjects = frozenset({CLUSTER, *SETS, LATE})
    play = Slow(CATALOGUE, terms=Terms(heartbeat=HEARTBEAT), subjects=subjects)
    play.says = {key: active(key) for key in PODS}
    return play


def test_all_are_announced_before_any_is_repeated():
    play = a_flood().seconds(MANY)
    assert [record.key for record in play.written] == PODS


def test_what_was_told_longest_ago_is_repeated_first():
    play = a_flood().seconds(3 * MANY)
    assert {record.count for record in play.written[MANY : 2 * MANY]} == {2}
    assert {record.count for record in play.written[2 * MANY :]} == {3}


def test_what_is_new_does_not_wait_for_repetitions():
    play = a_flood().seconds(2 * MANY)
    key = a_key("inferencesetPods", LATE)
    play.says[key] = active(key)
    assert play.seconds(1).written[-1].key == key


def test_the_end_of_trouble_does_not_wait_for_repetitions():
    play = a_flood().seconds(2 * MANY)
    del play.says[PODS[-1]]
    play.seconds(31)
    assert [r.key.reason for r in play.written].count("inferencesetReady") == 1
