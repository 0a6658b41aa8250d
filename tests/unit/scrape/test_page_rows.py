"""The one number of each column and engine that is kept of a page."""

from math import isnan, nan

import pytest

from reporter.scrape.columns import Column, Combine
from reporter.scrape.page_rows import reduce_page
from reporter.scrape.samples import PageSamples, Sample


def reduced(column: Column, *samples: Sample) -> dict[str, float]:
    page = PageSamples.from_samples(samples)
    return {engine: row[0] for engine, row in reduce_page(page, (column,)).items()}


def a_sample(value: float, name: str = "n", **labels: str) -> Sample:
    return Sample(name, labels, value)


@pytest.mark.parametrize(
    ("combine", "expected"),
    [(Combine.COUNTER, 8), (Combine.GAUGE, 5), (Combine.SHARE, 5), (Combine.SUM, 8)],
)
def test_processes_count_together_and_report_the_same_gauge(combine, expected):
    samples = (a_sample(3, pid="57"), a_sample(5, pid="211"))
    assert reduced(Column(("n",), combine), *samples) == {"": expected}


def test_a_gauge_of_several_models_is_added_up():
    samples = (a_sample(3, model_name="a"), a_sample(5, model_name="b"))
    assert reduced(Column(("n",), Combine.GAUGE), *samples) == {"": 8}


def test_each_engine_has_a_row():
    samples = (a_sample(3, engine="0"), a_sample(5, engine="1"))
    assert reduced(Column(("n",), Combine.GAUGE), *samples) == {"0": 3, "1": 5}


@pytest.mark.parametrize(
    ("engine", "kept"),
    [
        ("decode-1.0_a", "decode-1.0_a"),
        ("1\n0 \u2028\x1b[31m", "1_0____31m"),
        ("http://x/?token=abc", "http___x__token_abc"),
        ("é{pod}", "__pod_"),
        ("9" * 8000, "9" * 32),
    ],
)
def test_the_name_of_an_engine_is_short_and_plain(engine, kept):
    assert reduced(Column(("n",), Combine.GAUGE), a_sample(3, engine=engine)) == {kept: 3}


def test_of_alternative_names_the_first_present_counts():
    column = Column(("new", "old"), Combine.SHARE)
    assert reduced(column, a_sample(0.5, "old")) == {"": 0.5}
    assert reduced(column, a_sample(0.5, "old"), a_sample(0.7, "new")) == {"": 0.7}


def test_of_a_histogram_the_count_is_read():
    samples = (a_sample(9, "n_bucket", le="1"), a_sample(70, "n_sum"), a_sample(12, "n_count"))
    assert reduced(Column(("n",), Combine.COUNTER), *samples) == {"": 12}


def test_series_that_are_left_out_count_as_zero():
    column = Column(
        ("n",), Combine.COUNTER, only=("status", ("5",)), among=("handler", frozenset({"/x"}))
    )
    good, bad = (a_sample(n, status=each, handler="/x") for n, each in ((7, "2xx"), (2, "500")))
    assert reduced(column, good) == {"": 0}
    assert reduced(column, good, bad, a_sample(4, status="5xx", handler="/y")) == {"": 2}


def test_a_family_that_is_missing_or_not_a_number_has_no_number():
    columns = (Column(("n",), Combine.GAUGE), Column(("absent",), Combine.GAUGE))
    ((number, absent),) = reduce_page(PageSamples.from_samples([a_sample(nan)]), columns).values()
    assert isnan(number)
    assert isnan(absent)
    assert reduced(columns[0], a_sample(nan, pid="1"), a_sample(4, pid="2")) == {"": 4}
