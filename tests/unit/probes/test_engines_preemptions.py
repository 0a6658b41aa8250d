"""Engines that preempt many of their requests."""

from reporter.model.verdicts import Active, Clear, Unknown
from tests.support.engines import a_page, verdict_of_pages


REASON = "inferencesetPreemptionStorm"


def verdict(preempted, finished, end=301, **changes):
    pages = [
        (at, a_page(running=1, preemptions=preempted(at), finished=finished(at)))
        for at in range(0, end, 15)
    ]
    return verdict_of_pages(REASON, {"qwen-7rk2p-0": pages}, **changes)


def test_every_third_request_is_a_storm():
    (trouble,) = verdict(lambda at: at / 3, lambda at: at).troubles
    assert trouble.message_fields["state"] == (
        "preempted requests 100 times while 300 requests finished"
    )


def test_a_tenth_is_none_unless_the_parameter_says_so():
    assert isinstance(verdict(lambda at: at / 10, lambda at: at), Clear)
    assert isinstance(verdict(lambda at: at / 10, lambda at: at, max_share=0.05), Active)


def test_a_few_requests_tell_nothing():
    assert isinstance(verdict(lambda at: at / 12, lambda at: at / 60), Clear)


def test_enough_preemptions_tell_it_although_nearly_nothing_finishes():
    (trouble,) = verdict(lambda at: 2 * at, lambda _: 0).troubles
    assert trouble.message_fields["state"] == (
        "preempted requests 600 times while 0 requests finished"
    )
    assert isinstance(verdict(lambda at: at / 12, lambda at: at / 60, min_preemptions=20), Active)


def test_a_storm_that_is_over_or_has_just_begun_is_none():
    assert isinstance(verdict(lambda at: min(at, 90), lambda at: at), Clear)
    assert isinstance(verdict(lambda at: max(at, 200), lambda at: at), Clear)


def test_before_the_window_is_full_it_is_unknown():
    assert isinstance(verdict(lambda at: at, lambda at: at, end=271), Unknown)


def test_without_the_counter_nothing_is_known():
    pages = [(0, a_page(running=1, finished=1))]
    assert isinstance(verdict_of_pages(REASON, {"qwen-7rk2p-0": pages}), Unknown)
