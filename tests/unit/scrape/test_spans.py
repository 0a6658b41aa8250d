"""The rows that the readers of one history need."""

import pytest

from reporter.scrape.spans import MAX_ROWS, Span, find_kept, join_spans


HOUR, MINUTES_5, MINUTES_2 = Span.of(3600), Span.of(300), Span.of(120, pages=4)


def kept_after(pages: int, every: float, *spans: Span) -> list[float]:
    """Return the times of the rows that are kept after so many pages."""
    times: list[float] = []
    for number in range(pages):
        times.append(number * every)
        times = [times[i] for i in find_kept(times, spans)]
    return times


def ages(times: list[float], within: float) -> list[float]:
    return [times[-1] - at for at in times if times[-1] - at <= within]


def test_spans_that_others_serve_are_left_out():
    coarse = Span(120, 15, 4)
    assert join_spans([coarse, MINUTES_5, MINUTES_5]) == (MINUTES_5._replace(pages=4),)
    assert join_spans([HOUR, MINUTES_5]) == (HOUR, MINUTES_5)


@pytest.mark.parametrize("every", [1, 5, 15, 60])
def test_a_reader_of_minutes_sees_the_same_beside_one_of_an_hour(every: float):
    alone, beside = kept_after(9000, every, MINUTES_5), kept_after(9000, every, HOUR, MINUTES_5)
    assert set(ages(alone, 300)) <= set(ages(beside, 300))
    assert beside[-1] - beside[0] >= 3600
    assert len(beside) <= 2 * (MAX_ROWS + 3)


def test_the_youngest_row_beyond_each_span_is_kept():
    times = kept_after(1000, 15, HOUR, MINUTES_5)
    assert min(times[-1] - at for at in times if times[-1] - at >= 300) == 300


def test_pages_that_are_counted_are_kept_however_far_apart_they_are():
    assert kept_after(9, 600, MINUTES_2) == [3000, 3600, 4200, 4800]


def test_more_pages_than_rows_can_be_counted():
    assert len(kept_after(500, 15, Span.of(450, pages=30))) >= 30
