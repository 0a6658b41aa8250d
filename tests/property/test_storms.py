"""
Many InferenceSets at once: the number of Events depends on reasons and namespaces, not on the sets.
"""

from collections import Counter, defaultdict
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.announcing.grouping import GROUP_THRESHOLD
from tests.property.storm_replay import (
    INFRA,
    NAMESPACES,
    PODS,
    PRESSURE,
    READY,
    ROUTE,
    StormReplay,
    inference_sets,
    keys_of,
)


MANY = 40
MINUTE = timedelta(minutes=1)
EPISODES_IN_A_MINUTE = 3
"""
The episodes of one key that can begin within a minute: each lasts for the settle of 30 s at least.
"""

FEW = settings(max_examples=settings().max_examples // 5)
REASONS = st.sampled_from([INFRA, PODS, ROUTE, PRESSURE])


@st.composite
def waves(draw):
    """Draw changes of any sets of two namespaces, in any order and at any time."""
    subjects = inference_sets(MANY, NAMESPACES[:2])
    changes, second = [], 0.0
    for _ in range(draw(st.integers(1, 8))):
        reason, begins = draw(REASONS), draw(st.sampled_from([True, True, False]))
        first, number = draw(st.integers(0, 2 * MANY - 1)), draw(st.integers(1, 2 * MANY))
        at_once = draw(st.sampled_from([2 * MANY, 9, 4]))
        for place, key in enumerate(keys_of(subjects[first : first + number], reason)):
            changes.append((second + place // at_once, begins, key))
        second = changes[-1][0]
        second += draw(st.sampled_from([0.0, 1.0, 14.0, 16.0, 31.0, 100.0]))
    return changes


@FEW
@given(changes=waves())
def test_events_per_minute_are_bounded_by_reasons_and_namespaces(changes):
    replay = StormReplay(inference_sets(MANY, NAMESPACES[:2])).play(changes, rest=100)
    written = defaultdict(list)
    for record in replay.first_writes:
        written[record.key.subject.namespace, record.key.reason].append(record.first_timestamp)
    for (namespace, reason), moments in written.items():
        own_reasons = 3 if reason == READY else 1
        bound = EPISODES_IN_A_MINUTE * (own_reasons * GROUP_THRESHOLD + 1)
        for moment in moments:
            within = [each for each in moments if moment <= each < moment + MINUTE]
            assert len(within) <= bound, f"{len(within)} {reason} of {namespace} in a minute"


@FEW
@given(changes=waves())
def test_at_most_ten_sets_of_a_namespace_have_an_event_of_their_own_for_a_reason(changes):
    replay = StormReplay(inference_sets(MANY, NAMESPACES[:2])).play(changes, rest=0)
    own = Counter(
        (key.subject.namespace, key.reason)
        for key, episode in replay.announcement_state.episodes.items()
        if key.subject.name and key.reason != READY
    )
    assert all(number <= GROUP_THRESHOLD for number in own.values()), own


@st.composite
def capacity_losses(draw):
    """
    Draw the loss of the spot nodes of all sets, then of capacity, then their recovery, in any order.
    """
    number = draw(st.integers(GROUP_THRESHOLD + 1, 20))
    subjects = inference_sets(number)
    order = draw(st.permutations(range(len(subjects))))
    # Less than the hold lies between the first and the last: 30 s of the pods, 15 s of the cause.
    pods = draw(st.floats(0.0, 29.0)) / len(subjects)
    cause_at, cause = draw(st.floats(0.0, 60.0)), draw(st.floats(0.0, 14.0)) / len(subjects)
    back_at, back = draw(st.floats(200.0, 400.0)), draw(st.floats(0.0, 200.0)) / len(subjects)
    loads = draw(st.floats(0.0, 300.0))
    changes = []
    for place, index in enumerate(order):
        (key,), (infra,) = (
            keys_of([subjects[index]], PODS),
            keys_of([subjects[index]], INFRA),
        )
        changes += [
            (round(pods * place), True, key),
            (round(29.0 + cause_at + cause * place), True, infra),
            (10 * round((back_at + back * place) / 10), False, infra),
            (10 * round((back_at + back * place + loads) / 10), False, key),
        ]
    return subjects, changes


@FEW
@given(loss=capacity_losses())
def test_a_loss_of_capacity_is_one_event_of_the_pods_one_of_the_cause_and_one_ready(loss):
    subjects, changes = loss
    replay = StormReplay(subjects).play(changes, rest=100)
    for namespace in NAMESPACES:
        assert replay.new_events[namespace, PODS] == 1
        assert replay.new_events[namespace, INFRA] == 1
        assert replay.new_events[namespace, READY] == 1
    number = len(subjects) // len(NAMESPACES)
    for record in replay.writes:
        assert f"Namespace {record.key.subject.namespace}: {number} InferenceSets" in (
            record.message
        ) or (record.count > 1)
