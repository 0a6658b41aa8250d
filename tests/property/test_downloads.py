"""Properties of download states for any reported values and any intervals."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from reporter.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.model.enums import Layer, Reason
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active
from reporter.probes.probe import ProbeRequest
from reporter.resources.downloads import DownloadState
from reporter.scrape.samples import ScrapeHistory, add_scrape
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.downloads import CONTAINER_RUN, RULES, a_scrape_result, evaluate_download
from tests.support.loading_pods import MODEL, REASON, TEAM, a_loading_pod, a_loading_store
from tests.support.probe_verdicts import verdicts_of_request


ENTRY = DEFAULT_CATALOGUE[Reason("inferencesetWeightDownloadSlow")]

pauses = st.floats(min_value=0.5, max_value=30.0)
speeds = st.one_of(
    st.floats(min_value=0.0, max_value=19.9), st.floats(min_value=20.0, max_value=900.0)
)
remaining = st.sampled_from([-1.0, 0.0, 5.0, 9000.0])
measurements = st.lists(st.tuples(pauses, speeds, remaining), min_size=1, max_size=40)


def windows(measurements):
    """Return the history after each scrape."""
    at, window, found = 0.0, ScrapeHistory(CONTAINER_RUN), []
    for pause, speed, left in measurements:
        at += pause
        window = add_scrape(window, a_scrape_result(at, speed, left), retention=RULES.window)
        found.append((at, window))
    return found


@given(st.lists(pauses, min_size=1, max_size=40))
def test_a_slow_download_is_slow_in_each_full_window_and_in_no_other(gaps):
    times = windows([(gap, 3.0, 5.0) for gap in gaps])
    first = times[0][0]
    for at, window in times:
        full = window.scrapes[-1].scraped_at - window.scrapes[0].scraped_at >= RULES.window
        assert evaluate_download(window).state is (
            DownloadState.SLOW if full else DownloadState.SLOW_SO_FAR
        )
        assert full == (at - first >= RULES.window.total_seconds()) or abs(at - first - 60) < 1e-3


@given(measurements)
def test_nothing_is_slow_while_any_sample_of_the_window_is_fast_or_the_last(measurements):
    every = [
        (at, speed, left)
        for (at, _), (_, speed, left) in zip(windows(measurements), measurements, strict=True)
    ]
    for number, (at, window) in enumerate(windows(measurements)):
        recent = [
            speed >= 20 or left == 0
            for then, speed, left in every[: number + 1]
            if at - then < 59.9
        ]
        if any(recent):
            assert not evaluate_download(window).state.is_slow


@given(measurements)
def test_nothing_is_slow_before_the_first_byte(measurements):
    quiet = [(pause, 0.0, -1.0) for pause, _, _ in measurements]
    assert {evaluate_download(window).state for _, window in windows(quiet)} == {
        DownloadState.NOT_STARTED
    }


@given(measurements)
def test_a_history_keeps_the_window_and_little_more(measurements):
    for _, window in windows(measurements):
        newest = window.scrapes[-1].scraped_at
        old = [each for each in window.scrapes if each.scraped_at <= newest - RULES.window]
        assert len(old) <= 1
        assert len(window.scrapes) <= 122


@given(measurements, st.integers(min_value=1, max_value=1000))
def test_states_do_not_depend_on_the_date(measurements, days):
    shifted = [
        (pause + (days * 86400 if n == 0 else 0), v, r)
        for n, (pause, v, r) in enumerate(measurements)
    ]
    before = [evaluate_download(window).state for _, window in windows(measurements)]
    assert [evaluate_download(window).state for _, window in windows(shifted)] == before


@given(measurements)
def test_a_slow_download_has_times_and_speeds(measurements):
    for _, window in windows(measurements):
        found = evaluate_download(window)
        if found.state.is_slow:
            assert found.sampled_at is not None
            assert found.slow_since is not None
            assert found.sampled_at - found.slow_since >= RULES.window - timedelta(milliseconds=1)
            assert found.lowest_speed < RULES.slow_below


@given(st.lists(st.tuples(pauses, st.floats(), st.floats()), min_size=1, max_size=12))
def test_every_reported_value_can_be_formatted(measurements):
    pod = a_loading_pod()
    store = a_loading_store(pod)
    subject = Subject(Layer.MODELDEPLOYMENT, TEAM, MODEL)
    at = 0.0
    for pause, speed, left in [
        *measurements,
        *[(15.0, measurements[-1][1], measurements[-1][2])] * 6,
    ]:
        at += pause
        store.record_scrape(pod, REASON, a_scrape_result(at, speed, left))
        question = ProbeRequest(ENTRY.reason, subject, ENTRY.parameters, DEFAULT_FLAGS, NOON)
        (verdict,) = verdicts_of_request(question, store)
        if isinstance(verdict, Active):
            reported = tuple(
                ReportedTrouble(trouble, timedelta(0)) for trouble in verdict.troubles
            )
            assert "below 20 MB/s (worst " in render_message(
                MessageInput(ENTRY, subject, reported)
            )
