"""Engines whose queue grows."""

import pytest

from reporter.model.verdicts import Clear, Unknown
from tests.support.engines import a_page, begins, verdict_of_pages


REASON = "inferencesetQueueGrowing"


def verdict(waiting, running=4.0, end=316, steps=lambda at: at, **changes):
    pages = [(-15, a_page(running=0, waiting=0, steps=-15))]
    pages += [
        (at, a_page(running=running, waiting=waiting(at), steps=steps(at)))
        for at in range(0, end, 15)
    ]
    return verdict_of_pages(REASON, {"qwen-7rk2p-0": pages}, **changes)


def test_a_long_queue_that_does_not_fall_is_reported_with_the_replicas():
    (trouble,) = verdict(lambda at: 12 + at / 15).troubles
    fields = trouble.message_fields
    assert fields["state"] == "has had a long queue for 5m: 33 requests waiting, 4 running"
    assert fields["replicas"] == "it has 1 replica, and no annotation scales it"


@pytest.mark.parametrize(
    ("waiting", "running", "end"),
    [
        (lambda at: 900 - at, 4.0, 316),  # it falls
        (lambda _: 9, 0.0, 316),  # short
        (lambda _: 40, 21.0, 316),  # short beside what runs
        (lambda _: 40, 4.0, 300),  # not for as long as the window
    ],
)
def test_with_another_queue_nothing_begins(waiting, running, end):
    assert not begins(verdict(waiting, running, end))


@pytest.mark.parametrize(
    ("waiting", "running", "goes_on"),
    [
        (900, 4.0, True),  # it falls, and is long
        (320, 4.0, True),
        (319, 4.0, False),
        (336, 21.0, True),
        (335, 21.0, False),
    ],
)
def test_between_the_bounds_a_long_queue_goes_on(waiting, running, goes_on):
    found = verdict(lambda at: waiting - at, running)
    assert not begins(found)
    if not goes_on:
        assert isinstance(found, Clear)
    else:
        (trouble,) = found.troubles
        assert trouble.message_fields["state"].startswith("has had a long queue for 5m: ")


def test_between_the_bounds_a_queue_of_an_engine_that_stands_still_is_over():
    assert isinstance(verdict(lambda _: 6, steps=lambda at: min(at, 180)), Clear)
    assert isinstance(verdict(lambda _: 6, end=400, end_share=0.7), Clear)


def test_an_engine_whose_queue_grows_is_named_without_one_that_has_a_shorter_one():
    def pages():
        for at in range(-15, 316, 15):
            one = a_page(running=4, waiting=40 * (at >= 0), steps=at)
            other = a_page(running=4, waiting=6 * (at >= 0), steps=at, engine="1")
            yield at, (*one, *other)

    (trouble,) = verdict_of_pages(REASON, {"qwen-7rk2p-0": pages()}).troubles
    assert trouble.message_fields["place"] == "engine 0 of pod qwen-7rk2p-0"


@pytest.mark.parametrize(("begin", "end"), [(180, 400), (0, 150), (75, 210)])
def test_a_queue_of_an_engine_that_pauses_for_too_long_is_no_growing_one(begin, end):
    def steps(at):
        return begin if begin <= at < end else at

    assert not begins(verdict(lambda _: 40, steps=steps))


def test_a_pause_shorter_than_the_progress_window_is_work():
    def steps(at):
        return at if at < 75 else max(at, 150)

    assert begins(verdict(lambda _: 40, steps=steps))
    assert not begins(verdict(lambda _: 40, steps=steps, progress_window_seconds=60))


def test_without_a_counter_of_progress_nothing_is_known():
    pages = [(at, a_page(running=4, waiting=40)) for at in range(0, 400, 15)]
    assert isinstance(verdict_of_pages(REASON, {"qwen-7rk2p-0": pages}), Unknown)


def test_the_thresholds_of_a_queue_are_parameters():
    assert begins(verdict(lambda _: 9, min_waiting=5))
    assert not begins(verdict(lambda _: 10, min_ratio=3))
