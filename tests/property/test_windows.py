"""
Laws of the window, whatever a pod says and whenever it is asked.
"""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from reporter.model.samples import Window
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active
from reporter.model.words import Layer, Reason
from reporter.stages.probes.modeldeployment.weight_download import PROBE
from reporter.stages.probes.probe import Question
from reporter.stages.windows import Pace, taken
from reporter.stages.wording import Speech, Told, message
from tests.loading import MODEL, TEAM, a_loading_pod, a_loading_store
from tests.shipped import CATALOGUE, FLAGS
from tests.windows import LIFE, RULES, a_scrape, judged


ENTRY = CATALOGUE[Reason("inferencesetWeightDownloadSlow")]

pauses = st.floats(min_value=0.5, max_value=30.0)
speeds = st.one_of(
    st.floats(min_value=0.0, max_value=19.9), st.floats(min_value=20.0, max_value=900.0)
)
remaining = st.sampled_from([-1.0, 0.0, 5.0, 9000.0])
said = st.lists(st.tuples(pauses, speeds, remaining), min_size=1, max_size=40)


def windows(said):
    """
    The window after each scrape.
    """
    at, window, found = 0.0, Window(LIFE), []
    for pause, speed, left in said:
        at += pause
        window = taken(window, a_scrape(at, speed, left), keep=RULES.span)
        found.append((at, window))
    return found


@given(st.lists(pauses, min_size=1, max_size=40))
def test_a_slow_download_is_said_to_be_slow_in_each_full_window_and_in_no_other(gaps):
    times = windows([(gap, 3.0, 5.0) for gap in gaps])
    first = times[0][0]
    for at, window in times:
        full = window.scrapes[-1].at - window.scrapes[0].at >= RULES.span
        assert judged(window).pace is (Pace.SLOW if full else Pace.FILLING)
        assert full == (at - first >= RULES.span.total_seconds()) or abs(at - first - 60) < 1e-3


@given(said)
def test_nothing_is_slow_while_any_sample_of_the_window_is_fast_or_the_last(said):
    every = [
        (at, speed, left) for (at, _), (_, speed, left) in zip(windows(said), said, strict=True)
    ]
    for number, (at, window) in enumerate(windows(said)):
        recent = [
            speed >= 20 or left == 0
            for then, speed, left in every[: number + 1]
            if at - then < 59.9
        ]
        if any(recent):
            assert not judged(window).pace.slow


@given(said)
def test_nothing_is_slow_before_the_first_byte(said):
    quiet = [(pause, 0.0, -1.0) for pause, _, _ in said]
    assert {judged(window).pace for _, window in windows(quiet)} == {Pace.NOT_BEGUN}


@given(said)
def test_a_window_keeps_little_and_never_less_than_it_needs(said):
    for _, window in windows(said):
        newest = window.scrapes[-1].at
        old = [each for each in window.scrapes if each.at <= newest - RULES.span]
        assert len(old) <= 1
        assert len(window.scrapes) <= 122


@given(said, st.integers(min_value=1, max_value=1000))
def test_when_a_day_passes_the_same_is_said(said, days):
    shifted = [
        (pause + (days * 86400 if n == 0 else 0), v, r) for n, (pause, v, r) in enumerate(said)
    ]
    before = [judged(window).pace for _, window in windows(said)]
    assert [judged(window).pace for _, window in windows(shifted)] == before


@given(said)
def test_paces_are_told_without_a_doubt_or_not_at_all(said):
    for _, window in windows(said):
        found = judged(window)
        if found.pace.slow:
            assert found.at is not None
            assert found.since is not None
            assert found.at - found.since >= RULES.span - timedelta(milliseconds=1)
            assert found.worst < RULES.slow_below


@given(st.lists(st.tuples(pauses, st.floats(), st.floats()), min_size=1, max_size=12))
def test_whatever_a_pod_says_can_be_told(said):
    pod = a_loading_pod()
    store = a_loading_store(pod)
    subject = Subject(Layer.MODELDEPLOYMENT, TEAM, MODEL)
    at = 0.0
    for pause, speed, left in [*said, *[(15.0, said[-1][1], said[-1][2])] * 6]:
        at += pause
        store.sampled(pod, a_scrape(at, speed, left))
        question = Question(ENTRY.reason, subject, ENTRY.parameters, FLAGS)
        (verdict,) = PROBE.judge(store.view(), question)
        if isinstance(verdict, Active):
            told = tuple(Told(trouble, timedelta(0)) for trouble in verdict.troubles)
            assert "below 20 MB/s (worst " in message(Speech(ENTRY, subject, told))
