"""Model servers that fail requests."""

import pytest

from reporter.model.verdicts import Clear, Unknown
from tests.support.engines import a_page, a_sample, verdict_of_pages


REASON = "inferencesetRequestErrors"


def verdict(*pages, **changes):
    read = list(zip(range(0, 15 * len(pages), 15), pages, strict=True))
    return verdict_of_pages(REASON, {"qwen-7rk2p-0": read}, **changes)


WINDOW = 21
"""Pages that reach over the window of 5 min."""


def http(good: float, bad: float, handler: str = "/v1/completions"):
    return (
        a_sample("http", good, handler=handler, status="2xx"),
        a_sample("http", bad, handler=handler, status="5xx"),
    )


def finished(good: float, bad: float):
    return (
        a_sample("finished", good, engine="0", finished_reason="stop"),
        a_sample("finished", bad, engine="0", finished_reason="error"),
    )


@pytest.mark.parametrize(
    ("count", "place"), [(http, "pod qwen-7rk2p-0"), (finished, "engine 0 of pod qwen-7rk2p-0")]
)
def test_errors_of_the_server_and_of_the_engine_are_counted(count, place):
    (trouble,) = verdict(count(100, 0), count(118, 2)).troubles
    assert trouble.cause.code == "Failing"
    assert trouble.message_fields["place"] == place
    assert trouble.message_fields["state"] == "failed 2 of 20 requests"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (http(100, 0), http(118, 1)),  # of 19
        (http(100, 0), http(195, 5)),  # 5 %
        (http(100, 50), http(200, 50)),  # of earlier times
        (http(100, 0, "/health"), http(100, 90, "/health")),
    ],
)
def test_few_errors_are_well(before, after):
    assert isinstance(verdict(before, *[after] * WINDOW), Clear)
    assert isinstance(verdict(before, after), Unknown)


def test_errors_are_forgotten_after_the_window():
    later = [http(118, 2)] * 22
    assert isinstance(verdict(http(100, 0), *later), Clear)


def test_one_corrupted_result_is_enough():
    (trouble,) = verdict(a_page(finished=4, corrupted=0), a_page(finished=5, corrupted=1)).troubles
    assert trouble.cause.code == "Corrupted"


def test_the_thresholds_of_request_errors_are_parameters():
    assert verdict(http(0, 0), http(3, 2), min_requests=5).troubles
    later = [http(30, 9)] * WINDOW
    assert isinstance(verdict(http(0, 0), *later, max_share=0.5), Clear)


def test_a_page_without_results_is_unknown():
    assert isinstance(verdict(a_page(running=1)), Unknown)
