"""Groups of the items of one reason."""

from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.replay import Replay
from tests.support.replay_builders import MODELS, sets


CHECK = an_entry("inferencesetCheck", None, orthogonal=True, layer=Layer.MODELDEPLOYMENT)


def check_replay(*subjects):
    return Replay(a_catalogue(*MODELS, CHECK), subjects=frozenset({CLUSTER_SUBJECT, *subjects}))


def items(subjects, item):
    return [an_active_verdict(a_key(CHECK.reason, each, item)) for each in subjects]


def test_each_item_of_a_reason_is_counted_and_grouped_for_itself():
    subjects = sets(12)
    replay = check_replay(*subjects)
    replay.set_verdicts(*items(subjects, "smoke"), *items(subjects[:2], "tools"))
    assert replay.new_writes == [f"{CHECK.reason} x1"] * 3
    messages = [str(each.message) for each in replay.writes]
    assert sum("12 InferenceSets" in each for each in messages) == 1
    replay.set_clear(*(each.key for each in items(subjects, "smoke"))).advance(40)
    replay.set_verdicts(*items(subjects[:1], "smoke"))
    assert replay.new_writes == [f"{CHECK.reason} x1"], "its group has ended"


def test_ten_of_one_item_and_ten_of_another_make_no_group():
    subjects = sets(10)
    replay = check_replay(*subjects)
    replay.set_verdicts(*items(subjects, "smoke"), *items(subjects, "tools"))
    assert len(replay.new_writes) == 20


def test_a_restored_group_of_an_item_does_not_wait_for_another_item():
    subjects = sets(11)
    replay = check_replay(*subjects)
    replay.set_verdicts(*items(subjects, "smoke"))
    replay.set_clear(*(each.key for each in items(subjects, "smoke")))
    replay.set_unknown(a_key(CHECK.reason, subjects[0], "tools"))
    replay.restart(back_after=5).advance(60)
    assert replay.announcement_state.episodes == {}
    replay.set_verdicts(*items(subjects[:1], "smoke"))
    assert replay.new_writes == [f"{CHECK.reason} x1"] * 2


def test_a_group_shows_one_trouble_of_one_member():
    subjects = sets(11)
    replay = check_replay(*subjects)
    both = a_trouble("first"), a_trouble("second")
    keys = [each.key for each in items(subjects, "smoke")]
    replay.set_verdicts(*(an_active_verdict(each, *both) for each in keys))
    message = str(replay.writes[-1].message)
    assert ("first" in message, "second" in message) == (True, False)
